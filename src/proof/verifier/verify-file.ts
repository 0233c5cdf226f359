/** Reads a bundle, or the proof of an event, from disk, and the files to compare it with. */
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../runtime/error-text.ts";
import type { BundleFiles } from "../evidence/bundle-files.ts";
import { BUNDLE_FILES } from "../evidence/manifest.ts";
import type { Verdict } from "../evidence/verdict.ts";
import { verifyEvidence } from "../evidence/verify.ts";
import { isProof, type ProofVerdict, verifyProof } from "../evidence/verify-proof.ts";
import { type BundleSource, openZip } from "../evidence/zip-reader.ts";

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

/** A proof contains one record, of at most a megabyte, in base64. */
const PROOF_BYTES_MAX = 4 * 1024 * 1024;

/** Throws UnreadableFileError. */
export const verifyFile = async (question: VerifyQuestion): Promise<Verdict | ProofVerdict> => {
  const { bundle: path, tenant } = question;
  const text = async (file: string | undefined) =>
    file === undefined ? undefined : await readable(file, readFile(file, "utf8"));
  const keys = await text(question.keys);
  const checkpoint = await text(question.checkpoint);
  const consistency = await text(question.consistency);
  const held = { keys, tenant, checkpoint, consistency };
  const found = await readable(path, stat(path));
  if (found.isDirectory()) return verifyEvidence({ ...held, bundle: await openFolder(path) });
  if (found.isFile() && found.size <= PROOF_BYTES_MAX) {
    const proof = (await text(path)) ?? "";
    if (isProof(proof))
      return (checkpoint ?? consistency) === undefined
        ? verifyProof({ proof, keys, tenant })
        : { kind: "undecided", detail: COMPARED };
  }
  await using source = await openFile(path);
  const opened = await openZip(source);
  return opened.kind === "opened" ? await verifyEvidence({ ...held, bundle: opened.files }) : opened;
};

const COMPARED = "A checkpoint is compared with a bundle, not with the proof of an event.";

const readable = async <Result>(path: string, work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (error) {
    throw new UnreadableFileError(`${path} cannot be read: ${messageOf(error)}`);
  }
};

/** The folder is its owner's: other files in it, such as the key, do not make the bundle invalid. */
const openFolder = async (folder: string): Promise<BundleFiles> => {
  const isOfBundle = (name: string): boolean => BUNDLE_FILES.some((file) => file === name);
  const names = await readable(folder, readdir(folder));
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
  // A pipe would block when it is opened.
  if (!(await readable(path, stat(path))).isFile())
    throw new UnreadableFileError(`${path} cannot be read: it is not a regular file; save the bundle first`);
  const file = await readable(path, open(path, "r"));
  const { size } = await file.stat();
  return {
    size,
    read: async (from, to) => {
      const bytes = new Uint8Array(Math.max(0, to - from));
      for (let read = 0; read < bytes.length; ) {
        const { bytesRead } = await readable(path, file.read(bytes, read, bytes.length - read, from + read));
        if (bytesRead === 0) throw new UnreadableFileError(`${path} shrank while it was read`);
        read += bytesRead;
      }
      return bytes;
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
};
