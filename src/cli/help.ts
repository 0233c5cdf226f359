/** The parts of a command's help that commander does not write: paragraphs, examples and exit codes. Pure. */

import { wrappedLines } from "../terminal/text-width.ts";
import type { CommandGroup, CommandSpec } from "./command.ts";
import { EXIT_MEANINGS } from "./exit-codes.ts";

/** Help fits the narrowest terminal in use. */
export const HELP_COLUMNS = 80;

export const descriptionText = ({ summary, description = [] }: CommandSpec): string =>
  [`${summary}.`, ...description].join("\n\n");

export const afterHelp = (spec: CommandSpec): string =>
  `\nExamples:\n${spec.examples.map(exampleText).join("")}\n${exitCodesText(spec.exitMeanings)}`;

export const groupHelp = ({ examples }: CommandGroup): string =>
  `${examples ? `\nExamples:\n${examples.map(exampleText).join("")}` : ""}\n${exitCodesText()}`;

const exampleText = ({ command, says }: CommandSpec["examples"][number]): string =>
  `${wrapped(says, "  # ")}${command
    .split("\n")
    .map((line) => `  ${line}\n`)
    .join("")}`;

const exitCodesText = (meanings: CommandSpec["exitMeanings"] = EXIT_MEANINGS): string => {
  const width = Math.max(...meanings.map(([code]) => String(code).length));
  const rows = meanings.map(([code, meaning]) =>
    wrapped(meaning, `  ${String(code).padEnd(width)}  `, " ".repeat(width + 4)),
  );
  return `Exit codes:\n${rows.join("")}`;
};

/** Lines of at most HELP_COLUMNS. The first starts with `first`, the others with `next`, which has the same length. */
const wrapped = (text: string, first: string, next = first): string =>
  wrappedLines(text, HELP_COLUMNS - first.length)
    .map((line, index) => `${index === 0 ? first : next}${line}\n`)
    .join("");
