import { test } from "bun:test";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PID_FILE } from "./built-program.ts";
import { dataFolder, processesNaming } from "./process.ts";
import { until } from "./until.ts";

test("a process that is killed during the build of the program leaves no files", async () => {
  await using folder = await dataFolder();
  const source = join(import.meta.dir, "built-program.ts");
  const script = `await (await import(${JSON.stringify(source)})).buildProgram();`;
  const builder = spawn(process.execPath, ["-e", script], {
    env: { ...process.env, PROOFTRAIL_TEST_DISK: folder.path },
    stdio: "ignore",
  });
  await until("it builds", () =>
    readdirSync(folder.path, { recursive: true }).some((name) => String(name).endsWith(PID_FILE)),
  );
  builder.kill("SIGKILL");
  // What cleans up is another process, which may begin after the builder has ended.
  await until("nothing is left", () => readdirSync(folder.path).length === 0);
  await until("nothing runs there", () => processesNaming(folder.path).length === 0);
});
