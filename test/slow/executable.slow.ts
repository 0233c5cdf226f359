/** The executable, alone in a folder, with an environment that has neither Bun nor this repository. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { dataFolder, processesNaming, readyService } from "../support/process.ts";
import { event } from "../support/service.ts";

const root = resolve(import.meta.dir, "../..");

const build = (args: readonly string[]) => {
  const script = join(root, "src/service/packaging/executable.ts");
  return spawnSync(process.execPath, [script, ...args], { cwd: "/", encoding: "utf8" });
};

test("one file serves API, documentation and sandbox, and has every command, without Bun and without this repository", async () => {
  await using folder = await dataFolder();
  const executable = join(folder.path, "prooftrail");
  const built = build(["--outfile", executable]);
  expect([built.status, built.stdout, built.stderr]).toEqual([0, `${executable}\n`, ""]);
  expect(readdirSync(folder.path)).toEqual(["prooftrail"]);
  expect(readFileSync(executable).includes(root)).toBe(false);

  const home = join(folder.path, "home");
  mkdirSync(home);
  await using service = await readyService({
    dataDir: join(home, "data"),
    program: [executable, "serve"],
    cwd: home,
    environment: { PATH: "/usr/bin:/bin", HOME: home },
  });
  expect((await service.call("/health/ready")).status).toBe(200);
  expect(service.errors).toContain(`Prooftrail ${packageJson.version}, ready in`);
  expect((await service.call("/docs/json")).json.info.version).toBe(packageJson.version);

  for (const page of ["/docs", "/sandbox"]) {
    const { status, text } = await service.call(page);
    const named = [...text.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(
      ([, address]) => new URL(address ?? "", `${service.url}${page}`).pathname,
    );
    expect([page, status, named.length > 1]).toEqual([page, 200, true]);
    for (const path of named) {
      const asset = await service.call(path);
      expect([path, asset.status, asset.text.length > 0]).toEqual([path, 200, true]);
    }
  }
  const verifyPage = await service.call("/verify");
  expect([verifyPage.status, verifyPage.text.includes("createObjectURL")]).toEqual([200, true]);
  const swagger = await service.call("/docs/assets/swagger-ui-bundle.js");
  const original = join(root, "node_modules/swagger-ui-dist/swagger-ui-bundle.js");
  expect(swagger.text === readFileSync(original, "utf8")).toBe(true);

  const sent = await service.call("/v1/events", { body: event({ event_id: "evt_first" }) });
  const read = await service.call(`/v1/events/evt_first?min_sequence=${sent.json.data.sequence}`);
  expect(read.json.data.event).toMatchObject({ event_id: "evt_first" });

  const { host } = new URL(service.url);
  const run = (...args: string[]) =>
    spawnSync(executable, args, {
      cwd: home,
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin", HOME: home, PORT: host.split(":")[1], DATA_DIR: join(home, "data") },
    });
  expect(run("--version").stdout).toBe(`${packageJson.version}\n`);
  expect(run("events", "get", "evt_first", "--json").stdout).toContain('"event_id":"evt_first"');
  expect(run("evidence", "--output", "bundle.zip")).toMatchObject({ status: 0 });
  expect(run("verify", "bundle.zip").stdout).toStartWith("VALID");
  expect(readFileSync(join(home, "bundle.zip")).includes("verify.html")).toBe(true);
  expect(run("views", "verify", "events").stdout).toContain("equal at");
  const diagnosis = run("doctor");
  expect([diagnosis.status, diagnosis.stdout]).toEqual([0, expect.stringContaining("All is well.")]);

  service.kill("SIGTERM");
  expect(await service.ended()).toBe(0);
  expect(processesNaming(folder.path)).toEqual([]);
});

test("a build that fails says why", () => {
  const unknown = build(["--outfil", "x"]);
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining("Usage: bun run build")]);
});
