/** The entries of a list as the lines of a file. */
import { CSV_START, csvRow } from "./csv.ts";
import type { ExportFile, FileFormat } from "./downloads.ts";

export type Entry = Readonly<Record<string, unknown>>;

/** Each page of entries becomes one text. */
export const entryFile = (
  format: FileFormat,
  columns: readonly string[],
  pages: AsyncGenerator<readonly Entry[]>,
): Pick<ExportFile, "format" | "next"> => {
  const lineOf =
    format === "csv" ? (entry: Entry) => csvRow(columns.map((name) => cellOf(entry[name]))) : ndjsonLine;
  let start = format === "csv" ? CSV_START + csvRow(columns) : "";
  return {
    format,
    next: async () => {
      const page = await pages.next();
      if (page.done && start === "") return undefined;
      const text = start + (page.done ? [] : page.value).map(lineOf).join("");
      start = "";
      return text;
    },
  };
};

const ndjsonLine = (entry: Entry): string => `${JSON.stringify(entry)}\n`;

/** What has no value is empty; a list or an object is JSON. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** The other forms of a list, for its documentation. */
export const fileForms = (columns: readonly string[], example: Entry) => [
  {
    mediaType: "text/csv",
    example: CSV_START + csvRow(columns) + csvRow(columns.map((name) => cellOf(example[name]))),
  },
  { mediaType: "application/x-ndjson", example: ndjsonLine(example) },
];
