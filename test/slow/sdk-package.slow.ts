/** The result of `bun run build:sdk` as a user installs it: in the node_modules of a project, with Node and TypeScript. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Installed, installBuiltPackage, ROOT, run } from "../sdk/built-package.ts";
import { dataFolder, RUNTIMES } from "../support/process.ts";

let installed: Installed;
beforeAll(async () => {
  installed = await installBuiltPackage();
});
afterAll(() => installed?.[Symbol.asyncDispose]());

const put = async (name: string, text: string): Promise<string> => {
  const path = join(installed.folder, name);
  await writeFile(path, text);
  return path;
};

const files = async (): Promise<readonly string[]> =>
  (await readdir(installed.packageFolder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.packageFolder.length + 1))
    .sort();

test("Node runs a program that imports the package, and one that uses it with Elysia", async () => {
  const program = await put(
    "program.mjs",
    `import { createTestClient, sha256 } from "prooftrail-sdk";
     import { audit } from "prooftrail-sdk/elysia";
     import { Elysia } from "elysia";
     const client = createTestClient();
     const app = new Elysia().use(audit(client)).get("/", ({ audit }) =>
       audit.capture({ asset_id: "a", event_type: "ai_inference", hash: { subject: "user 42" } }).kind);
     const kind = await (await app.handle(new Request("http://localhost/"))).text();
     console.log(kind, client.events[0].subject_hash === sha256("user 42"));`,
  );
  expect(await run(["node", program])).toEqual({ code: 0, output: "kept true\n" });
});

test("under Node's permissions captured events are synced to the disk, and share a file", async () => {
  const program = await put(
    "permission.mjs",
    `import { readdirSync } from "node:fs";
     import { createClient } from "prooftrail-sdk";
     const [, , directory] = process.argv;
     const outbox = { directory, sync: "always" };
     const client = createClient({ url: "http://127.0.0.1:9", apiKey: "k", outbox, onProblem: () => {} });
     for (let captured = 0; captured < 20; captured++) {
       client.capture({ asset_id: "a", event_type: "ai_inference" });
       const { kind } = await client.synced();
       if (kind !== "synced") throw new Error(kind);
     }
     console.log(readdirSync(directory).filter((name) => name.endsWith(".sqlite")).length);
     process.exit();`,
  );
  expect(await runPermitted(program)).toEqual({ code: 0, output: "1\n" });
});

/** Of files the program may read the package, and read and write the folder that it is given. */
const runPermitted = async (program: string) => {
  await using outbox = await dataFolder();
  const flags = await run([
    "node",
    "-p",
    'process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission"',
  ]);
  const allowed = [`--allow-fs-read=${installed.folder}/*`, `--allow-fs-read=${outbox.path}/*`];
  const permissions = [flags.output.trim(), ...allowed, `--allow-fs-write=${outbox.path}/*`];
  return await run(["node", "--no-warnings", ...permissions, program, outbox.path]);
};

