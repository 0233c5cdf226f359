/**
 * Words for full-text search: the only place that splits text, so that every database finds the same.
 *
 * A word is a run of letters and digits, without case and in compatibility form (NFKC). Two words with neither white space nor a script without spaces
 * between them also form a pair: `dec_42` is found by `dec`, by `42`, and as a whole. Scripts that put no spaces between words, or join particles to
 * them (Korean), are split into overlapping pairs of characters, so that a part of a run is found as well. Words consist of letters, digits, their
 * marks and `_`: nothing that a customer wrote can mean anything else to a database.
 */
import { WORD_CHARACTERS_MAX } from "../limits.ts";

/** What a text must have to be found by another text. */
export interface WantedWords {
  readonly words: readonly string[];
  readonly prefixes: readonly string[];
}

/** The words of a text in its order, with repetitions. */
export const words = (text: string): readonly string[] => {
  const found: string[] = [];
  for (const part of partsOf(text)) {
    if (part.kind === "characters") for (const pair of pairsOf(part.characters)) found.push(pair);
    else if (part.before === "") found.push(part.word);
    else found.push(part.word, whole(part));
  }
  return found;
};

/** Of words that form pairs only the pairs. `isOpen`: the last word may go on. */
export const wantedWords = (text: string, isOpen = false): WantedWords => {
  const parts = partsOf(text);
  const found: string[] = [];
  const prefixes: string[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.kind === "characters") {
      const pairs = pairsOf(part.characters);
      // One character begins a pair wherever it stands.
      if (part.characters.length === 1) prefixes.push(...pairs);
      else found.push(...pairs.slice(0, -1));
      continue;
    }
    const next = parts[index + 1];
    const isInNext = part.before === "" && next?.kind === "word" && next.before !== "";
    if (!isInNext) (isOpen && !next ? prefixes : found).push(whole(part));
  }
  return { words: found, prefixes };
};

type Part =
  /** `before`: the word with which it forms a pair; empty if there is none. */
  | { readonly kind: "word"; readonly word: string; readonly before: string }
  | { readonly kind: "characters"; readonly characters: readonly string[] };

export const PAIR_JOINT = "_";

const whole = ({ word, before }: Extract<Part, { kind: "word" }>): string =>
  before === "" ? word : before + PAIR_JOINT + word;

/** One for each character: the last one stands alone, so that each character begins one. */
const pairsOf = (characters: readonly string[]): readonly string[] =>
  characters.map((character, index) => character + (characters[index + 1] ?? ""));

const partsOf = (text: string): readonly Part[] => {
  const parts: Part[] = [];
  let before = "";
  const runs = ASCII.test(text) ? text.toLowerCase().match(ASCII_RUN) : fold(text).match(RUN);
  for (const run of runs ?? []) {
    if (STARTS_WHITE.test(run)) {
      before = "";
    } else if (STARTS_UNSPACED.test(run)) {
      parts.push({ kind: "characters", characters: run.match(CHARACTER) ?? [] });
      before = "";
    } else {
      const word = run.length <= WORD_CHARACTERS_MAX ? run : beginOf(run);
      parts.push({ kind: "word", word, before });
      before = word;
    }
  }
  return parts;
};

const ASCII = /^[\0-\x7f]*$/;
const ASCII_RUN = /[a-z0-9]+|\s+/g;
const STARTS_WHITE = /^\s/;

/** A mark belongs to the letter before it: otherwise Hindi words would be split. */
const UNSPACED = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{N}]]`;
const SPACED = String.raw`[[\p{L}\p{N}]--${UNSPACED}]`;
const RUN = new RegExp(String.raw`(?:${UNSPACED}\p{M}*)+|${SPACED}(?:${SPACED}|\p{M})*|\s+`, "gv");
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, "v");
const CHARACTER = /\P{M}\p{M}{0,16}/gu;

/**
 * Normalization sorts consecutive marks by moving each back over those before it, so that one letter with 64,000 marks takes half a minute (measured
 * on Bun 1.4.5). Unicode recommends a limit for this reason (UAX #15, "Stream-Safe Text Format"). Two letters are marks only in compatibility form.
 */
const MARKS_BEYOND_WORD = new RegExp(
  `([\\p{M}\uFF9E\uFF9F]{${WORD_CHARACTERS_MAX}})[\\p{M}\uFF9E\uFF9F]+`,
  "gu",
);

/**
 * Upper case first, because only then does `ß` become `SS`, which neither case of its capital `ẞ` does. `ς` is the form of `σ` at the end of a word;
 * Turkish `İ` and `ı` are an `i`.
 */
const fold = (text: string): string =>
  text
    .replaceAll(MARKS_BEYOND_WORD, "$1")
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll("ẞ", "SS")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replaceAll("i\u0307", "i")
    .normalize("NFKC");

/** A character takes at most two places in a text. So what is behind the needed part, up to a whole text without spaces, is not looked at. */
const beginOf = (run: string): string =>
  [...run.slice(0, 2 * WORD_CHARACTERS_MAX)].slice(0, WORD_CHARACTERS_MAX).join("");
