/**
 * The folder HEADS_COPY: what is known of the log outside it. Each group of heads is a new file, written once and never renamed or appended to,
 * so that a mount of object storage will do. Several processes may write to it, and read each other's files. A file that is damaged may hide that
 * the log lost its end, so nothing is read then.
 */
import { hash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CheckpointStore, KnownEnd, KnownHead, KnownHeads } from "../proof/ports.ts";
import { sealedHead } from "../proof/sealed-head.ts";
import { isTaken, missingAs, syncFolder, writeDurably } from "../runtime/durable-file.ts";
import { messageOf } from "../runtime/error-text.ts";
import { createWhole } from "./data-folder.ts";

export type HeadsFolder = ReturnType<typeof openHeadsFolder>;

/** What the heads in this file say is not known. */
export class DamagedHeadsError extends Error {
  override readonly name = "DamagedHeadsError";
  constructor(path: string) {
    super(`${path} in HEADS_COPY is damaged or cut off, so whether the log has the heads in it is not known`);
  }
}

/** A file that another process is writing, on a file system without hard links, is whole by then. */
const WRITTEN_MS_MAX = 1_000;

/** When there are more files than this, one with everything takes their place. */
const FILES_MAX = 64;

const NAME = /^heads-(\d{12})\.json$/;
const nameOf = (number: number): string => `heads-${String(number).padStart(12, "0")}.json`;

/** The text of a file, but for its last line: the SHA-256 of this in hex. */
export const headsText = ({ end, heads }: KnownHeads, isWhole: boolean): string =>
  `${JSON.stringify({ is_whole: isWhole, end, heads: Object.fromEntries(heads) })}\n`;

interface Content {
  /** Nothing before this file counts. */
  readonly is_whole: boolean;
  readonly end?: KnownEnd;
  readonly heads: Readonly<Record<string, KnownHead>>;
}

export const openHeadsFolder = (path: string) => {
  const taken = new Set<number>();
  let known: { end: KnownEnd | undefined; heads: Map<string, KnownHead> } = {
    end: undefined,
    heads: new Map(),
  };
  let wholeFrom = 0;
  let latest = 0;

  const take = (number: number, { is_whole, end, heads }: Content): void => {
    taken.add(number);
    latest = Math.max(latest, number);
    if (is_whole) {
      wholeFrom = number;
      known = { end: undefined, heads: new Map() };
    }
    if (end && end.sequence >= (known.end?.sequence ?? 0)) known.end = end;
    for (const [tenant, head] of Object.entries(heads)) {
      // Of two sealers the slower one may have signed less.
      if (sizeOf(head) >= sizeOf(known.heads.get(tenant))) known.heads.set(tenant, head);
    }
  };
  /** Files already found incomplete: they are not waited for again. */
  const damaged = new Set<number>();
  /** Returns the numbers of all files. */
  const readNew = async (): Promise<readonly number[]> => {
    const numbers = (await readdir(path))
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort(ascending);
    const contents = new Map<number, Content | undefined>();
    for (const number of numbers) {
      if (taken.has(number) || number < wholeFrom) continue;
      const text = await readFile(join(path, nameOf(number)), "utf8").catch(missingAs(undefined));
      // Another process has just written one with everything, and removed the others.
      if (text === undefined) return readNew();
      contents.set(number, contentOf(text));
    }
    const from = numbers.findLast((number) => contents.get(number)?.is_whole) ?? 0;
    for (const [number, content] of contents) {
      if (content || number < from) continue;
      if (damaged.has(number)) throw new DamagedHeadsError(join(path, nameOf(number)));
      damaged.add(number);
      await delay(WRITTEN_MS_MAX);
      return readNew();
    }
    for (const [number, content] of contents) if (content) take(number, content);
    return numbers;
  };
  const write = createWriter(path);
  /** Above what was ever read, too: the folder may have been emptied since. */
  const next = (numbers: readonly number[]): number => Math.max(numbers.at(-1) ?? 0, latest) + 1;

  const compact = async (): Promise<void> => {
    const numbers = await readNew();
    if (numbers.length <= FILES_MAX) return;
    const number = next(numbers);
    if (!(await write(number, known, true))) return;
    for (const each of numbers) await rm(join(path, nameOf(each)), { force: true });
    await readNew();
  };
  const add = async (added: KnownHeads): Promise<void> => {
    const numbers = await readNew();
    const isEmptied = numbers.length === 0 && latest > 0;
    const content = isEmptied ? { end: added.end, heads: new Map([...known.heads, ...added.heads]) } : added;
    if (!(await write(next(numbers), content, isEmptied))) return add(added);
    await compact();
  };
  const replace = async (replacement: KnownHeads & { readonly before: string }): Promise<void> => {
    const numbers = await readNew();
    const number = next(numbers);
    await writeDurably(join(path, `given-up-${number}.json`), replacement.before);
    if (!(await write(number, replacement, true))) return replace(replacement);
    await readNew();
  };
  const { noted, problem } = noteProblems();
  const read = async (): Promise<KnownHeads> => {
    await readNew();
    return known;
  };
  return {
    /** Rejects if the folder cannot be read, with DamagedHeadsError if one of its files is damaged. */
    read: () => noted("read", read()),
    /** Resolves once they are on disk. */
    add: (added: KnownHeads) => noted("written", add(added)),
    /** From now on only these count. What was known before is kept in a file of its own, whose text is `before`. */
    replace: (replacement: Parameters<typeof replace>[0]) => noted("written", replace(replacement)),
    /** Why the folder could not be read or written the last time; undefined if it could. Damaged files are no matter of this. */
    problem,
    /** Whether it never had a file, as far as this process has seen. */
    isEmpty: () => latest === 0,
  };
};

