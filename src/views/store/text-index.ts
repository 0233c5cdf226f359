/**
 * A full-text index: which words, labels and times a row has, by its sequence. event/words.ts splits texts into words; a database only stores and
 * finds them. Every word is stored together with its tenant, as one term: a search meets only what its tenant wrote, however much others did.
 */
import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { PAIR_JOINT } from "../../event/words.ts";
import { periodsBetween, periodsOf, type TimeRange } from "./periods.ts";
import { sqlName } from "./tables.ts";

export interface TextIndex {
  readonly name: string;
}

/** A label by which a row is found as a whole, such as `["tag", "team", "credit"]`: names of ours, and what a customer wrote. */
export type Label = readonly [name: string, ...values: string[]];

/** What to find: all of the words and labels, a word for each prefix, times within all of the ranges, and none of the labels in `without`. */
export interface TextMatch {
  readonly index: TextIndex;
  readonly tenant: string;
  readonly words: readonly string[];
  readonly prefixes: readonly string[];
  readonly labels: readonly Label[];
  readonly ranges: readonly TimeRange[];
  readonly without?: readonly Label[];
}

/** Throws if a word could be taken for anything else. Never quotes it. */
const checkedWord = (word: string): string => {
  if (!WORD.test(word)) throw new Error("words for a text index have only a to z, 0 to 9 and _ of ASCII");
  return word;
};

/** A word as a term. */
export const wordTerm = (tenant: string, word: string): string =>
  termPrefix(tenant) + wordKind(word) + checkedWord(word);

/**
 * Three kinds of words are kept apart, so that a prefix meets few words, or few rows. Words of letters are few, and mostly in many rows; ids and
 * numbers contain digits, and are as many as the rows, each in few of them. Together they would be too many to look up one by one, with too many rows
 * to gather: for example `de*`, with UUIDs beside `decision`. A pair is found by its first word.
 */
const LETTERS_KIND = ".";
const DIGITS_KIND = ":";
const PAIR_KIND = "_";

const wordKind = (word: string): string => {
  if (word.includes(PAIR_JOINT)) return PAIR_KIND;
  return DIGIT.test(word) ? DIGITS_KIND : LETTERS_KIND;
};

const DIGIT = /[0-9]/;

/** The beginnings of all terms whose words have this prefix. */
const beginningsOf = (tenant: string, prefix: string): readonly string[] => {
  const kind = wordKind(prefix);
  // Digits may follow letters.
  const kinds = kind === LETTERS_KIND ? [kind, DIGITS_KIND] : [kind];
  return kinds.map((each) => termPrefix(tenant) + each + checkedWord(prefix));
};

/**
 * Characters outside ASCII have no meaning for a tokenizer or a parser; of ASCII only lower case letters, digits and `_` are allowed. A to Z are not:
 * SQLite's tokenizer would not distinguish them from a to z, and PostgreSQL would.
 */
const WORD = /^[a-z0-9_\x80-\uffff]+$/;
/** No tenant's prefix is the beginning of another's: the first `/` ends it, and a word contains none. */
export const termPrefix = (tenant: string): string => {
  assert(tenant !== "", "a row in a text index has a tenant");
  return `${PLAIN_TENANT.test(tenant) ? tenant : escaped(tenant)}/`;
};

const PLAIN_TENANT = /^[a-z0-9-]+$/;

/** SQLite's tokenizer does not distinguish upper from lower case, and splits at other characters. */
const escaped = (tenant: string): string =>
  Array.from(tenant, (character) =>
    PLAIN_TENANT.test(character) ? character : `.${character.codePointAt(0)?.toString(16)}.`,
  ).join("");

/** A label as a term. No word contains `=`, so no word is a label, and no prefix finds one. */
export const labelTerm = (tenant: string, label: Label): string => termPrefix(tenant) + labelText(label);

const labelText = (label: Label): string => {
  let text = "";
  for (const part of label) {
    text = `${text}=${PLAIN_PART.test(part) ? part : escapedPart(part)}`;
  }
  return text.length <= LABEL_CHARACTERS_MAX ? text : shortened(text);
};

const PLAIN_PART = /^[a-z0-9_.:-]*$/;

const escapedPart = (part: string): string =>
  Array.from(part, (character) =>
    PLAIN_PART.test(character) ? character : `~${character.codePointAt(0)?.toString(16)}~`,
  ).join("");

/** PostgreSQL accepts no keys above 2704 bytes, and long terms enlarge every index. No other label begins with `~~`. */
const LABEL_CHARACTERS_MAX = 256;

const shortened = (text: string): string => `=~~${createHash("sha256").update(text).digest("hex")}`;

/**
 * Terms are separated by spaces only: every other character belongs to them. Neither texts nor positions of words are stored.
 *
 * Labels and times are terms beside the words. FTS5 returns rows in the order of their sequence and intersects terms by walking sorted lists, so any
 * combination of them is answered from here: a label costs 0.25 µs per event, an index of a table ten times that (measured).
 */
export const sqliteTextIndexDdl = ({ name }: TextIndex): readonly string[] => [
  `CREATE VIRTUAL TABLE ${sqlName(name)} USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '/_-.=:~'")`,
  // Each commit makes a segment. Merging fewer of them (4 by default) costs writes, merging more costs searches.
  `INSERT INTO ${sqlName(name)} (${sqlName(name)}, rank) VALUES ('automerge', 12)`,
];

