/** HTML in which every inserted text is escaped; only the results of `html` itself are inserted as they are. */

export interface Html {
  readonly html: string;
}

type Part = Html | string | number | readonly Html[];

export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.reduce(
    (page, text, index) => page + (index === 0 ? "" : written(parts[index - 1] ?? "")) + text,
    "",
  ),
});

const written = (part: Part): string => {
  if (typeof part === "string") return escaped(part);
  if (typeof part === "number") return String(part);
  return "html" in part ? part.html : part.map((each) => each.html).join("");
};

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that change the direction of text or that are invisible are shown by their number: a name must not make the page say something else. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "")
    .replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