test("a project installs it as its README says, and each runtime finds it and its types", async () => {
  const readme = await readFile(join(installed.packageFolder, "README.md"), "utf8");
  const [, install = ""] = /```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  const { file } = installed;
  const [named = ""] = /\S+\.tgz/.exec(install) ?? [];
  expect(named).toBe(`../prooftrail/dist/${basename(file)}`);
  expect(install.trim().split("\n")).toHaveLength(1);
  await using folder = await dataFolder();
  const cwd = folder.path;
  await writeFile(join(cwd, "package.json"), JSON.stringify({ type: "module" }));
  const env = { npm_config_offline: "true", npm_config_audit: "false", NO_COLOR: "1" };
  const steps = install.replace(named, file);
  const taken = await run(["sh", "-ec", steps], { cwd, env });
  if (taken.code !== 0) throw new Error(taken.output);
  const program = `import { createTestClient } from "prooftrail-sdk";
    console.log(createTestClient().capture({ asset_id: "a", event_type: "ai_inference" }).kind);`;
  await writeFile(join(cwd, "program.js"), program);
  await writeFile(join(cwd, "right.ts"), program);
  await writeFile(join(cwd, "wrong.ts"), program.replace("ai_inference", "ai_inferense"));
  const [deno] = RUNTIMES.Deno;
  for (const command of [["node"], [process.execPath], [deno, "run"]])
    expect(await run([...command, "program.js"], { cwd, env })).toEqual({ code: 0, output: "kept\n" });
  const checked = await run([deno, "check", "--quiet", "right.ts", "wrong.ts"], { cwd, env });
  expect(checked.output).toContain("ai_inferense");
  expect(checked.output.match(/\[ERROR\]/g)).toHaveLength(1);
  // It starts npm, three runtimes and a type check.
});

const compile = async (options: Readonly<Record<string, unknown>>, ...sources: readonly string[]) => {
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    noEmit: true,
    types: [],
    ...options,
  };
  const config = await put("tsconfig.json", JSON.stringify({ compilerOptions, files: sources }));
  const compiler = [process.execPath, join(ROOT, "node_modules/typescript/bin/tsc"), "--checkers", "1"];
  // The compiler is written in Go, and would spend a third of its time on garbage collection.
  return await run([...compiler, "-p", config], { cwd: installed.folder, env: { GOGC: "off" } });
};

const EVENT = `{ asset_id: "credit_model", event_type: "decision.automated_decision_made", metadata: { outcome: "approved" } }`;

test("TypeScript accepts valid events and refuses invalid ones, and the declarations need no other package", async () => {
  const begin = `import { createTestClient } from "prooftrail-sdk";\nconst client = createTestClient();\n`;
  await put("right.mts", `${begin}client.capture(${EVENT}).kind satisfies string;\n`);
  await put(
    "undefined.mts",
    `${begin}declare const maybe: string | undefined;
     client.capture({
       asset_id: "a", event_type: "decision.explanation_provided", event_id: maybe, correlation_id: maybe,
       hash: { subject: maybe }, metadata: { reason: maybe, other: maybe },
     });
     client.with({ correlation_id: maybe, tags: undefined });
     // @ts-expect-error: an event has an asset.
     client.with({ asset_id: undefined });\n`,
  );
  await put(
    "wrong-tier.mts",
    `${begin}client.capture(${EVENT.replace("asset_id", 'risk_tier: "High", asset_id')});\n`,
  );
  // A compiler that writes declarations file by file must be able to name the types.
  await put(
    "named.mts",
    `import { type Client, createClient, type Recorder, type TestClient, createTestClient } from "prooftrail-sdk";
     export const client: Client = createClient({ url: "http://a", apiKey: "k", outbox: { memory: true } });
     export const scorer: Recorder<never, "asset_id"> = client.with({ asset_id: "a" });
     export const test: TestClient<"sdk.heartbeat"> = createTestClient<"sdk.heartbeat">();\n`,
  );
  await put(
    "outbox.mts",
    `import { type ClientOptions, createClient } from "prooftrail-sdk";
     const service = { url: "http://a", apiKey: "k" };
     const choose = (directory: string | undefined, rest: Omit<ClientOptions, "outbox">) =>
       createClient({ ...rest, outbox: directory === undefined ? { memory: true } : { directory } });
     // @ts-expect-error: a folder, or memory.
     createClient({ ...service, outbox: { directory: "a", memory: true } });
     // @ts-expect-error: memory is not synced.
     createClient({ ...service, outbox: { memory: true, sync: "always" } });
`,
  );
  await put(
    "wider.mts",
    `import { type CaptureEvent, type Client, createTestClient, type EventType, type Recorder } from "prooftrail-sdk";
     const wider: Client<"sdk.heartbeat"> = createTestClient<"sdk.heartbeat">();
     wider satisfies Client;
     wider satisfies Recorder;
     const one = (event_type: EventType) => wider.capture({ asset_id: "a", event_type } as CaptureEvent);
`,
  );
  await put(
    "wrong-type.mts",
    `${begin}client.capture(${EVENT.replace("decision.auto", "decision.semi")});\n`,
  );
  await put("wrong-metadata.mts", `${begin}client.capture(${EVENT.replace('"approved"', "1")});\n`);
  const wrong = ["wrong-metadata.mts", "wrong-tier.mts", "wrong-type.mts"];
  const sources = ["right.mts", "undefined.mts", "named.mts", "outbox.mts", "wider.mts", ...wrong];
  for (const options of [
    { module: "node16" },
    { module: "esnext", moduleResolution: "bundler" },
    { declaration: true, isolatedDeclarations: true, isolatedModules: true, verbatimModuleSyntax: true },
  ]) {
    const strict = { skipLibCheck: false, exactOptionalPropertyTypes: true, ...options };
    const { code, output } = await compile(strict, ...sources);
    const errors = output.split("\n").filter((line) => /^\S.*error TS/.test(line));
    expect(errors.map((line) => line.replace(/\(.*/, ""))).toEqual(wrong);
    expect(code).not.toBe(0);
  }
});

/** The examples of its README, as files. */
const examples = async (): Promise<readonly string[]> => {
  const readme = await readFile(join(installed.packageFolder, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThan(3);
  const names = blocks.map((_, at) => `readme-${at}.mts`);
  for (const [at, code] of blocks.entries()) await put(names[at] ?? "", code);
  return names;
};

test("TypeScript knows the recorder in a request's context, the route option, and the README's examples", async () => {
  await put(
    "app.mts",
    `import { Elysia } from "elysia";
     import { createTestClient } from "prooftrail-sdk";
     import { audit } from "prooftrail-sdk/elysia";
     const app = new Elysia().use(audit(createTestClient()));
     app.get("/", ({ audit }) => audit.capture(${EVENT}).kind, { audit: ({ status }) => status === 200 ? ${EVENT} : undefined });
     // @ts-expect-error: no such event type.
     app.get("/", ({ audit }) => audit.capture({ asset_id: "a", event_type: "nothing" }).kind);
     // @ts-expect-error: no such event type.
     app.get("/", () => 1, { audit: () => ({ asset_id: "a", event_type: "nothing" }) });`,
  );
  // Elysia's own declarations do not pass the check.
  expect(await compile({ skipLibCheck: true, types: ["node"] }, "app.mts", ...(await examples()))).toEqual({
    code: 0,
    output: "",
  });
});

test("a bundle has only what the program uses: the hash function takes less than 4 KB", async () => {
  const program = await put(
    "hash.mjs",
    `import { sha256 } from "prooftrail-sdk";\nconsole.log(sha256("a"));\n`,
  );
  const { outputs } = await Bun.build({ entrypoints: [program], target: "node" });
  expect(outputs[0]?.size).toBeLessThan(4096);
});

test("it contains only the SDK: no file and no package of the server", async () => {
  const named =
    /^(package\.json|README\.md|LICENSE|sdk\/[\w-]+\.(d\.ts|js|js\.map)|event\/(audit-event|event-types)\.d\.ts)$/;
  const all = await files();
  expect(all.filter((path) => !named.test(path))).toEqual([]);
  expect(all).toContain("sdk/elysia.d.ts");
  const foreign: string[] = [];
  for (const path of all.filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const text = await readFile(join(installed.packageFolder, path), "utf8");
    const imported = [...text.matchAll(/(?:\bfrom |\bimport\(|^import )"([^"]+)"/gm)].map(
      ([, name = ""]) => name,
    );
    const isOurs = (name: string) =>
      /^(node:|\.\.?\/[\w/-]+\.js$)/.test(name) || (name === "elysia" && /^sdk\/elysia\./.test(path));
    foreign.push(...imported.filter((name) => !isOurs(name)).map((name) => `${path} imports ${name}`));
    if (/\b(nats|pino|jetstream)\b|@sinclair/i.test(text)) foreign.push(`${path} speaks of the server`);
  }
  expect(foreign).toEqual([]);
  const { dependencies, peerDependencies, scripts } = JSON.parse(
    await readFile(join(installed.packageFolder, "package.json"), "utf8"),
  );
  expect([dependencies, scripts, Object.keys(peerDependencies)]).toEqual([undefined, undefined, ["elysia"]]);
});

test("a source map contains the source of its file and names it next to the file, whatever folder it was built from", async () => {
  const maps = (await files()).filter((path) => path.endsWith(".map"));
  expect(maps.length).toBeGreaterThan(20);
  for (const path of maps) {
    const map = JSON.parse(await readFile(join(installed.packageFolder, path), "utf8"));
    expect([path, map.sources]).toEqual([path, [basename(path).replace(".js.map", ".ts")]]);
    expect([path, map.sourcesContent]).toEqual([path, [expect.stringContaining("export ")]]);
  }
});

test("the package has another name than the server, so that both can be installed", async () => {
  const nameIn = async (folder: string): Promise<string> =>
    JSON.parse(await readFile(join(folder, "package.json"), "utf8")).name;
  expect([await nameIn(installed.packageFolder), await nameIn(ROOT)]).toEqual([
    "prooftrail-sdk",
    "prooftrail",
  ]);
});
