/**
 * ARCHITECTURE.md says what may import what; this test checks the code against it. It finds imports in the text, which formatted code makes regular:
 * a transpiler's scan drops `import type` and `export type … from` (measured), and a type is a dependency too.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
    .sort();

const isTest = (path: string): boolean => path.endsWith(".test.ts");
const all = [...filesIn("src"), ...filesIn("streams"), ...filesIn("test"), ...filesIn("bench")];
const sources = all.filter((path) => !isTest(path) && /^(src|streams)\//.test(path));

const IMPORT = /(?:^|\n)(?:import|export)\s(?:[^;"]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)/g;

const importsOf = (path: string): string[] =>
  [...read(path).matchAll(IMPORT)].map(([, fixed, dynamic]) => fixed ?? dynamic ?? "");

const targetOf = (path: string, specifier: string): string =>
  relative(root, resolve(root, dirname(path), specifier));

interface Row {
  readonly unit: string;
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");

const table: readonly Row[] =
  read("ARCHITECTURE.md")
    .split("## What each folder may import")[1]
    ?.split("\n## ")[0]
    ?.split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const [, folder = "", , folders = "", packages = ""] = line.split("|");
      return { unit: codes(folder)[0] ?? "", folders: codes(folders), packages: codes(packages) };
    }) ?? [];

/** A file that has its own row belongs to that row, and not to its folder's. */
const unitOf = (path: string): string | undefined =>
  table
    .map(({ unit }) => unit)
    .filter((unit) => path === unit || path.startsWith(`${unit}/`))
    .sort((one, other) => other.length - one.length)[0];

const ALWAYS_ALLOWED = /^(node:(?!sqlite)|@sinclair\/typebox(\/|$))/;

test("every file has a row, and every row a file", () => {
  expect(sources.filter((path) => unitOf(path) === undefined)).toEqual([]);
  const used = new Set(sources.map(unitOf));
  expect(table.filter(({ unit }) => !used.has(unit))).toEqual([]);
});

test("no row imports one below it", () => {
  const upward = table.flatMap(({ unit, folders }, place) =>
    folders
      .filter((folder) => table.findIndex((row) => row.unit === folder) > place)
      .map((folder) => `${unit} imports ${folder}`),
  );
  expect(upward).toEqual([]);
});

test("the table allows every import", () => {
  const broken = sources.flatMap((path) => {
    const row = table.find(({ unit }) => unit === unitOf(path));
    return importsOf(path)
      .filter((specifier) => {
        if (!specifier.startsWith("."))
          return !ALWAYS_ALLOWED.test(specifier) && !row?.packages.includes(specifier);
        const target = targetOf(path, specifier);
        if (target === "package.json") return row?.unit !== "src/service";
        const unit = unitOf(target);
        return unit === undefined || (unit !== row?.unit && !row?.folders.includes(unit));
      })
      .map((specifier) => `${path} imports ${specifier}`);
  });
  expect(broken).toEqual([]);
});

test("every import that the table allows is used", () => {
  const unused = table.flatMap(({ unit, folders, packages }) => {
    const used = sources
      .filter((path) => unitOf(path) === unit)
      .flatMap((path) =>
        importsOf(path).map((specifier) =>
          specifier.startsWith(".") ? unitOf(targetOf(path, specifier)) : specifier,
        ),
      );
    return [...folders, ...packages]
      .filter((allowed) => !used.includes(allowed))
      .map((allowed) => `${unit} never imports ${allowed}`);
  });
  expect(unused).toEqual([]);
});

