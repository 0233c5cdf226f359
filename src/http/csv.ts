/** CSV by RFC 4180, safe to open in a spreadsheet. Pure. */

/** Spreadsheets take a file without it for another encoding than UTF-8. */
export const CSV_START = "\uFEFF";

export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;

/**
 * A spreadsheet runs a cell that begins with one of these, and some pass over white space and unseen characters before it. An
 * apostrophe in front makes it text (OWASP, "CSV Injection").
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

/** More than RFC 4180 asks for: where the semicolon parts cells, or spaces are cut off, a cell stays one as well. */
const NEEDS_QUOTES = /[",;\r\n\t]|^\s|\s$/;

const csvCell = (text: string): string => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
