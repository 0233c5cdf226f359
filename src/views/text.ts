/**
 * Texts of customers in the text columns of a database, so that every JavaScript string comes back as it went in.
 * PostgreSQL refuses U+0000, Deno's node:sqlite cuts a text there when reading (measured, 2.9.6), and UTF-8 has no
 * form for half a surrogate pair: two different texts would become one.
 *
 * These characters are written as ESC and four hexadecimal digits. ESC because the JSON text of an event cannot hold it
 * unescaped (RFC 8259 §7), so the events themselves are stored byte for byte.
 */
const ESCAPE = "\u001b";

export const toStoredText = (text: string): string => {
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  let stored = "";
  for (const character of text) stored += isStorable(character) ? character : escapeOf(character);
  return stored;
};

/** As the databases order texts: by the bytes of what is stored. */
export const compareStored = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(toStoredText(one)), Buffer.from(toStoredText(other)));

export const fromStoredText = (stored: string): string => {
  if (!stored.includes(ESCAPE)) return stored;
  const [head = "", ...escaped] = stored.split(ESCAPE);
  return head + escaped.map((part) => characterOf(part.slice(0, 4)) + part.slice(4)).join("");
};

const isStorable = (character: string): boolean =>
  character !== "\0" && character !== ESCAPE && character.isWellFormed();

const escapeOf = (character: string): string =>
  ESCAPE + character.charCodeAt(0).toString(16).padStart(4, "0");

const characterOf = (digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));
