/**
 * Makes the parts that many tests use and that take a second of CPU or more to make, and runs the command that follows: all its processes share them,
 * instead of making their own.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { sharedParts } from "./support/shared-parts.ts";

const [command = "", ...args] = process.argv.slice(2);
const made = await Promise.all(
  sharedParts(process.env).map(async ([setting, make]) => ({ setting, ...(await make()) })),
);
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
