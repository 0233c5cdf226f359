/** The progress of an import in a file: written after each confirmed batch, completely and fsynced, so that the next run continues there. */
import { createHash } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { missingAs, syncFolderIfReadable, writeDurably } from "../../files/durable-file.ts";
import { failure, reasonOf } from "../failure.ts";
import { asRecord, asText, parseJson } from "../json.ts";
import { RESUME_FINGERPRINT_BYTES } from "../limits.ts";

export interface ResumePoint {
  /** Bytes and lines of the input that are finished. */
  readonly offset: number;
  readonly line: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** The service to which they were sent. */
  readonly url: string;
  /** How the input begins: a number of its first bytes, and their hash. */
  readonly head: { readonly bytes: number; readonly sha256: string };
}

const FORMAT = "prooftrail-send-1";

/** Undefined if there is no such file. Throws a Failure if it is something else. */
export const readResumePoint = async (path: string): Promise<ResumePoint | undefined> => {
  const text = await readFile(path, "utf8")
    .catch(missingAs(undefined))
    .catch((error: unknown) => {
      throw failure("unreadable_file", `${path} cannot be read: ${reasonOf(error)}.`);
    });
  if (text === undefined) return undefined;
  const point = asResumePoint(parseJson(text));
  if (point) return point;
  throw failure(
    "unreadable_file",
    `${path} is there, and is no resume point.`,
    "Name another file with --resume.",
  );
};

const asResumePoint = (value: unknown): ResumePoint | undefined => {
  const record = asRecord(value);
  const head = asRecord(record?.head);
  const [url, sha256] = [asText(record?.url), asText(head?.sha256)];
  const [offset, line, bytes] = [record?.offset, record?.line, head?.bytes].map(asCount);
  const [accepted, duplicates, rejected] = [record?.accepted, record?.duplicates, record?.rejected].map(
    asCount,
  );
  if (record?.format !== FORMAT || url === undefined || sha256 === undefined) return undefined;
  if (offset === undefined || line === undefined || bytes === undefined) return undefined;
  if (accepted === undefined || duplicates === undefined || rejected === undefined) return undefined;
  return { offset, line, accepted, duplicates, rejected, url, head: { bytes, sha256 } };
};

const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** After a power failure either the old or the new point is there. */
export const writeResumePoint = async (path: string, point: ResumePoint): Promise<void> => {
  // Always the same name: the next run overwrites what a killed run left here.
  const unfinished = `${path}.new`;
  try {
    await writeDurably(unfinished, `${JSON.stringify({ format: FORMAT, ...point })}\n`);
    await rename(unfinished, path);
    await syncFolderIfReadable(dirname(path));
  } catch (error) {
    throw failure("unreadable_file", `The resume point ${path} cannot be written: ${reasonOf(error)}.`);
  }
};

/** Hashes the first bytes of the input, at most as many as are finished. */
export const headOf = (first: Uint8Array, offset: number): ResumePoint["head"] => {
  const bytes = Math.min(first.length, offset, RESUME_FINGERPRINT_BYTES);
  return { bytes, sha256: createHash("sha256").update(first.subarray(0, bytes)).digest("hex") };
};
