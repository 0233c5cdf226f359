/** Names come from others: a terminal must not interpret them as commands, nor a table as a new line. */
export const printable = (text: string): string =>
  text.replaceAll(STEERING, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Control characters, characters that change the direction of text or are invisible, and line endings. */
export const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The same for text with intended line breaks. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/**
 * JSON for a terminal, with the same value. Outside strings such characters are white space; inside strings they may be written as escapes (RFC 8259
 * §2 and §7). A carriage return between members would overwrite the line.
 */
export const printableJson = (text: string): string => printableDocuments(text).replaceAll("\r", " ");

/** The same for JSON that this program wrote, and for the progress bar beside it, which begins with a carriage return. */
export const printableDocuments = (text: string): string =>
  text.replaceAll(STEERING, (character) => ("\n\t\r".includes(character) ? character : escaped(character)));

/** As a JSON escape for each UTF-16 unit (RFC 8259 §7). */
export const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
