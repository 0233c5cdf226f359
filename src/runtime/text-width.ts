/** The number of terminal columns of a text. Pure. */
import { eastAsianWidth } from "get-east-asian-width";

/** Combining marks and invisible characters. */
const NONE = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

const widthOf = (character: string): number =>
  NONE.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);

export const textWidth = (text: string): number => {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
};

/** Padded to the width; never cut. */
export const padded = (text: string, width: number, side: "left" | "right" = "left"): string => {
  const space = " ".repeat(Math.max(0, width - textWidth(text)));
  return side === "left" ? text + space : space + text;
};

/** Breaks at spaces only: a longer word, such as a command to copy, is a line of its own. */
export const wrappedLines = (text: string, width: number): readonly string[] =>
  broken(text.split(/(?<= )/), width);

/** Breaks at spaces, behind the joints of a name, and else anywhere. */
export const wrappedCell = (text: string, width: number): readonly string[] =>
  broken(
    text.split(/(?<=[ ._/-])/).flatMap((part) => (textWidth(part.trimEnd()) > width ? [...part] : [part])),
    width,
  );

const broken = (parts: readonly string[], width: number): readonly string[] => {
  // Without this, an event of 256 KiB would be measured part by part for nothing.
  if (width === Number.POSITIVE_INFINITY) return [parts.join("")];
  const lines: string[] = [];
  let line = "";
  let columns = 0;
  for (const part of parts) {
    if (line !== "" && columns + textWidth(part.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = "";
      columns = 0;
    }
    line += part;
    columns += textWidth(part);
  }
  return [...lines, line.trimEnd()];
};
