/** Builds the program that tests start (support/built-program.ts) and runs the command that follows, all of whose processes then share it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { buildProgram, PROGRAM_SETTING } from "./support/built-program.ts";

const [command = "", ...args] = process.argv.slice(2);
const program = await buildProgram();
// Ctrl-C in a terminal reaches the command too, which ends by itself.
process.on("SIGINT", () => {});
const child = spawn(command, args, {
  env: { ...process.env, [PROGRAM_SETTING]: program.path },
  stdio: "inherit",
});
process.on("SIGTERM", () => child.kill("SIGTERM"));
const [code] = await once(child, "close");
await program.remove();
process.exitCode = code ?? 1;
