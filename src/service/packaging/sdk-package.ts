/**
 * `bun run build:sdk`: the SDK as a package for Node, Bun and Deno, in one file that can be installed or published. The compiler makes one JavaScript
 * file of each module, and the package declares that none has side effects, so that a bundler can leave out whole modules.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { version } from "../version.ts";
import { buildOptions } from "./build-options.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What `src/sdk` takes from elsewhere, as declarations; that of the schema is replaced by the event spelled out. */
const DECLARATIONS = {
  "event/event-types.d.ts": "event/event-types.d.ts",
  "service/packaging/sdk-event.d.ts": "event/audit-event.d.ts",
};

const MANIFEST = {
  name: "prooftrail-sdk",
  version,
  description: "Records what an AI system does, for a Prooftrail service",
  license: "Apache-2.0",
  type: "module",
  exports: {
    ".": { types: "./sdk/index.d.ts", default: "./sdk/index.js" },
    "./elysia": { types: "./sdk/elysia.d.ts", default: "./sdk/elysia.js" },
  },
  sideEffects: false,
  engines: { node: ">=22.13" },
  // Versions that have the macros that sdk/elysia.ts uses.
  peerDependencies: { elysia: "^1.4.0" },
  peerDependenciesMeta: { elysia: { optional: true } },
};

const run = (args: readonly string[], cwd: string): string =>
  execFileSync(process.execPath, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** Returns the path of the package. */
const buildPackage = async (outdir: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-sdk-build-"));
  const [compiled, packed] = [join(folder, "compiled"), join(folder, "packed")];
  try {
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    run([tsc, "-p", "src/service/packaging/sdk.tsconfig.json", "--outDir", compiled], ROOT);
    await mkdir(join(packed, "event"), { recursive: true });
    await cp(join(compiled, "sdk"), join(packed, "sdk"), { recursive: true });
    for (const [from, to] of Object.entries(DECLARATIONS)) await cp(join(compiled, from), join(packed, to));
    for (const name of await readdir(packed, { recursive: true })) await adapt(join(packed, name));
    await writeFile(join(packed, "package.json"), `${JSON.stringify(MANIFEST, null, 2)}\n`);
    await cp(join(ROOT, "src/sdk/README.md"), join(packed, "README.md"));
    await cp(join(ROOT, "LICENSE"), join(packed, "LICENSE"));
    const file = run(["pm", "pack", "--quiet", "--ignore-scripts", "--destination", outdir], packed);
    return join(outdir, basename(file.trim()));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const TYPESCRIPT_IMPORT = /(\bfrom |\bimport\()"(\.[^"]+)\.ts"/g;

/** The compiler leaves `.ts` in the imports of declarations (measured with 7.0.2), and the paths of this machine in source maps. */
const adapt = async (path: string): Promise<void> => {
  if (path.endsWith(".d.ts")) {
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll(TYPESCRIPT_IMPORT, '$1"$2.js"'));
  }
  if (path.endsWith(".js.map")) {
    const map: object = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...map, sources: [`${basename(path, ".js.map")}.ts`] }));
  }
};

const { outdir } = buildOptions(
  { outdir: { type: "string" } },
  `Usage: bun run build:sdk [--outdir <folder>]
  --outdir   the folder for the file; default dist of this repository
`,
);
process.stdout.write(`${await buildPackage(resolve(outdir ?? join(ROOT, "dist")))}\n`);
