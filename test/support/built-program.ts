/**
 * Prooftrail as `bun run build` makes it, for tests that start many processes: it starts in half of the CPU time of the source (0.36 of 0.64 s,
 * its broker included; measured). The source itself is started by the HTTP contract on each runtime (test/suites/http-contract.ts) and README commands.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { type LastingFolder, lastingFolder, sharedByFiles } from "./lasting-folder.ts";
import { diskFolder } from "./memory-folder.ts";

const BUILD = resolve(import.meta.dir, "../../src/service/packaging/executable.ts");

/** Path of a program that was built already (test/with-shared-parts.ts): otherwise five processes would build five. */
export const PROGRAM_SETTING = "PROOFTRAIL_TEST_PROGRAM";

/** Its path. If none is set, it is built at the first request, which takes 1.6 s of CPU, and is removed with this process. */
export const builtProgram = sharedByFiles(
  async (): Promise<string> => process.env[PROGRAM_SETTING] ?? (await buildProgram()).path,
);

/** Id of the building process while it runs: that process would make the folder again in which it puts the program. */
const PID_FILE = "building.pid";
const END_BUILD = `[ ! -f "$1/${PID_FILE}" ] || kill -9 "$(cat "$1/${PID_FILE}")"`;

export const buildProgram = async (): Promise<LastingFolder> => {
  // On the disk: most containers mount /dev/shm so that no program there can be run.
  const folder = lastingFolder("built", { parent: diskFolder(), ending: END_BUILD });
  const path = join(folder.path, "prooftrail");
  const build = spawn(process.execPath, [BUILD, "--outfile", path], { stdio: ["ignore", "ignore", "pipe"] });
  const pidFile = join(folder.path, PID_FILE);
  writeFileSync(pidFile, String(build.pid));
  let told = "";
  build.stderr.setEncoding("utf8").on("data", (text) => {
    told += text;
  });
  const [code] = await once(build, "close");
  rmSync(pidFile);
  if (code === 0) return { path, remove: folder.remove };
  await folder.remove();
  throw new Error(`the program cannot be built: ${told}`);
};
