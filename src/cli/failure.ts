/** The failures of commands. src/cli/program.ts prints them and ends with their exit code. */
import { EXIT, type ExitCode } from "./exit-codes.ts";

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

export interface FieldError {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

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
  wrong_use: { exitCode: EXIT.usage, title: "Wrong use" },
  unreadable_file: { exitCode: EXIT.usage, title: "A file cannot be used" },
  unreachable: { exitCode: EXIT.unavailable, title: "The service cannot be reached" },
  broker_unreachable: { exitCode: EXIT.unavailable, title: "The broker cannot be reached" },
  database_unreachable: { exitCode: EXIT.unavailable, title: "The database of the views cannot be reached" },
  no_key: { exitCode: EXIT.forbidden, title: "There is no API key" },
  unexpected_answer: { exitCode: EXIT.failed, title: "The answer is not one of Prooftrail" },
  broken_transfer: { exitCode: EXIT.unavailable, title: "The transfer broke off" },
  another_input: { exitCode: EXIT.usage, title: "The resume point is of another input" },
  unwritten_output: { exitCode: EXIT.failed, title: "The output could not be written" },
  gave_up: { exitCode: EXIT.unavailable, title: "Given up" },
  failed: { exitCode: EXIT.failed, title: "It failed" },
} as const;

export const failure = (code: keyof typeof OWN, detail: string, advice?: string): Failure => {
  const { exitCode, title } = OWN[code];
  return new Failure(exitCode, {
    type: `urn:prooftrail:cli:${code}`,
    title,
    detail,
    code,
    ...(advice !== undefined && { advice }),
  });
};

/** For use within a sentence: without the final full stop. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
