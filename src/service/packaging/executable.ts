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
import { buildOptions } from "./build-options.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const given = buildOptions(
  { outfile: { type: "string" }, target: { type: "string" } },
  `Usage: bun run build [--outfile <path>] [--target <platform>]
  --outfile   where to; default dist/prooftrail of this repository
  --target    for another platform, such as bun-linux-arm64 or bun-darwin-arm64: Bun fetches its program for it
`,
);
const outfile = resolve(given.outfile ?? resolve(root, "dist/prooftrail"));
await mkdir(dirname(outfile), { recursive: true });
// Stack traces name files from here, and paths below begin here.
process.chdir(root);
await compileExecutable({
  entry: resolve("src/cli/main.ts"),
  outfile,
  target: given.target,
  replaced: {
    path: resolve("src/service/embedded-files.ts"),
    text: `export const embeddedFiles = ${JSON.stringify(await readBrowserFiles())};`,
  },
});
process.stdout.write(`${outfile}\n`);
