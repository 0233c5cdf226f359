#!/usr/bin/env node
/** `prooftrail-verify`: `prooftrail verify` alone, as one file without dependencies (`bun run build:verifier`). */
import { parseArgs } from "node:util";
import { printable, printableJson, printableLines } from "../../runtime/printable.ts";
import { HELP, reportJson, reportText } from "./report.ts";
import { EXIT_CODES, UnreadableFileError, verifyFile } from "./verify-file.ts";

const UNUSABLE = 2;

/** All arguments are read, so that none is ignored if one is given twice. */
const FILE_OR_NAME = { type: "string", multiple: true } as const;

const OPTIONS = {
  key: FILE_OR_NAME,
  tenant: FILE_OR_NAME,
  checkpoint: FILE_OR_NAME,
  consistency: FILE_OR_NAME,
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

class WrongUseError extends Error {
  override readonly name = "WrongUseError";
}

const readArguments = () => {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new WrongUseError(error instanceof Error ? error.message : String(error));
  }
};

const only = (option: string, values: readonly string[] = []): string | undefined => {
  if (values.length > 1) throw new WrongUseError(`--${option} stands twice: give it once.`);
  return values[0];
};

class UnwrittenError extends Error {
  override readonly name = "UnwrittenError";
}

/** A reader that has gone away is no failure, and the verdict stands. Throws UnwrittenError. */
const tell = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The error is handled below as well; without a listener it would end the program with 1, as if the bundle were invalid.
    process.stdout.on("error", () => {});
    process.stdout.write(text, (error) => {
      if (!error || ("code" in error && error.code === "EPIPE")) resolve();
      else reject(new UnwrittenError(`The output could not be written: ${error.message}.`));
    });
  });

const run = async (): Promise<number> => {
  const { values, positionals } = readArguments();
  if (values.help) {
    await tell(HELP);
    return EXIT_CODES.valid;
  }
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new WrongUseError("Name one bundle.");
  const verdict = await verifyFile({
    bundle: path,
    keys: only("key", values.key),
    tenant: only("tenant", values.tenant),
    checkpoint: only("checkpoint", values.checkpoint),
    consistency: only("consistency", values.consistency),
  });
  await tell(values.json ? `${shownOn(process.stdout, reportJson(verdict))}\n` : reportText(path, verdict));
  return EXIT_CODES[verdict.kind];
};

/** On a terminal, nothing in the text may control it. */
const shownOn = (stream: NodeJS.WriteStream, json: string): string =>
  stream.isTTY ? printableJson(json) : json;

/** For programs, in the form in which `prooftrail` reports failures (RFC 9457). */
const documentOf = (error: unknown): object => {
  const [code, title] = kindOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  return { type: `urn:prooftrail:cli:${code}`, title, detail, code };
};

const kindOf = (error: unknown): readonly [code: string, title: string] => {
  if (error instanceof WrongUseError) return ["wrong_use", "Wrong use"];
  if (error instanceof UnreadableFileError) return ["unreadable_file", "A file cannot be used"];
  if (error instanceof UnwrittenError) return ["unwritten_output", "The output could not be written"];
  return ["failed", "It failed"];
};

const complaintOf = (error: unknown): string => {
  if (error instanceof WrongUseError || error instanceof UnreadableFileError)
    return `${printable(error.message)}\n\n${HELP.trimEnd()}`;
  if (error instanceof UnwrittenError) return error.message;
  return printableLines(error instanceof Error ? (error.stack ?? error.message) : String(error));
};

try {
  process.exitCode = await run();
} catch (error) {
  process.exitCode = UNUSABLE;
  // Also if the arguments cannot be read.
  const isJson = process.argv.includes("--json");
  const told = isJson ? shownOn(process.stderr, JSON.stringify(documentOf(error))) : complaintOf(error);
  process.stderr.write(`${told}\n`);
}
