/**
 * Stores texts of customers in text columns so that every JavaScript string comes back unchanged. PostgreSQL refuses U+0000, Deno's node:sqlite
 * truncates a text there when reading (measured, 2.9.6), and UTF-8 cannot represent half a surrogate pair: two different texts would become one.
 *
 * These characters are written as ESC and three hexadecimal digits. ESC, because the JSON text of an event cannot contain it unescaped (RFC 8259 §7),
 * so that the events themselves are stored byte for byte. Three digits, so that none takes more than four bytes, the most that UTF-8 takes for any
 * other character: an index row of PostgreSQL has room for 2704. They are enough, because halves of pairs are counted from U+D000 on, U+D800 as 800,
 * and the others are below that.
 */
const ESCAPE = "\u001b";
const DIGITS = 3;
const HALVES_FROM = 0xd000;
const FIRST_HALF = 0xd800;

/** Halves of pairs are among these even where both halves are there. */
const UNUSUAL = new RegExp(`[\0${ESCAPE}\ud800-\udfff]`);
/** Up to this length one look for all of them takes half the time of three (measured). */
const SHORT_CHARACTERS_MAX = 100;

export const toStoredText = (text: string): string => {
  if (text.length <= SHORT_CHARACTERS_MAX && !UNUSUAL.test(text)) return text;
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  let stored = "";
  for (const character of text) stored += isStorable(character) ? character : escapeOf(character);
  return stored;
};

/** The order of texts in the databases: by the bytes of what is stored. */
export const compareStored = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(toStoredText(one)), Buffer.from(toStoredText(other)));

export const fromStoredText = (stored: string): string => {
  if (!stored.includes(ESCAPE)) return stored;
  const [head = "", ...escaped] = stored.split(ESCAPE);
  return head + escaped.map((part) => characterOf(part.slice(0, DIGITS)) + part.slice(DIGITS)).join("");
};

const isStorable = (character: string): boolean =>
  character !== "\0" && character !== ESCAPE && character.isWellFormed();

const escapeOf = (character: string): string => {
  const code = character.charCodeAt(0);
  return ESCAPE + (code < FIRST_HALF ? code : code - HALVES_FROM).toString(16).padStart(DIGITS, "0");
};

const characterOf = (digits: string): string => {
  const code = Number.parseInt(digits, 16);
  return String.fromCharCode(code < FIRST_HALF - HALVES_FROM ? code : code + HALVES_FROM);
};
