#!/usr/bin/env node
/** `prooftrail-verify`: `prooftrail verify` alone, as one file without dependencies (`bun run build:verifier`). */
import { parseArgs } from "node:util";
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

const run = async (): Promise<number> => {
  const { values, positionals } = readArguments();
  if (values.help) {
    process.stdout.write(HELP);
    return EXIT_CODES.valid;
  }
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError("Name one bundle.");
  const { key: keys, tenant, checkpoint, consistency } = values;
  const verdict = await verifyFile({ bundle: path, keys, tenant, checkpoint, consistency });
  process.stdout.write(values.json ? `${JSON.stringify(verdict)}\n` : reportText(path, verdict));
  return EXIT_CODES[verdict.kind];
};

try {
  process.exitCode = await run();
} catch (error) {
  process.exitCode = UNUSABLE;
  const isUsage = error instanceof UsageError;
  process.stderr.write(
    isUsage ? `${error.message}\n\n${HELP}` : `${error instanceof Error ? error.stack : String(error)}\n`,
  );
}
