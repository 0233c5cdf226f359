/** HTML in which every inserted text is escaped; only the results of `html` and `breakable` are inserted as they are. */

export interface Html {
  readonly html: string;
}

type Part = Html | string | number | readonly Html[];

export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => {
  let page = texts[0] ?? "";
  for (let index = 0; index < parts.length; index++)
    page += written(parts[index] ?? "") + (texts[index + 1] ?? "");
  return { html: page };
};

const written = (part: Part): string => {
  if (typeof part === "string") return escaped(part);
  if (typeof part === "number") return String(part);
  return "html" in part ? part.html : part.map((each) => each.html).join("");
};

/** Allows line breaks behind the parts of a name, before it breaks anywhere. */
export const breakable = (text: string): Html => ({
  html: escaped(text).replaceAll(/[._/:-](?!$)/g, "$&<wbr>"),
});

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Invisible and direction-changing characters are shown by number: a name must not change what the page says. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** Most texts need no escape, and a page has thousands. */
const PLAIN = /^[\w .,:;/()+=-]*$/;

const escaped = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text
        .toWellFormed()
        .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "")
        .replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
