/** Reads a text index through its own lists of terms: the words with a prefix. */
import type { DatabaseSync } from "node:sqlite";
import { PREFIX_WORDS_MAX } from "../../limits.ts";
import type { Statements } from "./sqlite-connection.ts";
import { fromStored } from "./stored-rows.ts";
import { rowText, sqlName } from "./tables.ts";
import type { TextIndex } from "./text-index.ts";

export type WordsWith = (index: TextIndex, beginning: string) => readonly string[] | undefined;

/**
 * Undefined if there are too many. For a prefix, FTS5 first gathers every row of every word with it; for one of several words, it reads only as far
 * as the page goes. So the words are looked up before: 0.1 s for 5,000,000 rows instead of 0.5 s (measured).
 */
export const createWordsWith = (database: DatabaseSync, statements: Statements): WordsWith => {
  const known = new Set<string>();
  return (index, beginning) => {
    const { name } = index;
    if (!known.has(name)) makeTermTable(database, index);
    known.add(name);
    const next = statements(`SELECT term FROM ${termTable(index)} WHERE term >= ? LIMIT 1`);
    const found: string[] = [];
    let from = beginning;
    for (;;) {
      const row = next.get(from);
      const term = row === undefined ? undefined : rowText(fromStored(row), "term");
      if (!term?.startsWith(beginning)) return found;
      if (found.length === PREFIX_WORDS_MAX) return undefined;
      found.push(term);
      // The smallest greater word: one row is read for each word, however many it has.
      from = `${term}\x01`;
    }
  };
};

/** A temporary table of the connection, so that nothing of it is in the file. It finds its index by name whenever it is read. */
const makeTermTable = (database: DatabaseSync, index: TextIndex): void =>
  database.exec(
    `CREATE VIRTUAL TABLE ${termTable(index)} USING fts5vocab (main, ${sqlName(index.name)}, instance)`,
  );

const termTable = ({ name }: TextIndex): string => `temp.${sqlName(`${name}_terms`)}`;
