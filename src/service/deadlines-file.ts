import { readFile } from "node:fs/promises";
import { readRules, STANDARD_RULES } from "../obligations/overrides.ts";

/** The start cannot go on with deadlines that nobody understands. The message is for the operator. */
export class DeadlinesRefusedError extends Error {
  override readonly name = "DeadlinesRefusedError";
}

export const loadRules = async (path: string | undefined) => {
  if (path === undefined) return { rules: STANDARD_RULES, version: 0 };
  const text = await readFile(path, "utf8").catch(() => {
    throw new DeadlinesRefusedError(`DEADLINES_FILE cannot be read: ${path}.`);
  });
  const read = readRules(text);
  if (read.kind === "rules") return read;
  throw new DeadlinesRefusedError(`DEADLINES_FILE ${path} is not valid: ${read.errors.join("; ")}.`);
};
