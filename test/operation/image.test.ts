/** What the image promises, as far as it can be tried without a container: its user, its folder, its health check. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmod, chown, copyFile, mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { testBrokerBinary } from "../support/broker.ts";
import { builtProgram } from "../support/built-program.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { dataFolder, spawnService } from "../support/process.ts";
import { event } from "../support/service.ts";

const dockerfile = await readFile(resolve(import.meta.dir, "../../Dockerfile"), "utf8");

const isRoot = process.getuid?.() === 0;
const canSetUser = isRoot && spawnSync("setpriv", ["--reuid=1000", "true"]).status === 0;

/** OpenShift runs an image as a user that has no name and no folder, in group 0. */
test.skipIf(!canSetUser).each([
  ["the image's own user", 1000, 1000],
  ["any user in group 0", 1_000_670_000, 0],
])("%s can run the service with its folder, and again after a restart", async (_, user, group) => {
  await using folder = await dataFolder(diskFolder());
  await chmod(folder.path, 0o755);
  const [dataDir, program, broker] = ["data", "prooftrail", "nats-server"].map((name) =>
    join(folder.path, name),
  );
  if (dataDir === undefined || program === undefined || broker === undefined) throw new Error("three paths");
  const [, mode = "", owner = "", ofGroup = ""] =
    /^RUN mkdir -m (\d+) \/data && chown (\d+):(\d+) \/data$/m.exec(dockerfile) ?? [];
  await mkdir(dataDir);
  await chmod(dataDir, Number.parseInt(mode, 8));
  await chown(dataDir, Number(owner), Number(ofGroup));
  // The user may not enter the folders in which the tests find them.
  for (const [from, to] of [
    [await builtProgram(), program],
    [await testBrokerBinary(), broker],
  ] as const) {
    await copyFile(from, to);
    await chmod(to, 0o755);
  }
  const start = () =>
    spawnService({
      dataDir,
      program: [program, "serve"],
      through: ["setpriv", `--reuid=${user}`, `--regid=${group}`, "--clear-groups", "--inh-caps=-all"],
      cwd: "/",
      environment: { HOME: "/", NATS_SERVER_BIN: broker, ADMIN_API_KEY: "a".repeat(48) },
    });
  {
    await using service = await start();
    await service.untilReady();
    expect((await service.call("/v1/events", { body: event() })).status).toBe(202);
    service.kill("SIGTERM");
    expect(await service.ended()).toBe(0);
  }
  await using again = await start();
  await again.untilReady();
  expect((await again.call("/v1/events", { body: event({ event_id: "evt_2" }) })).status).toBe(202);
});

test("the health check asks the service itself, whatever proxy the environment names", async () => {
  const [, command = "[]"] = /^HEALTHCHECK .*\\\n {2}CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [program, ...args]: readonly string[] = JSON.parse(command);
  expect(program).toBe("bun");
  let status = 200;
  const server = createServer((_, response) => void response.writeHead(status).end());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const check = async (): Promise<number> => {
    const env = { PORT: String(port), HTTP_PROXY: "http://127.0.0.1:9", no_proxy: "example.com" };
    return await Bun.spawn([process.execPath, ...args], { env, stderr: "ignore" }).exited;
  };
  expect(await check()).toBe(0);
  status = 503;
  expect(await check()).toBe(1);
  server.close();
});
