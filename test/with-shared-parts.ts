/**
 * Makes what many tests use and takes a second of CPU or more to make, and runs the command that follows: all of its processes share it, and would each make
 * their own.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { buildProgram, PROGRAM_SETTING } from "./support/built-program.ts";
import type { LastingFolder } from "./support/lasting-folder.ts";
import { BROWSER_SETTING, hasPackagedBrowser, unpackBrowser } from "./support/packaged-browser.ts";
import { CLUSTER_SETTING, makeCluster, noPostgresReason } from "./support/postgres-server.ts";

const parts: readonly (readonly [setting: string, make: () => Promise<LastingFolder>])[] = [
  [PROGRAM_SETTING, buildProgram],
  ...(noPostgresReason === undefined ? [[CLUSTER_SETTING, makeCluster] as const] : []),
  ...(hasPackagedBrowser ? [[BROWSER_SETTING, unpackBrowser] as const] : []),
];

const [command = "", ...args] = process.argv.slice(2);
const made = await Promise.all(parts.map(async ([setting, make]) => ({ setting, ...(await make()) })));
// Ctrl-C in a terminal reaches the command too, which ends by itself.
process.on("SIGINT", () => {});
const child = spawn(command, args, {
  env: { ...process.env, ...Object.fromEntries(made.map(({ setting, path }) => [setting, path])) },
  stdio: "inherit",
});
process.on("SIGTERM", () => child.kill("SIGTERM"));
const [code] = await once(child, "close");
await Promise.all(made.map(({ remove }) => remove()));
process.exitCode = code ?? 1;
