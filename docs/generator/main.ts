/** `bun run docs:reference`: writes the pages of docs/reference, and what README says of an event. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withEvent } from "./readme-event.ts";
import { referencePages } from "./reference-pages.ts";

const folder = resolve(import.meta.dir, "../reference");
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) rmSync(join(folder, name));
for (const [name, text] of Object.entries(referencePages())) writeFileSync(join(folder, name), text);

const readme = resolve(import.meta.dir, "../../README.md");
writeFileSync(readme, withEvent(readFileSync(readme, "utf8")));
