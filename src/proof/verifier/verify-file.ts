/** Reads a bundle, or the proof of an event, from disk, and the files to compare it with. */
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BundleFiles } from "../evidence/bundle-files.ts";
import { BUNDLE_FILES } from "../evidence/manifest.ts";
import type { Verdict } from "../evidence/verdict.ts";
import { verifyEvidence } from "../evidence/verify.ts";
import { isProof, type ProofVerdict, verifyProof } from "../evidence/verify-proof.ts";
import { type BundleSource, type OpenedZip, openZip } from "../evidence/zip-reader.ts";

/** A named file cannot be read; the message is for the person who named it. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
}

export interface VerifyQuestion {
  /** The path of a ZIP, of a folder with its files, or of the proof of one event. The other paths are of files. */
  readonly bundle: string;
  readonly keys: string | undefined;
  readonly checkpoint: string | undefined;
  readonly consistency: string | undefined;
  /** The tenant to whom the bundle must belong. */
  readonly tenant: string | undefined;
}

export const EXIT_CODES = { valid: 0, invalid: 1, undecided: 2 } as const;

/** Throws UnreadableFileError. */
export const verifyFile = async (question: VerifyQuestion): Promise<Verdict | ProofVerdict> => {
  const held = {
    keys: await readText(question.keys),
    tenant: question.tenant,
    checkpoint: await readText(question.checkpoint),
    consistency: await readText(question.consistency),
  };
  const proof = await proofAt(question.bundle);
  if (proof !== undefined) {
    const compared = held.checkpoint ?? held.consistency;
    return compared === undefined
      ? verifyProof({ proof, keys: held.keys, tenant: held.tenant })
      : {
          kind: "undecided",
          detail: "A checkpoint is compared with a bundle, not with the proof of an event.",
        };
  }
  await using bundle = await openBundle(question.bundle);
  return bundle.kind === "opened"
    ? await verifyEvidence({ ...held, bundle: bundle.files })
    : { kind: "undecided", detail: bundle.detail };
};

/** The text of a file that is the proof of an event; undefined if it is none. */
const proofAt = async (path: string): Promise<string | undefined> => {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.size > PROOF_BYTES_MAX) return undefined;
  const text = await readText(path);
  return text !== undefined && isProof(text) ? text : undefined;
};

/** A proof contains one record, of at most a megabyte, in base64. */
const PROOF_BYTES_MAX = 4 * 1024 * 1024;

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

/** A ZIP, or the folder into which it was unpacked. */
const openBundle = async (path: string): Promise<OpenedZip & AsyncDisposable> => {
  try {
    if ((await stat(path)).isDirectory())
      return { kind: "opened", files: await openFolder(path), [Symbol.asyncDispose]: async () => {} };
    const source = await openFile(path);
    return { ...(await openZip(source)), [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() };
  } catch (error) {
    throw error instanceof UnreadableFileError ? error : unreadable(path, error);
  }
};

/** The folder is its owner's: other files in it, such as the key, do not make the bundle invalid. */
const openFolder = async (folder: string): Promise<BundleFiles> => {
  const isOfBundle = (name: string): boolean => BUNDLE_FILES.some((file) => file === name);
  const names = await readdir(folder);
  return {
    names: names.filter(isOfBundle),
    besides: names.filter((name) => !isOfBundle(name)).sort(),
    chunks: async function* (name) {
      await using file = await openFile(join(folder, name));
      for (let place = 0; place < file.size; place += CHUNK_BYTES)
        yield await file.read(place, Math.min(file.size, place + CHUNK_BYTES));
    },
  };
};

const CHUNK_BYTES = 256 * 1024;

const openFile = async (path: string): Promise<BundleSource & AsyncDisposable> => {
  try {
    // A pipe would block when it is opened.
    if (!(await stat(path)).isFile())
      throw new Error("it is no file with a beginning and an end; save the bundle first");
    const file = await open(path, "r");
    const { size } = await file.stat();
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
