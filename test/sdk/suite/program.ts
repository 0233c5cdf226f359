/** Another program on the suite's runtime: one of test/sdk/programs, by the name of its file without the ending. */
import process, { execPath, versions } from "node:process";

/**
 * The command that runs it. `test/slow/sdk-runtimes.slow.ts` sets it: PROOFTRAIL_TEST_RUN is the command to which a program's file is passed,
 * PROOFTRAIL_TEST_PROGRAMS the folder and PROOFTRAIL_TEST_PROGRAM_ENDING the ending of such files. Bun and Deno work without them,
 * with the sources.
 */
export const commandOf = (name: string): readonly [string, ...string[]] => {
  const [command, ...parameters] = runCommand();
  const folder = process.env.PROOFTRAIL_TEST_PROGRAMS ?? new URL("../programs", import.meta.url).pathname;
  const ending = process.env.PROOFTRAIL_TEST_PROGRAM_ENDING ?? ".ts";
  return [command, ...parameters, `${folder}/${name}${ending}`];
};

const runCommand = (): readonly [string, ...string[]] => {
  const said = process.env.PROOFTRAIL_TEST_RUN;
  if (said !== undefined) {
    const [command, ...parameters]: string[] = JSON.parse(said);
    if (command !== undefined) return [command, ...parameters];
  }
  if (versions.bun !== undefined) return [execPath];
  if (versions.deno !== undefined)
    return [execPath, "run", "-A", "--quiet", "--node-modules-dir=manual", "--no-check"];
  throw new Error(
    "PROOFTRAIL_TEST_RUN is not set: run test/slow/sdk-runtimes.slow.ts, which makes the programs for Node.",
  );
};
