/**
 * The terms of a row as passed to SQLite: UTF-8, each with a space before it. The characters that nearly all texts, labels and times consist of are
 * written one by one as bytes: slicing, joining and concatenating strings takes three times as long, 7 µs per event (measured). Everything else is
 * left to the modules that define words, labels and periods.
 */
import { PAIR_JOINT, words } from "../event/words.ts";
import { WORD_CHARACTERS_MAX } from "../limits.ts";
import { HOUR, isInPeriods, MINUTE, PERIOD_LENGTHS, periodsOf } from "./periods.ts";
import {
  DIGITS_KIND,
  LABEL_CHARACTERS_MAX,
  type Label,
  LETTERS_KIND,
  labelTerm,
  type NamedTime,
  PAIR_KIND,
  termPrefix,
  wordTerm,
} from "./text-index.ts";
import type { IndexWrite, PackedWrite } from "./view-store.ts";

/**
 * Thousands of rows wait for their commit. A kilobyte of terms for each costs less than the texts and labels that they are made of, which a collector
 * walks through and which have left the processor's cache by then: all of projecting takes 0.95 of what it took (measured).
 */
export const sqlitePacked = (write: IndexWrite): PackedWrite => {
  putTerms(write);
  const { bytes, start, end } = terms;
  return { kind: "packed", index: write.index, sequence: write.sequence, bytes, start, end };
};

export const sqliteTermsOf = (entry: SqliteEntry): readonly string[] => {
  putTerms(entry);
  return decoder.decode(viewOf(terms)).split(" ").slice(1);
};

type SqliteEntry = Pick<IndexWrite, "tenant" | "texts" | "labels" | "times">;

export const viewOf = ({ bytes, start, end }: Pick<PackedWrite, "bytes" | "start" | "end">): Uint8Array =>
  bytes.subarray(start, end);

