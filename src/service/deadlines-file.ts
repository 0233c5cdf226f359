import { readFile } from "node:fs/promises";
import { readRules, STANDARD_RULES } from "../obligations/overrides.ts";

/** The file of deadlines cannot be used. The message is for the operator. */
export class DeadlinesRefusedError extends Error {
  override readonly name = "DeadlinesRefusedError";
}

export const loadRules = async (path: string | undefined) => {
  if (path === undefined) return { rules: STANDARD_RULES, version: 0 };
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error);
    throw new DeadlinesRefusedError(
      `DEADLINES_FILE ${path} cannot be read: ${detail}. Set it to a file that this user may read, or leave it out.`,
    );
  });
  const read = readRules(text);
  if (read.kind === "rules") return read;
  throw new DeadlinesRefusedError(`DEADLINES_FILE ${path} is not valid: ${read.errors.join("; ")}.`);
};