interface TextSql {
  /** Takes the sequence, and the terms. */
  readonly index: string;
  /** Takes the sequence. */
  readonly unindex: string;
}

export const sqliteTextSql = (index: TextIndex): TextSql => {
  const name = sqlName(index.name);
  return {
    // Without OR REPLACE, FTS5 accepts a rowid a second time and finds it by the words of both (measured with 3.54).
    index: `INSERT OR REPLACE INTO ${name} (rowid, terms) VALUES (?, ?)`,
    unindex: `DELETE FROM ${name} WHERE rowid = ?`,
  };
};

/** The words, labels and periods of a row, separated by spaces. */
export const rowTerms = (row: {
  readonly tenant: string;
  readonly words: readonly string[];
  readonly labels: readonly Label[];
  readonly times: readonly NamedTime[];
}): string => {
  const { tenant, words, labels, times } = row;
  const prefix = termPrefix(tenant);
  const periods = times.flatMap(({ name, time }) => periodLabels(name, periodsOf(time)));
  return [
    ...words.map((word) => prefix + wordKind(word) + checkedWord(word)),
    ...[...labels, ...periods].map((label) => prefix + labelText(label)),
  ].join(" ");
};

export interface NamedTime {
  readonly name: string;
  /** As text that sorts (event/formats.ts). */
  readonly time: string;
}

const periodLabels = (name: string, periods: readonly string[]): readonly Label[] =>
  periods.map((period) => [name, period]);

/** `wordsWith`: the words with a prefix if they are few; FTS5 itself would first gather all rows of all of them. */
export const sqliteMatchText = (
  { tenant, words, prefixes, labels, ranges, without = [] }: TextMatch,
  wordsWith: (beginning: string) => readonly string[] | undefined,
): string => {
  const asked = [
    ...words.map((word) => `"${wordTerm(tenant, word)}"`),
    ...labels.map((label) => `"${labelTerm(tenant, label)}"`),
    ...prefixes.map((prefix) =>
      eitherOf(beginningsOf(tenant, prefix).map((beginning) => withBeginning(beginning, wordsWith))),
    ),
    ...ranges.map((range) =>
      anyOf(periodLabels(range.name, periodsBetween(range)).map((label) => labelTerm(tenant, label))),
    ),
  ].join(" AND ");
  if (without.length === 0) return asked;
  return `(${asked}) NOT ${anyOf(without.map((label) => labelTerm(tenant, label)))}`;
};

const withBeginning = (
  beginning: string,
  wordsWith: (beginning: string) => readonly string[] | undefined,
): string => {
  const terms = wordsWith(beginning);
  return terms === undefined || terms.length === 0 ? `"${beginning}" *` : anyOf(terms);
};

const anyOf = (terms: readonly string[]): string => eitherOf(terms.map((term) => `"${term}"`));

const eitherOf = (questions: readonly string[]): string => `(${questions.join(" OR ")})`;

/** The columns have the names that FTS5 uses, so that one query works for both. */
export const postgresTextIndexDdl = ({ name }: TextIndex): readonly string[] => [
  `CREATE TABLE ${sqlName(name)} (rowid bigint PRIMARY KEY, ${sqlName(name)} tsvector NOT NULL)`,
  `CREATE INDEX ${sqlName(`${name}_by_term`)} ON ${sqlName(name)} USING gin (${sqlName(name)})`,
];

export const postgresTextIndexRename = (from: TextIndex, to: TextIndex): readonly string[] => [
  `ALTER TABLE ${sqlName(from.name)} RENAME TO ${sqlName(to.name)}`,
  `ALTER TABLE ${sqlName(to.name)} RENAME COLUMN ${sqlName(from.name)} TO ${sqlName(to.name)}`,
];

export const postgresMatchText = ({
  tenant,
  words,
  prefixes,
  labels,
  ranges,
  without = [],
}: Omit<TextMatch, "index">): string => {
  const either = (terms: readonly string[]): string => `(${terms.join(" | ")})`;
  return [
    ...words.map((word) => `'${wordTerm(tenant, word)}'`),
    ...labels.map((label) => `'${labelTerm(tenant, label)}'`),
    ...prefixes.map((prefix) => either(beginningsOf(tenant, prefix).map((beginning) => `'${beginning}':*`))),
    ...ranges.map((range) =>
      either(periodLabels(range.name, periodsBetween(range)).map((label) => `'${labelTerm(tenant, label)}'`)),
    ),
    ...without.map((label) => `!'${labelTerm(tenant, label)}'`),
  ].join(" & ");
};

/**
 * A stretch of the log, 2^13 sequences, is a term in PostgreSQL: with it a search reads only the rows of that stretch (search-statements.ts). No term
 * of a tenant begins with `:`.
 */
export const STRETCH_BITS = 13;
export const STRETCH_TERM_START = ":";

export const stretchTerm = (sequence: number): string =>
  `${STRETCH_TERM_START}${Math.floor(sequence / 2 ** STRETCH_BITS)}`;
