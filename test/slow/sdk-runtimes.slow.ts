/**
 * The promises of the SDK, on each supported runtime. The files in `suite` are written with node:test. Bun and Deno run them
 * as they are; for Node they are bundled, and import the package as it is published.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Installed, installBuiltPackage, ROOT, run } from "../sdk/built-package.ts";
import { RUNTIMES } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { TEST_MS_MAX, WAIT_MS_MAX } from "../support/time-limits.ts";

const SUITE = join(ROOT, "test/sdk/suite");
const PROGRAMS = join(ROOT, "test/sdk/programs");

/** A suite takes 5 to 10 s on an idle machine; at a load of 20 on two cores 100 s were not enough. */
const SUITE_MS_MAX = TEST_MS_MAX - WAIT_MS_MAX / 4;

interface Way {
  /** Runs the whole suite. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Runs a program; the file name follows. */
  readonly run: readonly string[];
  readonly programs: string;
  readonly ending: ".ts" | ".mjs";
  /** The number of passed tests, from its output. */
  readonly passed: RegExp;
}

interface Result {
  readonly code: number;
  readonly output: string;
  readonly passed: number;
}

let service: TestService;
let installed: Installed;
let results: Readonly<Record<"Node" | "Bun" | "Deno", Promise<Result>>>;

const filesIn = async (folder: string, ending: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));

const onNode = async (files: readonly string[]): Promise<Way> => {
  if (Bun.which("node") === null)
    throw new Error(
      "There is no node on PATH: the SDK is tested on Node 22.13 or newer as well. Install it.",
    );
  const programs = join(installed.folder, "programs");
  await mkdir(programs);
  const bundle = (entrypoints: string[], outdir: string) =>
    Bun.build({
      entrypoints,
      outdir,
      target: "node",
      naming: "[name].mjs",
      packages: "external",
      // tsconfig.json knows its source by this name.
      external: ["prooftrail-sdk"],
    });
  await bundle([...files], installed.folder);
  await bundle(await filesIn(PROGRAMS, ".ts"), programs);
  const whole = join(installed.folder, "suite.mjs");
  const imports = (await filesIn(installed.folder, ".suite.mjs")).map(
    (path) => `import ${JSON.stringify(path)};`,
  );
  await writeFile(whole, imports.join("\n"));
  return {
    command: ["node", "--test-reporter=tap", whole],
    cwd: installed.folder,
    run: ["node"],
    programs,
    ending: ".mjs",
    passed: /^# pass (\d+)$/m,
  };
};

const onBun = (files: readonly string[]): Way => ({
  command: [process.execPath, "test", ...files],
  cwd: ROOT,
  run: [process.execPath],
  programs: PROGRAMS,
  ending: ".ts",
  passed: /^ *(\d+) pass$/m,
});

const onDeno = (files: readonly string[]): Way => {
  const [deno] = RUNTIMES.Deno;
  const imports = `--import-map=${join(ROOT, "test/sdk/deno-imports.json")}`;
  const options = ["-A", "--quiet", "--node-modules-dir=manual", "--no-check", imports];
  return {
    command: [deno, "test", ...options, ...files],
    cwd: ROOT,
    run: [deno, "run", ...options],
    programs: PROGRAMS,
    ending: ".ts",
    passed: /\| (\d+) passed/,
  };
};

const runSuite = async (way: Way, tenantKey: string): Promise<Result> => {
  const { code, output } = await run(way.command, {
    cwd: way.cwd,
    timeoutMs: SUITE_MS_MAX,
    env: {
      NO_COLOR: "1",
      PROOFTRAIL_TEST_URL: service.url,
      PROOFTRAIL_TEST_KEY: tenantKey,
      PROOFTRAIL_TEST_ADMIN_KEY: service.adminKey,
      PROOFTRAIL_TEST_RUN: JSON.stringify(way.run),
      PROOFTRAIL_TEST_PROGRAMS: way.programs,
      PROOFTRAIL_TEST_PROGRAM_ENDING: way.ending,
    },
  });
  return { code, output, passed: Number(way.passed.exec(output)?.[1] ?? 0) };
};

beforeAll(async () => {
  const files = await filesIn(SUITE, ".suite.ts");
  const [started, built] = await Promise.all([
    startTestService({ EXTRA_EVENT_TYPES: "sdk.heartbeat" }),
    installBuiltPackage(),
  ]);
  service = started;
  installed = built;
  const ran = async (name: string, way: Way | Promise<Way>) =>
    // Each runtime has its own tenant, so that none finds the events of another.
    runSuite(await way, await service.makeKey(`sdk-${name}`));
  results = {
    Node: ran("node", onNode(files)),
    Bun: ran("bun", onBun(files)),
    Deno: ran("deno", onDeno(files)),
  };
  await Promise.allSettled(Object.values(results));
});

afterAll(async () => {
  await installed?.[Symbol.asyncDispose]();
  await service?.[Symbol.asyncDispose]();
});

for (const runtime of ["Node", "Bun", "Deno"] as const) {
  test(`the SDK keeps its promises on ${runtime}`, async () => {
    const { code, output, passed } = await results[runtime];
    if (code !== 0) throw new Error(`the suite ended with ${code} on ${runtime}:\n${output}`);
    expect(passed).toBeGreaterThan(0);
  });
}

test("each runtime ran the same tests, and skipped none", async () => {
  const [node, bun, deno] = await Promise.all(Object.values(results));
  expect([bun?.passed, deno?.passed]).toEqual([node?.passed, node?.passed]);
});
