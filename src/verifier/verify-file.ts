/** Reads a bundle from disk, and the files to compare it with. */
import { open, readFile } from "node:fs/promises";
import type { Verdict } from "../proof/evidence/verdict.ts";
import { verifyEvidence } from "../proof/evidence/verify.ts";
import type { BundleSource } from "../proof/evidence/zip-reader.ts";

/** A named file cannot be read; the message is for the person who named it. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
}

export interface VerifyQuestion {
  /** Paths of files. */
  readonly bundle: string;
  readonly keys: string | undefined;
  readonly checkpoint: string | undefined;
  readonly consistency: string | undefined;
  /** The tenant to whom the bundle must belong. */
  readonly tenant: string | undefined;
}

export const EXIT_CODES = { valid: 0, invalid: 1, undecided: 2 } as const;

/** Throws UnreadableFileError. */
export const verifyFile = async (question: VerifyQuestion): Promise<Verdict> => {
  const held = {
    keys: await readText(question.keys),
    tenant: question.tenant,
    checkpoint: await readText(question.checkpoint),
    consistency: await readText(question.consistency),
  };
  const bundle = await openBundle(question.bundle);
  try {
    return await verifyEvidence({ ...held, bundle });
  } finally {
    await bundle[Symbol.asyncDispose]();
  }
};

const readText = async (path: string | undefined): Promise<string | undefined> => {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
};

const unreadable = (path: string, error: unknown): UnreadableFileError =>
  new UnreadableFileError(
    `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
  );

const openBundle = async (path: string): Promise<BundleSource & AsyncDisposable> => {
  try {
    const file = await open(path, "r");
    const stat = await file.stat();
    const { size } = stat;
    if (!stat.isFile()) {
      await file.close();
      throw new Error("it is no file with a beginning and an end; save the bundle first");
    }
    return {
      size,
      read: async (from, to) => {
        const bytes = new Uint8Array(Math.max(0, to - from));
        for (let read = 0; read < bytes.length; ) {
          const { bytesRead } = await file
            .read(bytes, read, bytes.length - read, from + read)
            .catch((error: unknown) => {
              throw unreadable(path, error);
            });
          if (bytesRead === 0) throw new UnreadableFileError(`${path} became shorter while it was read`);
          read += bytesRead;
        }
        return bytes;
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    throw unreadable(path, error);
  }
};
