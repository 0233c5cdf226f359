/** CSV by RFC 4180, safe to open in a spreadsheet. Pure. */

/** Byte order mark: without it spreadsheets assume another encoding than UTF-8. */
export const CSV_START = "\uFEFF";

export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;

/**
 * A spreadsheet evaluates a cell that begins with one of these, and some skip white space and invisible characters before it. A leading
 * apostrophe makes it text (OWASP, "CSV Injection").
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

/** More than RFC 4180 requires: a cell also stays whole where semicolons separate cells or spaces are trimmed. */
const NEEDS_QUOTES = /[",;\r\n\t]|^\s|\s$/;

/** Neither: what most cells are. */
const PLAIN = /^\w[\w.:/+-]*$/;

const csvCell = (text: string): string => {
  if (text === "" || PLAIN.test(text)) return text;
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
