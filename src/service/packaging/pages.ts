/** `bun run build:pages`: the pages for browsers as one file, for runtimes that cannot bundle them. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { BUILT_FILES, readBrowserFiles } from "../browser-files.ts";

const path = fileURLToPath(new URL(`../../../${BUILT_FILES}`, import.meta.url));
await mkdir(dirname(path), { recursive: true });
await writeFile(path, JSON.stringify(await readBrowserFiles()));
process.stdout.write(`${path}\n`);
