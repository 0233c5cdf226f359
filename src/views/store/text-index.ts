/**
 * A full-text index: which words, labels and times a row has, by its sequence. event/words.ts splits texts into words; a database only stores and
 * finds them. Every word is stored together with its tenant, as one term: a search meets only what its tenant wrote, however much others did.
 */
import { strict as assert } from "node:assert";
import { hash } from "node:crypto";
import { PAIR_JOINT } from "../../event/words.ts";
import { sqlName } from "./tables.ts";

export interface TextIndex {
  readonly name: string;
}

/** A label by which a row is found as a whole, such as `["tag", "team", "credit"]`: names of ours, and what a customer wrote. */
export type Label = readonly [name: string, ...values: string[]];

/** `from` is inside the range, `to` is not. */
export interface TimeRange {
  readonly name: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

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

/** Kept apart so that a prefix meets few words, or few rows: `de*` would meet all UUIDs beside `decision`. A pair is found by its first word. */
const LETTERS_KIND = "";
const DIGITS_KIND = ":";
const PAIR_KIND = "_";

const wordKind = (word: string): string => {
  if (word.includes(PAIR_JOINT)) return PAIR_KIND;
  return DIGIT.test(word) ? DIGITS_KIND : LETTERS_KIND;
};

const DIGIT = /[0-9]/;

const wordTerm = (word: string): string => wordKind(word) + word;

/** The beginnings of all terms whose words have this prefix. */
const beginningsOf = (prefix: string): readonly string[] => {
  const kind = wordKind(prefix);
  // Digits may follow letters.
  const kinds = kind === LETTERS_KIND ? [kind, DIGITS_KIND] : [kind];
  return kinds.map((each) => each + checkedWord(prefix));
};

/** Nothing that means something to a tokenizer or a parser. Not A to Z, which SQLite's tokenizer takes for a to z, and PostgreSQL does not. */
const WORD = /^[a-z0-9_\x80-\uffff]+$/;
/** Before each term, so that a search meets hardly anything of other tenants: two may have the same, and queries also ask for the tenant of the row. */
const tenantPrefix = (tenant: string): string => {
  assert(tenant !== "", "a row in a text index has a tenant");
  return digits(tenant, PREFIX_DIGITS);
};

const PREFIX_DIGITS = 5;

/** A label as a term: 51 bits of a hash, because labels are longer than words. No word contains `=`. JSON tells lone surrogates apart. */
const labelTerm = (label: Label): string => `=${digits(JSON.stringify(label), LABEL_DIGITS)}`;

const LABEL_DIGITS = 10;

/** Letters in lower case, because SQLite's tokenizer does not distinguish it from upper case; so a digit has five bits. */
const digits = (text: string, count: number): string =>
  hash("sha256", text, "base64url").slice(0, count).toLowerCase();

/** A period of a time as a term. No word and no label begins with `~`. Queries look at the times themselves, so one letter of the name will do. */
const periodTerm = (name: string, period: string): string =>
  `~${name.slice(0, 1)}${period.replaceAll(/[^0-9a-z]/g, "")}`;

/**
 * Terms are separated by spaces only: every other character belongs to them. Neither texts nor positions of words are stored.
 *
 * Labels and times are terms beside the words. FTS5 returns rows in the order of their sequence and intersects terms by walking sorted lists, so any
 * combination of them is answered from here: a label costs 0.25 µs per event, an index of a table ten times that (measured).
 */
export const sqliteTextIndexDdl = ({ name }: TextIndex): readonly string[] => [
  `CREATE VIRTUAL TABLE ${sqlName(name)} USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '-_.=:~'")`,
  // Each commit makes a segment. Merging fewer of them (4 by default) costs writes, merging more costs searches.
  `INSERT INTO ${sqlName(name)} (${sqlName(name)}, rank) VALUES ('automerge', 12)`,
];

export const sqliteTermsText = ({ prefix, terms }: RowTerms): string =>
  terms.length === 0 ? "" : prefix + terms.join(` ${prefix}`);

/** The terms of a row, and what stands before each of them. */
export interface RowTerms {
  readonly prefix: string;
  readonly terms: readonly string[];
}

/** Terms that were made before, by the parts of what they were made of. */
type MadeTerms = Map<string, MadeTerms | string>;

/** Makes the terms of rows. What many rows have in common it works out once. */
export const createRowTerms = () => {
  const prefixes = new Map<string, string>();
  const wordTerms = new Map<string, string>();
  const hours = new Map<string, readonly string[]>();
  const made: MadeTerms = new Map();
  const worded = (word: string): string => {
    const known = wordTerms.get(word);
    if (known !== undefined) return known;
    const term = wordTerm(word);
    wordTerms.set(word, term);
    return term;
  };
  const labelled = (label: Label): string => {
    let at = made;
    for (let place = 0; ; place++) {
      const part = label[place] ?? "";
      const known = at.get(part);
      if (typeof known === "string") return known;
      const isLast = place >= label.length - 1;
      const next = known ?? (isLast ? labelTerm(label) : new Map());
      if (known === undefined) at.set(part, next);
      if (typeof next === "string") return next;
      at = next;
    }
  };
  const timed = ({ name, time }: NamedTime): readonly string[] => {
    const hour = name + time.slice(0, HOUR);
    const terms = hours.get(hour) ?? periodsOf(time).map((period) => periodTerm(name, period));
    hours.set(hour, terms);
    return terms;
  };
  return ({ tenant, words, labels, times }: IndexedWords): RowTerms => {
    const prefix = prefixes.get(tenant) ?? tenantPrefix(tenant);
    prefixes.set(tenant, prefix);
    const terms: string[] = [];
    for (const word of words) terms.push(worded(word));
    for (const label of labels) terms.push(labelled(label));
    for (const time of times) terms.push(...timed(time));
    return { prefix, terms };
  };
};

interface IndexedWords {
  readonly tenant: string;
  readonly words: readonly string[];
  readonly labels: readonly Label[];
  readonly times: readonly NamedTime[];
}

export interface NamedTime {
  readonly name: string;
  /** As text that sorts (event/formats.ts). */
  readonly time: string;
}

/** A query as one expression in the language of a database. */
interface QueryLanguage {
  readonly and: string;
  readonly or: string;
  readonly term: (term: string) => string;
  readonly beginning: (beginning: string) => string;
}

const asked = (
  { tenant, words, prefixes, labels, ranges, without = [] }: Omit<TextMatch, "index">,
  { and, or, term, beginning }: QueryLanguage,
) => {
  const prefix = tenantPrefix(tenant);
  const either = (questions: readonly string[]): string => `(${questions.join(or)})`;
  const labelled = (label: Label): string => term(prefix + labelTerm(label));
  return {
    found: [
      ...words.map((word) => term(prefix + wordTerm(checkedWord(word)))),
      ...labels.map(labelled),
      ...prefixes.map((begun) => either(beginningsOf(begun).map((each) => beginning(prefix + each)))),
      ...ranges.map((range) =>
        either(periodsBetween(range).map((period) => term(prefix + periodTerm(range.name, period)))),
      ),
    ].join(and),
    without: without.map(labelled),
  };
};

/** `wordsWith`: the words with a prefix if they are few; FTS5 itself would first gather all rows of all of them. */
export const sqliteMatchText = (
  match: TextMatch,
  wordsWith: (beginning: string) => readonly string[] | undefined,
): string => {
  const term = (text: string): string => `"${text}"`;
  const beginning = (text: string): string => {
    const terms = wordsWith(text) ?? [];
    return terms.length === 0 ? `${term(text)} *` : `(${terms.map(term).join(" OR ")})`;
  };
  const { found, without } = asked(match, { and: " AND ", or: " OR ", term, beginning });
  return without.length === 0 ? found : `(${found}) NOT (${without.join(" OR ")})`;
};

/**
 * The terms are text, in which the prefix stands once, and the index holds an expression of it: a tsvector takes twice the space, and is needed only where
 * PostgreSQL must look at a row again. The columns have the names that FTS5 uses, so that one query works for both.
 */
export const postgresTextIndexDdl = ({ name }: TextIndex): readonly string[] => [
  `CREATE TABLE ${sqlName(name)} (rowid bigint PRIMARY KEY, terms text COLLATE "C" NOT NULL)`,
  `CREATE INDEX ${sqlName(`${name}_by_term`)} ON ${sqlName(name)} USING gin ((${postgresVector()})) WITH (gin_pending_list_limit = ${PENDING_KIB})`,
];

/** What was written last is kept in no order, and searches read all of it. More of it saves no time (measured up to 4 MiB). */
const PENDING_KIB = 1024;

/** As it stands in the table, behind the prefix. */
export const postgresTermsText = ({ prefix, terms }: RowTerms): string => [prefix, ...terms].join(" ");

/** Every term with the prefix, and the stretch of the log (tenant-query.ts). */
export const postgresVector = (alias = ""): string => {
  const prefixed = `replace(substr(${alias}terms, ${PREFIX_DIGITS + 1}), ' ', ' ' || left(${alias}terms, ${PREFIX_DIGITS}))`;
  const stretch = `'${STRETCH_TERM_START}' || (${alias}rowid >> ${STRETCH_BITS})::text`;
  return `array_to_tsvector(string_to_array(ltrim(${prefixed} || ' ' || ${stretch}), ' '))`;
};

export const postgresMatchText = (match: Omit<TextMatch, "index">): string => {
  const term = (text: string): string => `'${text}'`;
  const beginning = (text: string): string => `${term(text)}:*`;
  const { found, without } = asked(match, { and: " & ", or: " | ", term, beginning });
  return [found, ...without.map((each) => `!${each}`)].filter((each) => each !== "").join(" & ");
};

/** A stretch of the log, 2^13 sequences, is a term in PostgreSQL, without a prefix (tenant-query.ts). */
export const STRETCH_BITS = 13;
export const STRETCH_TERM_START = ":";

/**
 * The periods that contain a time, from its year to its hour. A range of times is a few periods, so that an index that can only find equal values
 * finds it. Times are text that sorts by time (event/formats.ts). A range may begin or end within a period, so callers still check the times
 * themselves. No period is longer than a year or shorter than an hour, because each length costs every event a term. A year without events costs a range
 * that is open at one side 22 µs (measured), so there are fifty of them.
 */
export const periodsOf = (time: string): readonly string[] =>
  time >= FIRST && time < END ? PERIOD_LENGTHS.map((length) => time.slice(0, length)) : [ELSEWHERE];

/** The largest periods that together cover the range: at most 140, from the first to the last, and one for all other years. */
export const periodsBetween = ({ from, to }: TimeRange): readonly string[] => {
  const start = Math.max(FIRST_MS, from === undefined ? FIRST_MS : hourMs(from));
  const end = Math.min(END_MS, to === undefined ? END_MS : hourMs(to) + (isWholeHour(to) ? 0 : HOUR_MS));
  const shortest = end - start > HOURS_WITHIN_MS ? DAY : HOUR;
  const found = [ELSEWHERE];
  let at = textOf(start).slice(0, shortest);
  while (msOf(at) < end) {
    const length = PERIOD_LENGTHS.find(
      (each) => each === shortest || (isBegin(at, each) && endOf(at, each) <= end),
    );
    const period = at.slice(0, length);
    found.push(period);
    at = textOf(endOf(at, period.length)).slice(0, shortest);
  }
  return found;
};

const FIRST = "2000-01-01T00";
const END = "2050-01-01T00";
/** All times outside these years together, because there are hardly any. */
const ELSEWHERE = "elsewhere";

/** The length of the text of a time that names the period. */
const [YEAR, MONTH, DAY, HOUR] = [4, 7, 10, 13];
const PERIOD_LENGTHS = [YEAR, MONTH, DAY, HOUR];

const HOUR_MS = 3_600_000;
/** At the ends of a longer range days serve as well as hours, and fewer of them must be looked up. */
const HOURS_WITHIN_MS = 60 * 24 * HOUR_MS;

const msOf = (text: string): number => Date.parse(`${text}${FIRST.slice(text.length)}:00Z`);

const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, HOUR);

const FIRST_MS = msOf(FIRST);
const END_MS = msOf(END);

const hourMs = (time: string): number => msOf(time.slice(0, HOUR));

const isWholeHour = (time: string): boolean => time.slice(HOUR) === ":00:00";

const isBegin = (text: string, length: number): boolean =>
  text.slice(length) === FIRST.slice(length, text.length);

/** The end of the period of this length that contains the time. */
const endOf = (text: string, length: number): number => {
  const at = new Date(msOf(text));
  switch (length) {
    case YEAR:
      return at.setUTCFullYear(at.getUTCFullYear() + 1);
    case MONTH:
      return at.setUTCMonth(at.getUTCMonth() + 1);
    case DAY:
      return at.setUTCDate(at.getUTCDate() + 1);
    default:
      return at.getTime() + HOUR_MS;
  }
};
