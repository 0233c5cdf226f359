import { type ParseArgsConfig, parseArgs } from "node:util";

/** What was typed, or why it is not understood. */
export const readOptions = <Options extends NonNullable<ParseArgsConfig["options"]>>(options: Options) => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};
