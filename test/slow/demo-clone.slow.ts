/** The demo's command as README prints it, in a fresh copy of the repository, on a machine that has only Node. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { testBrokerBinary } from "../support/broker.ts";
import { dataFolder } from "../support/process.ts";
import { createCaller } from "../support/service.ts";
import { until } from "../support/until.ts";

const root = resolve(import.meta.dir, "../..");
const LEFT_OUT = new Set(["node_modules", ".git", "data", "demo-data", "dist"]);
const COMMAND = "npx -y bun@1.4.5 run demo";

test("the command of README prints one link to a service with the history", async () => {
  expect(await readFile(join(root, "README.md"), "utf8")).toContain(COMMAND);
  await using folder = await dataFolder();
  const clone = join(folder.path, "clone");
  await cp(root, clone, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(root, path)) });
  const programs = join(folder.path, "bin");
  await mkdir(programs);
  for (const name of ["node", "npx", "npm"]) await symlink(Bun.which(name) ?? "", join(programs, name));
  const demo = spawn("sh", ["-c", `exec ${COMMAND}`], {
    cwd: clone,
    env: {
      PATH: `${programs}:/usr/bin:/bin`,
      HOME: process.env.HOME ?? dirname(folder.path),
      PORT: "0",
      NATS_SERVER_BIN: await testBrokerBinary(),
    },
    stdio: ["ignore", "ignore", "pipe"],
    // Its own group: npx, the shell that it starts, and the demo end together.
    detached: true,
  });
  using _ = { [Symbol.dispose]: () => void process.kill(-(demo.pid ?? 0), "SIGKILL") };
  let printed = "";
  demo.stderr.setEncoding("utf8").on("data", (text) => {
    printed += text;
  });
  await until("the demo is ready", () => {
    if (demo.exitCode !== null) throw new Error(`it ended with ${demo.exitCode}: ${printed}`);
    return printed.includes("Ctrl-C stops it");
  });
  const { origin } = new URL(/open\s+(http:\S+)/.exec(printed)?.[1] ?? "");
  const key = (await readFile(join(clone, "demo-data/demo.key"), "utf8")).trim();
  const { json } = await createCaller(origin, key)("/v1/assets");
  expect(json.data).toHaveLength(5);
});
