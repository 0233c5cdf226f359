/**
 * Words for full-text search. Text is split into words only here, so that every database finds the same; a database only stores and compares these
 * words.
 *
 * A word is a run of letters and digits, without case and in compatibility form (NFKC). Two words without white space between them also form a pair:
 * so `dec_42` is found by `dec`, by `42`, and as a whole by `dec_42`. A word consists of letters, digits and their marks only, a pair of two words
 * and one `_`: nothing that a customer wrote can mean anything else to a database.
 */
import { WORD_CHARACTERS_MAX } from "../limits.ts";

/** The words and pairs of a text in its order, with repetitions. A pair follows its second word. */
export const words = (text: string, countMax = Number.POSITIVE_INFINITY): readonly string[] => {
  const found: string[] = [];
  addWords(text, found, countMax);
  return found;
};

export const wordsOfAll = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => words(text));

/** An upper bound of the words and pairs in the text, found without splitting it: n words have something between them, and n - 1 pairs. */
export const wordsAtMost = (text: string): number =>
  isSimple(text) ? text.length : text.length * FOLDED_CHARACTERS_MAX;

/** The terms that an event must have to match the whole text: for words that form pairs, only the pairs. */
export const wordsToMatch = (found: readonly string[]): readonly string[] =>
  found.filter((word, index) => isPair(word) || !(isPair(found[index + 1]) || isPair(found[index + 2])));

/** Adds the terms of `words` until there are `countMax`: a text may be a thousand times as long as needed. */
export const addWords = (text: string, found: string[], countMax: number): void => {
  if (isSimple(text)) addSimpleWords(text.toLowerCase(), found, countMax);
  else addFoldedWords(fold(text), found, countMax);
};

const isPair = (word: string | undefined): boolean => word?.includes(PAIR_JOINT) === true;

export const PAIR_JOINT = "_";
/** A mark belongs to the letter before it: otherwise Hindi words would be split. */
const RUN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const WHITE_SPACE = /\s/;

/** The most characters that one may become: 18 in compatibility form (U+FDFA), and each of those 3 in upper case. */
const FOLDED_CHARACTERS_MAX = 54;

/**
 * Normalization sorts consecutive marks by moving each back over those before it, so that one letter with 64,000 marks takes half a minute (measured
 * on Bun 1.4.5). Unicode recommends a limit for this reason (UAX #15, "Stream-Safe Text Format"). Two letters are marks only in compatibility form.
 */
const MARKS_BEYOND_WORD = new RegExp(
  `([\\p{M}\uFF9E\uFF9F]{${WORD_CHARACTERS_MAX}})[\\p{M}\uFF9E\uFF9F]+`,
  "gu",
);

/**
 * Upper case first, because only then does `ß` become `SS`, which neither case of its capital `ẞ` does. `ς` is the form of `σ` at the end of a word.
 */
const fold = (text: string): string =>
  text
    .replaceAll(MARKS_BEYOND_WORD, "$1")
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll("ẞ", "SS")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFKC");

const addFoldedWords = (folded: string, found: string[], countMax: number): void => {
  let before = "";
  let end = 0;
  for (const { 0: run, index } of folded.matchAll(RUN)) {
    if (WHITE_SPACE.test(folded.slice(end, index))) before = "";
    before = add(run, before, found);
    end = index + run.length;
    if (found.length >= countMax) break;
  }
  cutAt(found, countMax);
};

/** Adds a word and its pair with the one before; returns the word. */
const add = (run: string, before: string, found: string[]): string => {
  const word = run.length <= WORD_CHARACTERS_MAX ? run : beginOf(run);
  found.push(word);
  if (before !== "") found.push(before + PAIR_JOINT + word);
  return word;
};

/** A character takes at most two places in a text. So what is behind the needed part, up to a whole text without spaces, is not looked at. */
const beginOf = (run: string): string =>
  [...run.slice(0, 2 * WORD_CHARACTERS_MAX)].slice(0, WORD_CHARACTERS_MAX).join("");

const cutAt = (found: string[], countMax: number): void => {
  if (found.length > countMax) found.length = countMax;
};

/**
 * ASCII, Hangul and common Chinese characters, for which folding is only lower case and white space is only that of ASCII. A loop over their codes
 * takes a quarter of the time of the expressions above (measured), and this is done for every text of every event.
 */
const isSimple = (text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f && !(code >= 0x4e00 && code <= 0x9fff) && !(code >= 0xac00 && code <= 0xd7a3))
      return false;
  }
  return true;
};

const addSimpleWords = (text: string, found: string[], countMax: number): void => {
  let before = "";
  let start = -1;
  for (let index = 0; index < text.length; index++) {
    const kind = kindOf(text.charCodeAt(index));
    if (kind === IN_WORD) {
      if (start < 0) start = index;
      continue;
    }
    if (start >= 0) before = add(text.slice(start, index), before, found);
    if (kind === IS_SPACE) before = "";
    start = -1;
    if (found.length >= countMax) break;
  }
  if (start >= 0) add(text.slice(start), before, found);
  cutAt(found, countMax);
};

const IN_WORD = 1;
const IS_SPACE = 2;

const ASCII_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z0-9]/.test(character)) return IN_WORD;
  return WHITE_SPACE.test(character) ? IS_SPACE : 0;
});

const kindOf = (code: number): number => ASCII_KINDS[code] ?? IN_WORD;
