/**
 * Words for full-text search. Texts are cut into words here and nowhere else, so that every database finds the same; a database only
 * holds and compares what comes from here.
 *
 * A word is a run of letters and digits, without case and in compatibility form (NFKC). Where no white space stands between two words they make
 * a pair besides: so `dec_42` is found by `dec`, by `42`, and as a whole by `dec_42`. A word is made of letters, digits and their marks
 * only, a pair of two words and one `_`: nothing that a customer wrote can be anything else to a database.
 */
import { WORD_CHARACTERS_MAX } from "../limits.ts";

/** The words and pairs of a text in its order, repetitions included. A pair stands behind its second word. */
export const words = (text: string, countMax = Number.POSITIVE_INFINITY): readonly string[] => {
  const found: string[] = [];
  addWords(text, found, countMax);
  return found;
};

export const wordsOfAll = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => words(text));

/** No more words and pairs stand in the text, told without cutting it: n words have something between them, and n - 1 pairs. */
export const wordsAtMost = (text: string): number =>
  isSimple(text) ? text.length : text.length * FOLDED_CHARACTERS_MAX;

/** What an event must hold to match all of a text: of words that stand in pairs, only the pairs. */
export const wordsToMatch = (found: readonly string[]): readonly string[] =>
  found.filter((word, index) => isPair(word) || !(isPair(found[index + 1]) || isPair(found[index + 2])));

/** Adds what `words` gives, until there are `countMax`: a text may be a thousand times as long as what is wanted of it. */
export const addWords = (text: string, found: string[], countMax: number): void => {
  if (isSimple(text)) addSimpleWords(text.toLowerCase(), found, countMax);
  else addFoldedWords(fold(text), found, countMax);
};

const isPair = (word: string | undefined): boolean => word?.includes(PAIR_JOINT) === true;

export const PAIR_JOINT = "_";
/** A mark belongs to the letter before it: without these the words of Hindi would be cut apart. */
const RUN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const WHITE_SPACE = /\s/;

/** What one character may become: 18 in compatibility form (U+FDFA), and each of those 3 in upper case. */
const FOLDED_CHARACTERS_MAX = 54;

/**
 * Marks behind each other are put in order by going back over those before, so that one letter with 64,000 of them takes half a minute (measured on
 * Bun 1.4.5). Unicode bounds them for that as well (UAX #15, "Stream-Safe Text Format"). Two letters are marks only in compatibility form.
 */
const MARKS_BEYOND_WORD = new RegExp(
  `([\\p{M}\uFF9E\uFF9F]{${WORD_CHARACTERS_MAX}})[\\p{M}\uFF9E\uFF9F]+`,
  "gu",
);

/** Upper case first, because only in it `ß` is `SS`, which its own capital `ẞ` is in neither. `ς` is how `σ` is written at the end of a word. */
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

/** Adds a word and its pair with the one before; gives the word. */
const add = (run: string, before: string, found: string[]): string => {
  const word = run.length <= WORD_CHARACTERS_MAX ? run : beginOf(run);
  found.push(word);
  if (before !== "") found.push(before + PAIR_JOINT + word);
  return word;
};

/** A character takes two places in a text at most: what is behind them all, up to a whole text without spaces, need not be looked at. */
const beginOf = (run: string): string =>
  [...run.slice(0, 2 * WORD_CHARACTERS_MAX)].slice(0, WORD_CHARACTERS_MAX).join("");

const cutAt = (found: string[], countMax: number): void => {
  if (found.length > countMax) found.length = countMax;
};

/**
 * ASCII, Hangul and common Chinese characters, where folding is only lower case and white space is only ASCII's. A loop over their codes
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
