/**
 * `bun run build`: the whole service as one file, which needs neither this folder nor Bun. Everything that the program reads from its own source must
 * be part of it: modules are by themselves, files for browsers by a module of their own.
 */
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { compileExecutable } from "../../runtime/compile.ts";
import { readBrowserFiles } from "../browser-files.ts";
import { runBuild } from "./build-command.ts";

const ENTRY = "src/cli/main.ts";
const EMBEDDED_FILES = "src/service/embedded-files.ts";
const OUTFILE = "dist/prooftrail";

const USAGE = `Usage: bun run build [--outfile <path>] [--target <platform>]
  --outfile   where to; ${OUTFILE} of this repository unless said
  --target    for another platform, such as bun-linux-arm64 or bun-darwin-arm64: Bun fetches its program for it
`;

await runBuild({
  options: { outfile: { type: "string" }, target: { type: "string" } },
  usage: USAGE,
  what: "The executable",
  build: async (given) => {
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const outfile = given.outfile === undefined ? resolve(root, OUTFILE) : resolve(given.outfile);
    await mkdir(dirname(outfile), { recursive: true });
    // Stack traces name files from here, and paths below begin here.
    process.chdir(root);
    const files = JSON.stringify(await readBrowserFiles());
    const replaced = { path: resolve(EMBEDDED_FILES), text: `export const embeddedFiles = ${files};` };
    await compileExecutable({ entry: resolve(ENTRY), outfile, target: given.target, replaced });
    return outfile;
  },
});
