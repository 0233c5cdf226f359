/** The number of terminal columns of a text. Pure. */

/** East Asian wide and fullwidth characters and emoji take two (Unicode UAX #11, the blocks in use). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u;

const widthOf = (character: string): number => {
  if (NONE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
};

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

/** Truncated to the width, with `…` for what is left out. */
export const cutTo = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text;
  let kept = "";
  let taken = 1;
  for (const character of text) {
    taken += widthOf(character);
    if (taken > width) break;
    kept += character;
  }
  return `${kept}…`;
};

/** Wraps at spaces into lines of at most this width; a longer word gets a line of its own. */
export const wrappedLines = (text: string, width: number): readonly string[] => {
  // Without this, a long line would be measured again for each of its words: an event of 256 KiB took many minutes to show.
  if (width === Number.POSITIVE_INFINITY) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
};
