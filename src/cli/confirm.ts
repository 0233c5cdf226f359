/** Asks for confirmation before something that cannot be undone. Without a terminal nobody can be asked. */
import { createInterface } from "node:readline/promises";
import { printable } from "../runtime/printable.ts";
import { type Input, type OptionSpec, toggle } from "./command.ts";
import type { Context } from "./context.ts";
import { failure } from "./failure.ts";

export const YES_OPTION: OptionSpec = toggle(
  "--yes",
  "do not ask; needed where there is no terminal to ask at",
);

/** False, with a notice, if the person says no. Throws a Failure if --yes is missing and nobody can be asked. */
export const confirm = async (
  context: Context,
  input: Input,
  question: () => string | Promise<string>,
): Promise<boolean> => {
  if (input.isSet("--yes")) return true;
  const { err } = context;
  const text = printable(await question());
  if (!context.input.isTerminal || !err.isTerminal)
    throw failure(
      "wrong_use",
      "Nobody can be asked here: there is no terminal.",
      "Give --yes if you are sure.",
    );
  await err.write(`${text} [y/N] `);
  const lines = createInterface({ input: context.input.stream });
  try {
    for await (const line of lines) {
      if (/^y(es)?$/i.test(line.trim())) return true;
      break;
    }
  } finally {
    lines.close();
  }
  await err.write("Nothing was done.\n");
  return false;
};
