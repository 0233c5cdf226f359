/** The failures of commands. src/cli/program.ts prints them and ends with their exit code. */
import { messageOf } from "../runtime/error-text.ts";
import type { Rejection } from "../sdk/service.ts";

/** The exit codes of `prooftrail`: one table for the code, the help and docs/reference/command-line.md. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unavailable: 3, forbidden: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, "done, and the answer is yes"],
  [EXIT.failed, "the answer is no, or something failed"],
  [EXIT.usage, "wrong use: a command, option or value that is not understood"],
  [EXIT.unavailable, "the service cannot be reached or cannot answer now; try again"],
  [EXIT.forbidden, "not allowed: no key, not a valid one, or one without the scope"],
  [EXIT.interrupted, "stopped by Ctrl-C before it was done"],
];

/** RFC 9457 problem details: the API's own, or of the same form. */
export interface FailureDocument {
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  readonly status?: number;
  readonly request_id?: string;
  readonly errors?: readonly FieldError[];
  readonly advice?: string;
}

export type FieldError = Rejection["errors"][number];

export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: ExitCode;
  readonly document: FailureDocument;
  /** How long the service asks to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;
  constructor(exitCode: ExitCode, document: FailureDocument, retryAfterMs?: number) {
    super(`${document.title}: ${document.detail}`);
    this.exitCode = exitCode;
    this.document = document;
    this.retryAfterMs = retryAfterMs;
  }
}

export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

const OWN = {
  wrong_use: [EXIT.usage, "Wrong use"],
  unreadable_file: [EXIT.usage, "A file cannot be used"],
  unreachable: [EXIT.unavailable, "The service cannot be reached"],
  broker_unreachable: [EXIT.unavailable, "The broker cannot be reached"],
  database_unreachable: [EXIT.unavailable, "The database of the views cannot be reached"],
  no_key: [EXIT.forbidden, "There is no API key"],
  unexpected_answer: [EXIT.failed, "The answer is not from Prooftrail"],
  broken_transfer: [EXIT.unavailable, "The transfer broke off"],
  another_input: [EXIT.usage, "The resume point belongs to another input"],
  unwritten_output: [EXIT.failed, "The output could not be written"],
  gave_up: [EXIT.unavailable, "Gave up"],
  failed: [EXIT.failed, "The command failed"],
} as const;

export const failure = (code: keyof typeof OWN, detail: string, advice?: string): Failure => {
  const [exitCode, title] = OWN[code];
  const type = `urn:prooftrail:cli:${code}`;
  return new Failure(exitCode, { type, title, detail, code, ...(advice !== undefined && { advice }) });
};

/** For use within a sentence: without the final full stop. */
export const reasonOf = (error: unknown): string => messageOf(error).replace(/\.$/, "");