const putTerms = ({ tenant, texts, labels, times }: SqliteEntry): void => {
  terms.start = terms.end;
  terms.of = termsOfTenant(tenant);
  for (const text of texts)
    if (!putAsciiWords(text)) for (const word of words(text)) putTerm(wordTerm(tenant, word));
  for (const label of labels) if (!putPlainLabel(label)) putTerm(labelTerm(tenant, label));
  for (const time of times)
    if (!putPeriods(time))
      for (const period of periodsOf(time.time)) putTerm(labelTerm(tenant, [time.name, period]));
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What is remembered of a tenant for the next terms. */
interface TenantTerms {
  /** The beginning of each of its terms. */
  readonly prefix: Uint8Array;
  /** By the name of a time column. */
  readonly hours: Map<string, HourTerms>;
}

/** The row being written, and its tenant. Rows follow one another in the bytes until these are full: none is overwritten. */
const terms: { bytes: Uint8Array; start: number; end: number; of: TenantTerms } = {
  bytes: new Uint8Array(),
  start: 0,
  end: 0,
  of: { prefix: new Uint8Array(), hours: new Map() },
};

/** Room for the terms of about a thousand rows. */
const BYTES_TOGETHER = 1024 * 1024;

const tenants = new Map<string, TenantTerms>();
/** Some hundred bytes each. Beyond this number all are forgotten and built anew. */
const TENANTS_MAX = 100;

const termsOfTenant = (tenant: string): TenantTerms => {
  const known = tenants.get(tenant);
  if (known) return known;
  if (tenants.size >= TENANTS_MAX) tenants.clear();
  const made = { prefix: encoder.encode(` ${termPrefix(tenant)}`), hours: new Map() };
  tenants.set(tenant, made);
  return made;
};

const makeRoom = (more: number): void => {
  if (terms.end + more <= terms.bytes.length) return;
  const { bytes, start, end } = terms;
  const next = new Uint8Array(Math.max(BYTES_TOGETHER, 2 * (end - start + more)));
  next.set(bytes.subarray(start, end));
  [terms.bytes, terms.start, terms.end] = [next, 0, end - start];
};

const putTerm = (term: string): void => {
  // A UTF-16 unit takes at most three bytes.
  makeRoom(1 + 3 * term.length);
  terms.bytes[terms.end++] = SPACE;
  terms.end += encoder.encodeInto(term, terms.bytes.subarray(terms.end)).written;
};

/** Splits the text as event/words.ts does; false if it is not ASCII. */
const putAsciiWords = (text: string): boolean => {
  const { prefix } = terms.of;
  // At most one word or pair per character, and each character is in one word and in two pairs.
  makeRoom((text.length + 1) * (prefix.length + 5));
  // Loops use local variables: those of an object are read and written in memory each time.
  const { bytes } = terms;
  let { end } = terms;
  let wordStart = NOWHERE;
  let kind = LETTERS_BYTE;
  let beforeStart = NOWHERE;
  let beforeEnd = NOWHERE;
  for (let index = 0; index <= text.length; index++) {
    const code = index < text.length ? text.charCodeAt(index) : SPACE;
    if (code >= ASCII_IN_WORDS.length) return false;
    const byte = ASCII_IN_WORDS[code] ?? 0;
    if (byte > IS_SPACE) {
      if (wordStart === NOWHERE) {
        // The kind of a word is known at its end.
        end = copied(prefix, 0, prefix.length, bytes, end) + 1;
        wordStart = end;
        kind = LETTERS_BYTE;
      }
      if (end - wordStart >= WORD_CHARACTERS_MAX) continue;
      if (byte <= NINE) kind = DIGITS_BYTE;
      bytes[end++] = byte;
      continue;
    }
    if (wordStart !== NOWHERE) {
      const wordEnd = end;
      bytes[wordStart - 1] = kind;
      if (beforeStart !== NOWHERE) {
        end = copied(prefix, 0, prefix.length, bytes, end);
        bytes[end++] = PAIR_BYTE;
        end = copied(bytes, beforeStart, beforeEnd, bytes, end);
        bytes[end++] = PAIR_JOINT_BYTE;
        end = copied(bytes, wordStart, wordEnd, bytes, end);
      }
      beforeStart = wordStart;
      beforeEnd = wordEnd;
      wordStart = NOWHERE;
    }
    if (byte === IS_SPACE) beforeStart = NOWHERE;
  }
  terms.end = end;
  return true;
};

/** Writes the label as labelTerm does; false if a character must be escaped, or there are too many. */
const putPlainLabel = (label: Label): boolean => {
  let characters = 0;
  for (const part of label) characters += 1 + part.length;
  if (characters > LABEL_CHARACTERS_MAX) return false;
  const { prefix } = terms.of;
  makeRoom(prefix.length + characters);
  const { bytes } = terms;
  let end = copied(prefix, 0, prefix.length, bytes, terms.end);
  for (const part of label) {
    bytes[end++] = LABEL_JOINT;
    end = copiedPlain(part, bytes, end);
    if (end === NOWHERE) return false;
  }
  terms.end = end;
  return true;
};

/** Writes the labels of the periods that periodsOf names; false if a character is unexpected, or there is no such period. */
const putPeriods = (namedTime: NamedTime): boolean => {
  const { name, time } = namedTime;
  if (!isInPeriods(time)) return false;
  let known = terms.of.hours.get(name);
  if (known === undefined || !time.startsWith(known.hour)) {
    known = hourTerms(namedTime);
    if (known === undefined) return false;
    terms.of.hours.set(name, known);
  }
  const { hour, bytes: beginning } = known;
  makeRoom(beginning.length + MINUTE);
  const { bytes } = terms;
  bytes.set(beginning, terms.end);
  const end = copiedPeriod(time, hour.length, MINUTE, bytes, terms.end + beginning.length);
  if (end === NOWHERE) return false;
  terms.end = end;
  return true;
};

/** Times near each other share all of their periods except the minute. */
interface HourTerms {
  readonly hour: string;
  /** The terms of the periods from the year to the hour, and the part of the minute's term that the hour determines. */
  readonly bytes: Uint8Array;
}

const hourTerms = ({ name, time }: NamedTime): HourTerms | undefined => {
  const { prefix } = terms.of;
  const bytes = new Uint8Array(PERIOD_LENGTHS.length * (prefix.length + 2 + name.length + HOUR));
  let end = 0;
  for (const length of PERIOD_LENGTHS) {
    end = copied(prefix, 0, prefix.length, bytes, end);
    bytes[end++] = LABEL_JOINT;
    end = copiedPlain(name, bytes, end);
    if (end === NOWHERE) return undefined;
    bytes[end++] = LABEL_JOINT;
    end = copiedPeriod(time, 0, Math.min(length, HOUR), bytes, end);
    if (end === NOWHERE) return undefined;
  }
  return { hour: time.slice(0, HOUR), bytes: bytes.subarray(0, end) };
};

/** Returns the end of the copy, or NOWHERE if a character cannot be in a label, or there is none. */
const copiedPeriod = (time: string, start: number, stop: number, to: Uint8Array, at: number): number => {
  let end = at;
  for (let index = start; index < stop; index++) {
    const byte = ASCII_IN_LABELS[time.charCodeAt(index)] ?? 0;
    if (byte === 0) return NOWHERE;
    to[end++] = byte;
  }
  return end;
};

/** Returns the end of the copy, or NOWHERE if a character cannot be in a label unescaped. */
const copiedPlain = (text: string, to: Uint8Array, at: number): number => {
  let end = at;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0 || ASCII_IN_LABELS[code] !== code) return NOWHERE;
    to[end++] = code;
  }
  return end;
};

/** Returns the end of the copy. For a few bytes a loop is faster than a call of `set`. */
const copied = (from: Uint8Array, start: number, stop: number, to: Uint8Array, at: number): number => {
  let end = at;
  for (let index = start; index < stop; index++) to[end++] = from[index] ?? 0;
  return end;
};

const NOWHERE = -1;
const SPACE = 0x20;
const NINE = 0x39;
const PAIR_JOINT_BYTE = PAIR_JOINT.charCodeAt(0);
const LETTERS_BYTE = LETTERS_KIND.charCodeAt(0);
const DIGITS_BYTE = DIGITS_KIND.charCodeAt(0);
const PAIR_BYTE = PAIR_KIND.charCodeAt(0);
const LABEL_JOINT = 0x3d;

const ascii = (byteOf: (character: string) => number): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => byteOf(String.fromCharCode(code).toLowerCase()));

const IS_SPACE = 1;
/** For each character: what it is in a word, or that it is white space; 0 if it only separates words. */
const ASCII_IN_WORDS = ascii((character) => {
  if (/[a-z0-9]/.test(character)) return character.charCodeAt(0);
  return /\s/.test(character) ? IS_SPACE : 0;
});

/** For each character: the character that represents it in a label; 0 for none. */
const ASCII_IN_LABELS = ascii((character) => (/[a-z0-9_.:-]/.test(character) ? character.charCodeAt(0) : 0));
