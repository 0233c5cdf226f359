#!/usr/bin/env node
/** `prooftrail-verify`: `prooftrail verify` alone, as one file without dependencies (`bun run build:verifier`). */
import { parseArgs } from "node:util";
import { messageOf, stackOf } from "../../runtime/error-text.ts";
import { printable, printableJson, printableLines } from "../../runtime/printable.ts";
import { HELP, reportJson, reportText } from "./report.ts";
import { EXIT_CODES, UnreadableFileError, verifyFile } from "./verify-file.ts";

const UNUSABLE = 2;

/** Why there is no verdict; `code` is that of `prooftrail`. */
class FailureError extends Error {
  override readonly name = "FailureError";
  readonly code: "wrong_use" | "unwritten_output";
  constructor(code: FailureError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Reads every value, so that one given twice is reported, not ignored. */
const FILE_OR_NAME = { type: "string", multiple: true } as const;

const OPTIONS = {
  key: FILE_OR_NAME,
  tenant: FILE_OR_NAME,
  checkpoint: FILE_OR_NAME,
  consistency: FILE_OR_NAME,
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const readArguments = () => {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new FailureError("wrong_use", messageOf(error));
  }
};

const only = (option: string, values: readonly string[] = []): string | undefined => {
  if (values.length > 1) throw new FailureError("wrong_use", `--${option} may be given only once.`);
  return values[0];
};

/** A closed pipe is no failure, and the verdict stands. */
const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The error is handled below as well; without a listener it would end the program with 1, as if the bundle were invalid.
    process.stdout.on("error", () => {});
    process.stdout.write(text, (error) => {
      if (!error || ("code" in error && error.code === "EPIPE")) resolve();
      else reject(new FailureError("unwritten_output", `The output could not be written: ${error.message}.`));
    });
  });

const run = async (): Promise<number> => {
  const { values, positionals } = readArguments();
  if (values.help) {
    await write(HELP);
    return EXIT_CODES.valid;
  }
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new FailureError("wrong_use", "Name one bundle.");
  const verdict = await verifyFile({
    bundle: path,
    keys: only("key", values.key),
    tenant: only("tenant", values.tenant),
    checkpoint: only("checkpoint", values.checkpoint),
    consistency: only("consistency", values.consistency),
  });
  await write(values.json ? `${shownOn(process.stdout, reportJson(verdict))}\n` : reportText(path, verdict));
  return EXIT_CODES[verdict.kind];
};

/** On a terminal, nothing in the text may control it. */
const shownOn = (stream: NodeJS.WriteStream, json: string): string =>
  stream.isTTY ? printableJson(json) : json;

const TITLES = {
  wrong_use: "Wrong use",
  unreadable_file: "A file cannot be used",
  unwritten_output: "The output could not be written",
  failed: "It failed",
} as const;

const codeOf = (error: unknown): keyof typeof TITLES => {
  if (error instanceof FailureError) return error.code;
  return error instanceof UnreadableFileError ? "unreadable_file" : "failed";
};

/** As JSON in the form in which `prooftrail` reports failures (RFC 9457). */
const complaintOf = (error: unknown, isJson: boolean): string => {
  const code = codeOf(error);
  const detail = messageOf(error);
  const problem = { type: `urn:prooftrail:cli:${code}`, title: TITLES[code], detail, code };
  if (isJson) return shownOn(process.stderr, JSON.stringify(problem));
  if (code === "failed") return printableLines(stackOf(error));
  return code === "unwritten_output" ? detail : `${printable(detail)}\n\n${HELP.trimEnd()}`;
};

try {
  process.exitCode = await run();
} catch (error) {
  process.exitCode = UNUSABLE;
  // Also if the arguments cannot be read.
  process.stderr.write(`${complaintOf(error, process.argv.includes("--json"))}\n`);
}