const noteProblems = () => {
  const problems: { read?: string; written?: string } = {};
  const noted = async <Result>(kind: keyof typeof problems, work: Promise<Result>): Promise<Result> => {
    try {
      const result = await work;
      delete problems[kind];
      return result;
    } catch (error) {
      if (!(error instanceof DamagedHeadsError)) problems[kind] = messageOf(error);
      throw error;
    }
  };
  return { noted, problem: () => problems.read ?? problems.written };
};

/** Returns false if there is such a file. */
const createWriter = (path: string) => {
  /** Mounts of object storage have no hard links, and give a file its name once it is whole. */
  let canLink = true;
  const create = async (file: string, text: string): Promise<boolean> => {
    try {
      if (canLink) return await createWhole(file, text);
    } catch (error) {
      // A plain write would leave a file that is cut off where the disk is full.
      if (Object(error).syscall !== "link") throw error;
    }
    try {
      await writeDurably(file, text, "wx");
    } catch (error) {
      // Another process was faster. Its file is read before the next attempt.
      if (isTaken(error)) return false;
      await rm(file, { force: true });
      throw error;
    }
    canLink = false;
    return true;
  };
  return async (number: number, content: KnownHeads, isWhole: boolean): Promise<boolean> => {
    const text = headsText(content, isWhole);
    const isNew = await create(join(path, nameOf(number)), `${text}${hash("sha256", text)}\n`);
    if (isNew) await syncFolder(path);
    return isNew;
  };
};

/** 0 for none, and for one that was given up. */
const sizeOf = (head: KnownHead | undefined): number =>
  head?.note === undefined ? 0 : (sealedHead(head.note)?.size ?? 0);

const ascending = (one: number, other: number): number => one - other;

/** Undefined for a file that is not as it was written. */
const contentOf = (file: string): Content | undefined => {
  const end = file.indexOf("\n") + 1;
  const text = file.slice(0, end);
  return file.slice(end) === `${hash("sha256", text)}\n` ? (JSON.parse(text) as Content) : undefined;
};

/** Why the folder cannot be relied on, as a sentence. One that is not mounted looks like one without heads, and so does a new one. */
export const copyProblem = async (
  folder: HeadsFolder,
  checkpoints: Pick<CheckpointStore, "since">,
): Promise<string | undefined> => {
  const problem = folder.problem();
  if (problem !== undefined) return `HEADS_COPY cannot be used: ${problem}.`;
  if (!folder.isEmpty()) return undefined;
  for await (const _ of checkpoints.since(0))
    return "HEADS_COPY holds no heads, although the log has signed ones.";
  return undefined;
};
