/** The two files that an import keeps: events that will never be accepted, and how far it is. */
import { open, readFile, stat } from "node:fs/promises";
import { missingAs, replaceDurably } from "../../runtime/durable-file.ts";
import { printable } from "../../runtime/printable.ts";
import type { Input } from "../command.ts";
import type { Context } from "../context.ts";
import { failure, reasonOf } from "../failure.ts";
import { asRecord, asText, parseJson } from "../json.ts";
import type { Rejection } from "./batch-sender.ts";
import type { Place } from "./input.ts";

export interface Rejections extends AsyncDisposable {
  /** When it resolves, the rejection is on disk, if it goes to a file. */
  add(rejections: readonly Rejection[]): Promise<void>;
}

/** A file of NDJSON with --rejected, else standard error. No refusal is silent. */
export const openRejections = async (input: Input, { err }: Context): Promise<Rejections> => {
  const path = input.text("--rejected");
  if (path === undefined) {
    const textOf = input.isSet("--json") ? rejectionLine : rejectionText;
    return {
      add: (rejections) => err.write(rejections.map(textOf).join("")),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const cannot = (error: unknown): never => {
    throw failure("unreadable_file", `${path} cannot be written: ${reasonOf(error)}.`);
  };
  const isCutOff = await endsWithinLine(path).catch(cannot);
  // Opened for appending: refused events of an earlier run stay in it.
  const file = await open(path, "a", 0o600).catch(cannot);
  if (isCutOff) await file.writeFile("\n").catch(cannot);
  return {
    add: async (rejections) => {
      if (rejections.length === 0) return;
      await file.writeFile(rejections.map(rejectionLine).join("")).catch(cannot);
      await file.sync().catch(cannot);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
};

/** If a killed run left an incomplete last line, only that line is lost. A pipe or a terminal cannot be checked. */
const endsWithinLine = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(missingAs(undefined));
  if (!found?.isFile() || found.size === 0) return false;
  await using file = await open(path, "r");
  const { buffer } = await file.read(new Uint8Array(1), 0, 1, found.size - 1);
  return buffer[0] !== 0x0a;
};

/** The event as it was sent, including numbers that no double can hold. */
const rejectionLine = ({ text, ...rest }: Rejection): string =>
  `${JSON.stringify(rest).slice(0, -1)}${text === undefined ? "" : `,"event":${text.trim()}`}}\n`;

const rejectionText = ({ line, event_id, code, message, errors }: Rejection): string => {
  const name = event_id === undefined ? "" : ` (${printable(event_id)})`;
  const fields = errors.map(({ path, message: what }) => `  ${printable(path)}: ${printable(what)}\n`);
  return `line ${line}${name}: ${printable(message)} (${printable(code)})\n${fields.join("")}`;
};

const COUNTS = ["line", "accepted", "duplicates", "rejected"] as const;

export type ResumePoint = Place &
  Readonly<Record<(typeof COUNTS)[number], number>> & { readonly url: string };

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
  const [line = -1, accepted = -1, duplicates = -1, rejected = -1] = COUNTS.map((name) =>
    Number(record[name]),
  );
  const [url, sha256] = [asText(record.url), asText(record.sha256)];
  const areCounts = [line, accepted, duplicates, rejected].every(
    (each) => Number.isSafeInteger(each) && each >= 0,
  );
  if (areCounts && record.format === FORMAT && url !== undefined && sha256 !== undefined)
    return { line, accepted, duplicates, rejected, url, sha256 };
  throw failure(
    "unreadable_file",
    `${path} exists, and is not a resume point.`,
    "Name another file with --resume.",
  );
};

/** Written after each confirmed batch: after a power failure either the old or the new point is there. */
export const writeResumePoint = async (path: string, point: ResumePoint): Promise<void> => {
  try {
    await replaceDurably(path, `${JSON.stringify({ format: FORMAT, ...point })}\n`);
  } catch (error) {
    throw failure("unreadable_file", `The resume point ${path} cannot be written: ${reasonOf(error)}.`);
  }
};
