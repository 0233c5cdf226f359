/** The folder of the demo: what it was made for, so that a second start continues with it and nobody else's data is touched. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { missingAs, writeDurably } from "../../files/durable-file.ts";
import { Failure, failure, reasonOf } from "../failure.ts";
import { asRecord, asText, parseJson } from "../json.ts";

export interface DemoFolder {
  /** The day for which its history is made, such as 2026-11-29. */
  readonly day: string;
  /** How many events the log got; 0 until it has them all. */
  readonly events: number;
}

const MARK = "demo.json";

/** Makes the folder if it is missing. Throws a Failure if it is not the demo's own. */
export const openDemoFolder = (path: string, today: string): Promise<DemoFolder> =>
  openFolder(path, today).catch((error: unknown) => {
    if (error instanceof Failure) throw error;
    throw failure(
      "unreadable_file",
      `${path} cannot be used: ${reasonOf(error)}.`,
      "Name a folder that you may write: prooftrail demo --data-dir nordbank",
    );
  });

const openFolder = async (path: string, today: string): Promise<DemoFolder> => {
  const text = await readFile(join(path, MARK), "utf8").catch(missingAs(undefined));
  if (text !== undefined) return readMark(path, text);
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await readdir(path)).length > 0)
    throw failure(
      "wrong_use",
      `${path} holds something else than a demo.`,
      "Name a folder that does not exist yet: prooftrail demo --data-dir nordbank",
    );
  const made = { day: today, events: 0 };
  await markDemoFolder(path, made);
  return made;
};

export const markDemoFolder = (path: string, mark: DemoFolder): Promise<void> =>
  writeDurably(join(path, MARK), `${JSON.stringify(mark)}\n`);

const readMark = (path: string, text: string): DemoFolder => {
  const mark = asRecord(parseJson(text));
  const day = asText(mark?.day);
  if (day === undefined || Number.isNaN(Date.parse(`${day}T00:00:00Z`)))
    throw failure("wrong_use", `${join(path, MARK)} cannot be read.`, `Remove ${path} for a new demo.`);
  return { day, events: typeof mark?.events === "number" ? mark.events : 0 };
};
