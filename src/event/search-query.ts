/** The parameter `q`: words separated by white space, all of which must occur; `credit*` stands for every word that begins with it. */
import { SEARCH_CHARACTERS_MAX, SEARCH_PREFIX_CHARACTERS_MIN, SEARCH_WORDS_MAX } from "../limits.ts";
import { isWithinCharacters } from "./formats.ts";
import { type WantedWords, wantedWords } from "./words.ts";

/** Distinct and sorted, so that equal queries are equal texts. */
export type SearchWords = WantedWords;

export type ReadSearchText = { readonly value: SearchWords } | { readonly message: string };

export const readSearchText = (text: string): ReadSearchText => {
  if (!isWithinCharacters(text, 1, SEARCH_CHARACTERS_MAX))
    return invalid(`q has 1 to ${SEARCH_CHARACTERS_MAX} characters.`);
  if (QUOTATION_MARK.test(text))
    return invalid("q takes no phrases: send the words without quotation marks, all of them must occur.");
  const parts = text.split(/\s+/).map(readPart);
  if (parts.includes("misplaced_star"))
    return invalid(
      `In q, * stands at the end of a word, after at least ${SEARCH_PREFIX_CHARACTERS_MIN} letters or digits: credit*`,
    );
  const found = parts.filter((part) => part !== "misplaced_star" && part !== "nothing");
  if (found.length === 0)
    return invalid("q has no word: send letters or digits, for example credit or dec_42.");
  if (found.length > SEARCH_WORDS_MAX) return invalid(`q has at most ${SEARCH_WORDS_MAX} words.`);
  const value = {
    words: inOrder(found.flatMap((part) => part.words)),
    prefixes: inOrder(found.flatMap((part) => part.prefixes)),
  };
  return { value };
};

const QUOTATION_MARK = /["“”„«»]/;

const readPart = (part: string): SearchWords | "nothing" | "misplaced_star" => {
  const isOpen = part.endsWith("*");
  const text = isOpen ? part.slice(0, -1) : part;
  if (text.includes("*")) return "misplaced_star";
  if (isOpen && !ENDS_IN_WORD.test(text.normalize("NFKC"))) return "misplaced_star";
  const wanted = wantedWords(text, isOpen);
  if (isOpen && wanted.prefixes.some(isShort)) return "misplaced_star";
  return wanted.words.length + wanted.prefixes.length === 0 ? "nothing" : wanted;
};

/** One letter would match half of all words; one character of a script without spaces does not. */
const isShort = (prefix: string): boolean =>
  prefix.length < SEARCH_PREFIX_CHARACTERS_MIN && /[a-z0-9]/.test(prefix);

const ENDS_IN_WORD = /[\p{L}\p{N}\p{M}]$/u;

const inOrder = (found: readonly string[]): readonly string[] => [...new Set(found)].sort();

const invalid = (message: string): ReadSearchText => ({ message });
