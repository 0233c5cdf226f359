/**
 * `bun run build:sdk`: the SDK as a package for Node, Bun and Deno, in one file that can be installed or published. The compiler makes one JavaScript file of each
 * module, and the package declares that none has side effects, so that a bundler can leave out whole modules. It contains only modules that the
 * entries reach.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runBuild } from "./build-command.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const OUTDIR = "dist";
const NAME = "prooftrail-sdk";
/** Entries by their names in the package. */
const ENTRIES = { ".": "sdk/index", "./elysia": "sdk/elysia" } as const;
/** The schema's declaration, and its replacement. */
const SCHEMA = "event/audit-event.d.ts";
const SPELLED_OUT = "packaging/sdk-event.d.ts";
/** Peer dependency of the entry that needs it: versions that have the macros it uses. */
const ELYSIA = "^1.4.0";

const USAGE = `Usage: bun run build:sdk [--outdir <folder>]
  --outdir   the folder for the file; ${OUTDIR} of this repository unless said
`;

/** Returns the path of the file. */
const buildPackage = async (outdir: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-sdk-build-"));
  const [compiled, packed] = [join(folder, "compiled"), join(folder, "packed")];
  try {
    await compile(compiled);
    await cp(join(compiled, SPELLED_OUT), join(compiled, SCHEMA));
    const entries = Object.values(ENTRIES).flatMap((entry) => [`${entry}.js`, `${entry}.d.ts`]);
    for (const [path, text] of await reached(compiled, entries)) await put(join(packed, path), text);
    await put(join(packed, "package.json"), await manifest());
    await put(join(packed, "README.md"), await readFile(join(ROOT, "src/sdk/README.md"), "utf8"));
    await cp(join(ROOT, "LICENSE"), join(packed, "LICENSE"));
    const file = await runBun(["pm", "pack", "--quiet", "--ignore-scripts", "--destination", outdir], packed);
    return join(outdir, basename(file.trim()));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const compile = (outdir: string): Promise<string> =>
  runBun(
    [
      join(ROOT, "node_modules/typescript/bin/tsc"),
      "-p",
      "src/service/packaging/sdk.tsconfig.json",
      "--outDir",
      outdir,
    ],
    ROOT,
  );

/** Returns what it prints. */
const runBun = async (args: readonly string[], cwd: string): Promise<string> => {
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((ended, failed) => {
    child.once("error", failed).once("close", ended);
  });
  if (code !== 0) throw new Error(`${args.slice(0, 2).join(" ")} ended with ${code}:\n${said}`);
  return said;
};

const RELATIVE_IMPORT = /(\bfrom |\bimport\(|^import )"(\.[^"]+?)\.[jt]s"/gm;
const SOURCE_MAP = /\/\/# sourceMappingURL=(\S+)/;

/** Every file that the entries reach, and its text. */
const reached = async (folder: string, entries: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const texts = new Map<string, string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    const text = await readFile(join(folder, path), "utf8");
    const ending = path.endsWith(".d.ts") ? ".d.ts" : ".js";
    // The compiler leaves `.ts` in the imports of declarations, whatever its settings for relative imports (measured with 7.0.2).
    texts.set(
      path,
      text.replace(RELATIVE_IMPORT, (_, before: string, imported: string) => `${before}"${imported}.js"`),
    );
    for (const [, , imported = ""] of text.matchAll(RELATIVE_IMPORT))
      waiting.push(join(dirname(path), `${imported}${ending}`));
    const map = SOURCE_MAP.exec(text)?.[1];
    if (map !== undefined) {
      const mapPath = join(dirname(path), map);
      texts.set(mapPath, withSourceBeside(path, await readFile(join(folder, mapPath), "utf8")));
    }
  }
  return texts;
};

/**
 * The source text is in the map. The compiler also writes the path of the file on this machine, which stack traces would show to whoever installs the
 * package.
 */
const withSourceBeside = (path: string, map: string): string =>
  JSON.stringify({ ...JSON.parse(map), sources: [`${basename(path, ".js")}.ts`] });

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
};

const manifest = async (): Promise<string> => {
  const ours: Readonly<Record<string, unknown>> = JSON.parse(
    await readFile(join(ROOT, "package.json"), "utf8"),
  );
  const exports = Object.fromEntries(
    Object.entries(ENTRIES).map(([name, entry]) => [
      name,
      { types: `./${entry}.d.ts`, default: `./${entry}.js` },
    ]),
  );
  const { version, license } = ours;
  return `${JSON.stringify(
    {
      name: NAME,
      version,
      description: "Records what an AI system does, for a Prooftrail service",
      license,
      type: "module",
      exports,
      sideEffects: false,
      engines: { node: ">=22.13" },
      peerDependencies: { elysia: ELYSIA },
      peerDependenciesMeta: { elysia: { optional: true } },
    },
    null,
    2,
  )}\n`;
};

await runBuild({
  options: { outdir: { type: "string" } },
  usage: USAGE,
  what: "The package",
  build: ({ outdir }) => buildPackage(outdir === undefined ? join(ROOT, OUTDIR) : resolve(outdir)),
});
