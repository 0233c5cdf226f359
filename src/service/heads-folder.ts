/**
 * The folder HEADS_COPY: what is known of the log outside it. Each group of heads is a new file, written once and never renamed or appended to,
 * so that a mount of object storage will do. Several processes may write to it, and read each other's files.
 */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isTaken, missingAs, syncFolder, writeDurably } from "../files/durable-file.ts";
import type { KnownEnd, KnownHead, KnownHeads } from "../proof/known-heads.ts";
import { sealedHead } from "../proof/sealed-head.ts";

export interface HeadsFolder {
  /** Rejects if the folder cannot be read. */
  read(): Promise<KnownHeads>;
  /** Resolves once they are on disk. */
  add(added: { readonly end: KnownEnd; readonly heads: ReadonlyMap<string, KnownHead> }): Promise<void>;
  /** From now on only these count. What was known before is kept in a file of its own, whose text is `before`. */
  replace(replacement: KnownHeads & { readonly before: string }): Promise<void>;
  /** Why the folder could not be read or written the last time; undefined if it could. */
  problem(): string | undefined;
}

/** When there are more files than this, one with everything takes their place. */
const FILES_MAX = 64;

const NAME = /^heads-(\d{12})\.json$/;
const nameOf = (number: number): string => `heads-${String(number).padStart(12, "0")}.json`;

/** The text of a file. */
export const headsText = ({ end, heads }: KnownHeads, isWhole: boolean): string =>
  `${JSON.stringify({ is_whole: isWhole, end, heads: Object.fromEntries(heads) })}\n`;

interface Content {
  /** Nothing before this file counts. */
  readonly is_whole: boolean;
  readonly end?: KnownEnd;
  readonly heads: Readonly<Record<string, KnownHead>>;
}

export const openHeadsFolder = (path: string): HeadsFolder => {
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
  /** Returns the numbers of all files, and whether one is incomplete: it is being written, or its writer died before it published anything. */
  const readNew = async (): Promise<{ numbers: readonly number[]; isIncomplete: boolean }> => {
    const numbers = (await readdir(path))
      .flatMap((name) => Number(NAME.exec(name)?.[1] ?? []))
      .sort(ascending);
    let isIncomplete = false;
    for (const number of numbers) {
      if (taken.has(number) || number < wholeFrom) continue;
      const text = await readFile(join(path, nameOf(number)), "utf8").catch(missingAs(undefined));
      const content = text === undefined ? undefined : contentOf(text);
      if (content) take(number, content);
      else isIncomplete = true;
    }
    return { numbers, isIncomplete };
  };
  const write = async (number: number, content: KnownHeads, isWhole: boolean): Promise<boolean> => {
    try {
      await writeDurably(join(path, nameOf(number)), headsText(content, isWhole), "wx");
    } catch (error) {
      // Another process was faster. Its file is read before the next attempt.
      if (isTaken(error)) return false;
      throw error;
    }
    await syncFolder(path);
    return true;
  };
  /** Above what was ever read, too: the folder may have been emptied since. */
  const next = (numbers: readonly number[]): number => Math.max(numbers.at(-1) ?? 0, latest) + 1;

  const compact = async (): Promise<void> => {
    const { numbers, isIncomplete } = await readNew();
    if (numbers.length <= FILES_MAX || isIncomplete) return;
    const number = next(numbers);
    if (!(await write(number, known, true))) return;
    for (const each of numbers) await rm(join(path, nameOf(each)), { force: true });
    await readNew();
  };
  const add: HeadsFolder["add"] = async (added) => {
    const { numbers } = await readNew();
    const isEmptied = numbers.length === 0 && latest > 0;
    const content = isEmptied ? { end: added.end, heads: new Map([...known.heads, ...added.heads]) } : added;
    if (!(await write(next(numbers), content, isEmptied))) return add(added);
    await compact();
  };
  const replace: HeadsFolder["replace"] = async (replacement) => {
    const { numbers } = await readNew();
    const number = next(numbers);
    await writeDurably(join(path, `given-up-${number}.json`), replacement.before);
    if (!(await write(number, replacement, true))) return replace(replacement);
    await readNew();
  };
  const problems: { read?: string; written?: string } = {};
  const noted = async <Result>(kind: keyof typeof problems, work: Promise<Result>): Promise<Result> => {
    try {
      const result = await work;
      delete problems[kind];
      return result;
    } catch (error) {
      problems[kind] = error instanceof Error ? error.message : String(error);
      throw error;
    }
  };
  const read = async (): Promise<KnownHeads> => {
    await readNew();
    return known;
  };
  return {
    read: () => noted("read", read()),
    add: (added) => noted("written", add(added)),
    replace: (replacement) => noted("written", replace(replacement)),
    problem: () => problems.read ?? problems.written,
  };
};

/** 0 for none, and for one that was given up. */
const sizeOf = (head: KnownHead | undefined): number =>
  head?.note === undefined ? 0 : (sealedHead(head.note)?.size ?? 0);

const ascending = (one: number, other: number): number => one - other;

/** Undefined for an incomplete file. */
const contentOf = (text: string): Content | undefined => {
  try {
    return JSON.parse(text) as Content;
  } catch {
    return undefined;
  }
};
