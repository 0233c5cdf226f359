/** The progress of an import in a file: written after each confirmed batch, completely and fsynced, so that the next run continues there. */
import { readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { missingAs, syncFolderIfReadable, writeDurably } from "../../runtime/durable-file.ts";
import { failure, reasonOf } from "../failure.ts";
import { asRecord, asText, parseJson } from "../json.ts";
import type { Place } from "./read-batches.ts";

export interface ResumePoint extends Place {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** The service to which they were sent. */
  readonly url: string;
}

const FORMAT = "prooftrail-send-2";

/** Undefined if there is no such file. Throws a Failure if it is something else. */
export const readResumePoint = async (path: string): Promise<ResumePoint | undefined> => {
  const text = await readFile(path, "utf8")
    .catch(missingAs(undefined))
    .catch((error: unknown) => {
      throw failure("unreadable_file", `${path} cannot be read: ${reasonOf(error)}.`);
    });
  if (text === undefined) return undefined;
  const record = asRecord(parseJson(text)) ?? {};
  const [url, sha256] = [asText(record.url), asText(record.sha256)];
  const counts = [record.line, record.accepted, record.duplicates, record.rejected].filter(isCount);
  const [line, accepted, duplicates, rejected] = counts;
  const isWhole = record.format === FORMAT && url !== undefined && sha256 !== undefined;
  if (
    !isWhole ||
    line === undefined ||
    accepted === undefined ||
    duplicates === undefined ||
    rejected === undefined
  )
    throw failure(
      "unreadable_file",
      `${path} is there, and is no resume point.`,
      "Name another file with --resume.",
    );
  return { line, sha256, accepted, duplicates, rejected, url };
};

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

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
