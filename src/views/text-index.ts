/**
 * A full-text index: which words a row has, by its sequence. It is made for databases that are handed ready words (event/words.ts) and do
 * nothing but hold and find them. Every word is kept together with its tenant, as one term: a search meets only what its tenant
 * wrote, however much others did.
 */
import { strict as assert } from "node:assert";
import { sqlName } from "./tables.ts";

export interface TextIndex {
  readonly name: string;
}

/** What is looked for: all of the words, and for each prefix a word that begins with it. */
export interface TextMatch {
  readonly tenant: string;
  readonly words: readonly string[];
  readonly prefixes: readonly string[];
}

/** Throws where a word could be taken for anything else. Never quotes it. */
export const checkedTerm = (tenant: string, word: string): string => {
  assert(WORD.test(word), "words for a text index have only a to z, 0 to 9 and _ of ASCII");
  return termPrefix(tenant) + word;
};

/** The terms of a row, separated by spaces. */
export const termsText = (tenant: string, words: readonly string[]): string => {
  if (words.length === 0) return "";
  assert(WORDS.test(words.join(" ")), "words for a text index have only a to z, 0 to 9 and _ of ASCII");
  const prefix = termPrefix(tenant);
  return prefix + words.join(` ${prefix}`);
};

/**
 * What is not ASCII has no meaning to a tokenizer or a parser; of ASCII only letters, digits and `_` may stand. Not A to Z: SQLite's tokenizer would
 * not tell them from a to z, and PostgreSQL would.
 */
const WORD = /^[a-z0-9_\x80-\uffff]+$/;
/**
 * A word with a space in it would pass. What stands behind the space is then a term without a tenant, which no search looks for: what makes a
 * term one of a tenant is the `/`.
 */
const WORDS = /^[a-z0-9_ \x80-\uffff]*$/;

/** No tenant's is the beginning of another's: the first `/` ends it, and a word has none. */
const termPrefix = (tenant: string): string => {
  assert(tenant !== "", "a row in a text index has a tenant");
  return `${PLAIN_TENANT.test(tenant) ? tenant : escaped(tenant)}/`;
};

const PLAIN_TENANT = /^[a-z0-9-]+$/;

/** SQLite's tokenizer does not tell upper from lower case, and cuts at other characters. */
const escaped = (tenant: string): string =>
  Array.from(tenant, (character) =>
    PLAIN_TENANT.test(character) ? character : `.${character.codePointAt(0)?.toString(16)}.`,
  ).join("");

/**
 * Terms are told apart by the spaces between them: all else in them belongs to them. Neither texts nor the places of words in them are kept. Each
 * commit makes a segment, and segments of one size become one when there are so many of them: with 16 instead of FTS5's 4 an event costs 0.8 µs
 * less over a million, and a search some tenths of a millisecond more (measured). With 64 of one size a commit would merge them all at once.
 */
export const sqliteTextIndexDdl = ({ name }: TextIndex): readonly string[] => [
  `CREATE VIRTUAL TABLE ${sqlName(name)} USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '/_-.'")`,
  `INSERT INTO ${sqlName(name)} (${sqlName(name)}, rank) VALUES ('automerge', 16), ('crisismerge', 64)`,
];

export const sqliteMatchText = ({ tenant, words, prefixes }: TextMatch): string =>
  [
    ...words.map((word) => `"${checkedTerm(tenant, word)}"`),
    ...prefixes.map((word) => `"${checkedTerm(tenant, word)}" *`),
  ].join(" AND ");

/** The columns have the names that FTS5 gives them, so that one query asks both. */
export const postgresTextIndexDdl = ({ name }: TextIndex): readonly string[] => [
  `CREATE TABLE ${sqlName(name)} (rowid bigint PRIMARY KEY, ${sqlName(name)} tsvector NOT NULL)`,
  `CREATE INDEX ${sqlName(`${name}_by_term`)} ON ${sqlName(name)} USING gin (${sqlName(name)})`,
];

export const postgresTextIndexRename = (from: TextIndex, to: TextIndex): readonly string[] => [
  `ALTER TABLE ${sqlName(from.name)} RENAME TO ${sqlName(to.name)}`,
  `ALTER TABLE ${sqlName(to.name)} RENAME COLUMN ${sqlName(from.name)} TO ${sqlName(to.name)}`,
];

export const postgresMatchText = ({ tenant, words, prefixes }: TextMatch): string =>
  [
    ...words.map((word) => `'${checkedTerm(tenant, word)}'`),
    ...prefixes.map((word) => `'${checkedTerm(tenant, word)}':*`),
  ].join(" & ");