test("no file imports itself through other files, not even through types", () => {
  const graph = new Map(
    sources.map((path) => [
      path,
      importsOf(path)
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => targetOf(path, specifier)),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of sources) visit(path, []);
  expect(cycles).toEqual([]);
});

test("no file is dead: the program reaches each one", () => {
  const reached = new Set<string>();
  const reach = (path: string): void => {
    if (reached.has(path) || !/\.tsx?$/.test(path)) return;
    reached.add(path);
    for (const specifier of importsOf(path)) if (specifier.startsWith(".")) reach(targetOf(path, specifier));
  };
  for (const path of [
    ...["service/main.ts", "cli/main.ts", "proof/verifier/main.ts", "sdk/index.ts", "sdk/elysia.ts"],
    ...["executable.ts", "sdk-package.ts", "pages.ts", "sdk-event.ts"].map(
      (name) => `service/packaging/${name}`,
    ),
    // src/service/browser-files.ts bundles them.
    ...["sandbox-page/page.ts", "verify-page/page.ts", "main.tsx", "embed/events.ts"].map(
      (name) => `console/${name}`,
    ),
    // In browsers it takes the place of primitives.ts (package.json, `browser`).
    "proof/primitives-browser.ts",
  ])
    reach(`src/${path}`);
  expect(sources.filter((path) => !reached.has(path))).toEqual([]);
});

describe("finer rules", () => {
  test.each([
    ["only src/runtime names Bun or Deno", /^(?!src\/runtime\/)/, /\b(?:Bun|Deno)\.\w|"bun:|from "bun"/],
    [
      "rules that make rows or judge events use no clock, no timer, no disk and no randomness",
      /^src\/event\/|^src\/law\/|^src\/views\/[^/]+\/evolve\.ts$/,
      /\bDate\.now\b|new Date\(\)|setTimeout|setInterval|Math\.random|node:fs|\bfetch\(|\bperformance\./,
    ],
    [
      "the SDK imports only types from the other folders, so it ships nothing of the server",
      /^src\/sdk\//,
      /^(?:import|export)\s(?!type\s)[^;"]*"\.\.\/[^"]*"/m,
    ],
    [
      "only the demo can write records with a time of reception in the past",
      /^(?!src\/cli\/commands\/demo\.ts)/,
      /\/past-log\.ts/,
    ],
  ])("%s", (_, where, what) => {
    const found = sources.filter((path) => where.test(path));
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter((path) => what.test(withoutComments(read(path))))).toEqual([]);
  });

  test("the verifier of bundles depends only on the standards and the record's format, and on nothing of the server", () => {
    const standards =
      /^src\/proof\/(evidence\/[\w-]+|base64|primitives|rfc6962|sealed-head|signed-note|tlog-checkpoint|tlog-proof)\.ts$|^src\/log\/record\.ts$/;
    const others = sources
      .filter((path) => path.startsWith("src/proof/evidence/"))
      .flatMap((path) =>
        importsOf(path)
          .map((specifier) => (specifier.startsWith(".") ? targetOf(path, specifier) : specifier))
          .filter((target) => !target.startsWith("node:") && !standards.test(target)),
      );
    expect(others).toEqual([]);
  });

  test("only the assembly knows which database and which broker are used", () => {
    const knowing = sources
      .filter((path) => !/^src\/(service|nats)\//.test(path))
      .filter((path) =>
        importsOf(path).some((specifier) => {
          const target = specifier.startsWith(".") ? targetOf(path, specifier) : "";
          return (
            target.startsWith("src/nats/") ||
            (/^src\/views\/store\/(sqlite|postgres)\.ts$/.test(target) &&
              !path.startsWith("src/views/store/"))
          );
        }),
      );
    expect(knowing).toEqual([]);
  });
});

describe("names and habits", () => {
  test("no file or folder has a vague name", () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|managers?|base|data|info|[a-z-]*-impl)(\/|\.ts$)/;
    expect(all.filter((path) => vague.test(path))).toEqual([]);
  });

  test("the code holds no TODO, no disabled check and no unsafe cast", () => {
    const loose = /\b(TODO|FIXME|XXX|HACK)\b|@ts-ignore|\bas any\b|\b(test|describe)\.(only|todo)\(/;
    expect(all.filter((path) => path !== "test/architecture.test.ts" && loose.test(read(path)))).toEqual([]);
  });

  test("a file has at most 400 lines", () => {
    expect(sources.filter((path) => read(path).split("\n").length > 400)).toEqual([]);
  });
});

/** Comments may name what code may not. */
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
