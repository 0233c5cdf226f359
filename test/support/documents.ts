/** Reads the documents, for tests that compare them with the code. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dir, "../..");

export const read = (path: string): string => readFileSync(join(root, path), "utf8");

export const section = (document: string, heading: string): string =>
  read(document).split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";

/** The rows of a table, without its head. */
export const rows = (text: string): string[][] => lines(text).slice(1);

/** The rows of the table whose head begins with this cell, the head first. */
export const table = (document: string, firstCell: string): string[][] => {
  const [, behind = ""] = read(document).split(`\n| ${firstCell} |`);
  return lines(`| ${firstCell} |${behind.split("\n\n")[0]}`);
};

const lines = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("|---"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    );
