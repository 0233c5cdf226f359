import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as limits from "../../src/limits.ts";
import { LIMITS_FOR_CLIENTS } from "./limits-for-clients.ts";
import { code, page, prose, table } from "./markdown.ts";
import { countText, durationText, sizeText } from "./units.ts";

export const limitsPage = (): string =>
  page(
    "Limits",
    "What is above a limit is refused, and the answer names the limit. Nothing is cut in silence.",
    table(["what", "limit"], LIMITS_FOR_CLIENTS),
    "## Every constant",
    "All numbers that bound something, from `src/limits.ts`, for whoever runs the service.",
    table(["name", "value", "meaning"], constants()),
  );

const source = resolve(import.meta.dir, "../../src/limits.ts");
const COMMENT_OR_CONSTANT = /\/\*\*([\s\S]*?)\*\/|^export const (\w+)/gm;

/** A comment stands for the constants below it, up to the next comment. */
const constants = (): readonly (readonly string[])[] => {
  const values: Readonly<Record<string, unknown>> = limits;
  const rows: (readonly string[])[] = [];
  let meaning = "";
  for (const [, comment, name] of readFileSync(source, "utf8").matchAll(COMMENT_OR_CONSTANT)) {
    if (comment !== undefined) meaning = sentence(comment);
    const value = name === undefined ? undefined : values[name];
    if (name !== undefined && typeof value === "number")
      rows.push([code(name), valueText(name, value), prose(meaning)]);
  }
  return rows;
};

const sentence = (comment: string): string =>
  comment
    .replace(/\n\s*\* ?/g, " ")
    .replace(/\s+/g, " ")
    .replace(/ \((?:SPEC|DESIGN)[^)]*\)/g, "")
    .trim();

const valueText = (name: string, value: number): string => {
  if (/(^|_)BYTES(_|$)/.test(name)) return sizeText(value);
  if (/(^|_)MS(_|$)/.test(name)) return durationText(value);
  if (/(^|_)SECONDS(_|$)/.test(name)) return durationText(value * 1000);
  return countText(value);
};
