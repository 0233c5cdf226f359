#!/usr/bin/env node
/** `prooftrail verify`: reads a bundle from disk, says whether it is valid, and names what is broken. Becomes one file without dependencies (`bun run build:verifier`). */
import { open, readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Verdict } from "../proof/evidence/verdict.ts";
import { verifyEvidence } from "../proof/evidence/verify.ts";
import type { BundleSource } from "../proof/evidence/zip-reader.ts";
import { HELP, reportText } from "./report.ts";

const EXIT_CODES = { valid: 0, invalid: 1, undecided: 2 } as const;
const UNUSABLE = 2;

const OPTIONS = {
  key: { type: "string" },
  tenant: { type: "string" },
  checkpoint: { type: "string" },
  consistency: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** What was asked cannot be begun; the message is for the person who asked. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

const readArguments = () => {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const readText = async (path: string | undefined): Promise<string | undefined> => {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const openBundle = async (path: string): Promise<BundleSource & AsyncDisposable> => {
  try {
    const file = await open(path, "r");
    const { size } = await file.stat();
    return {
      size,
      read: async (from, to) => {
        const bytes = new Uint8Array(Math.max(0, to - from));
        for (let read = 0; read < bytes.length; ) {
          const { bytesRead } = await file.read(bytes, read, bytes.length - read, from + read);
          if (bytesRead === 0) throw new UsageError(`${path} became shorter while it was read`);
          read += bytesRead;
        }
        return bytes;
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
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
  const question = {
    keys: await readText(values.key),
    tenant: values.tenant,
    checkpoint: await readText(values.checkpoint),
    consistency: await readText(values.consistency),
  };
  const bundle = await openBundle(path);
  let verdict: Verdict;
  try {
    verdict = await verifyEvidence({ ...question, bundle });
  } finally {
    await bundle[Symbol.asyncDispose]();
  }
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
