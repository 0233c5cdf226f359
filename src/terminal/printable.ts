/** Names come from others: a terminal must not take them for commands, nor a table for a new line. */
export const printable = (text: string): string =>
  text.replaceAll(STEERING, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Controls, what changes the direction of text or is not seen, and what ends a line. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The same of text in lines that are meant. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/**
 * JSON for a terminal, of the same value: outside of its texts such characters are white space alone, in them they may be written as escapes (RFC 8259 §2 and
 * §7). A carriage return between members would have the line written over.
 */
export const printableJson = (text: string): string => printableDocuments(text).replaceAll("\r", " ");

/** The same of JSON that this program wrote, and of the bar that is drawn beside it, which begins with a carriage return. */
export const printableDocuments = (text: string): string =>
  text.replaceAll(STEERING, (character) => ("\n\t\r".includes(character) ? character : escaped(character)));

/** As JSON escapes it, unit by unit (RFC 8259 §7). */
export const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");

const LINE_END_OR_STEERING = new RegExp(`\\r?\\n|${STEERING.source}`, STEERING.flags);

/** CSV for a terminal, part by part: its ends of lines stay. */
export const createPrintableCsv = (): ((part: string) => string) => {
  let held = "";
  return (part) => {
    const text = held + part;
    // Whether it ends a line shows with what comes next.
    held = text.endsWith("\r") ? "\r" : "";
    return text
      .slice(0, text.length - held.length)
      .replaceAll(LINE_END_OR_STEERING, (found) => (found.endsWith("\n") ? found : printable(found)));
  };
};
