/** Markdown that both a forge and vitepress show as meant. */

/** Text outside code spans: vitepress compiles pages as Vue templates, where `<tenant>` is an element and `{{` an expression. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : escaped(part)))
    .join("");

const escaped = (text: string): string =>
  text.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;").replaceAll("*", "\\*");

export const code = (text: string): string => `\`${text}\``;

export const codes = (texts: readonly string[], separator = ", "): string => texts.map(code).join(separator);

/** A cell is Markdown; only what would end it is escaped. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A page of the reference, with the note that it is generated. */
export const page = (title: string, ...blocks: readonly string[]): string =>
  `${[`# ${title}`, "<!-- Generated from the code by `bun run docs:reference`. Do not edit. -->", ...blocks].join("\n\n")}\n`;
