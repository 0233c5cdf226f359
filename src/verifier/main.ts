#!/usr/bin/env node
/** `prooftrail-verify`: `prooftrail verify` alone, as one file without dependencies (`bun run build:verifier`). */
import { parseArgs } from "node:util";
import { printable } from "./printable.ts";
import { HELP, reportText } from "./report.ts";
import { EXIT_CODES, UsageError, verifyFile } from "./verify-file.ts";

const UNUSABLE = 2;

const OPTIONS = {
  key: { type: "string" },
  tenant: { type: "string" },
  checkpoint: { type: "string" },
  consistency: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const readArguments = () => {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

class UnwrittenError extends Error {
  override readonly name = "UnwrittenError";
}

/** A reader that has gone is no fault, and the verdict stands. Throws UnwrittenError. */
const tell = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // Told below as well; without a listener it would end the program with 1, as if the bundle were invalid.
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
  if (path === undefined || more.length > 0) throw new UsageError("Name one bundle.");
  const { key: keys, tenant, checkpoint, consistency } = values;
  const verdict = await verifyFile({ bundle: path, keys, tenant, checkpoint, consistency });
  await tell(values.json ? `${JSON.stringify(verdict)}\n` : reportText(path, verdict));
  return EXIT_CODES[verdict.kind];
};

const complaintOf = (error: unknown): string => {
  if (error instanceof UsageError) return `${printable(error.message)}\n\n${HELP.trimEnd()}`;
  if (error instanceof UnwrittenError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

try {
  process.exitCode = await run();
} catch (error) {
  process.exitCode = UNUSABLE;
  process.stderr.write(`${complaintOf(error)}\n`);
}
