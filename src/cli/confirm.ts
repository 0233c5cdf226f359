/** Asks for confirmation before something that cannot be undone. Without a terminal nobody can be asked. */
import { createInterface } from "node:readline/promises";
import { printable } from "../runtime/printable.ts";
import type { Input, OptionSpec } from "./command.ts";
import type { Context } from "./context.ts";
import { failure } from "./failure.ts";

export const YES_OPTION: OptionSpec = {
  flag: "--yes",
  description: "do not ask; needed where there is no terminal to ask at",
};

/** Throws a Failure if --yes is missing and nobody can be asked. */
export const confirm = async (context: Context, input: Input, question: string): Promise<boolean> => {
  if (input.isSet("--yes")) return true;
  if (!context.input.isTerminal || !context.err.isTerminal)
    throw failure(
      "wrong_use",
      "Nobody can be asked here: there is no terminal.",
      "Give --yes if you are sure.",
    );
  await context.err.write(`${printable(question)} [y/N] `);
  const lines = createInterface({ input: context.input.stream });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
};
