import process from "node:process";
import { type ParseArgsConfig, parseArgs } from "node:util";

const EXIT_USAGE = 2;

/** The options of a build program. If they are not understood, it says so and ends. */
export const buildOptions = <Options extends NonNullable<ParseArgsConfig["options"]>>(
  options: Options,
  usage: string,
) => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(EXIT_USAGE);
  }
};
