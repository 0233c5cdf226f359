/** The common part of the build programs: arguments, output, and exit codes. */
import process from "node:process";
import { type ParseArgsConfig, parseArgs } from "node:util";

const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** The arguments are not understood, or cannot be carried out. The message is for the user. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs `build` with the arguments, prints the path that it returns, and sets the exit code. */
export const runBuild = async <Options extends NonNullable<ParseArgsConfig["options"]>>(command: {
  readonly options: Options;
  readonly usage: string;
  /** `The executable`. */
  readonly what: string;
  readonly build: (given: ReturnType<typeof typed<Options>>) => Promise<string>;
}): Promise<void> => {
  const { options, usage, what, build } = command;
  try {
    process.stdout.write(`${await build(typed(options))}\n`);
    process.exitCode = EXIT.ok;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    process.stderr.write(
      isUsage
        ? `${error.message}\n${usage}`
        : `${what} could not be built:\n${causes.map((cause) => `  ${cause}\n`).join("")}`,
    );
    process.exitCode = isUsage ? EXIT.usage : EXIT.failed;
  }
};

const typed = <Options extends NonNullable<ParseArgsConfig["options"]>>(options: Options) => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};
