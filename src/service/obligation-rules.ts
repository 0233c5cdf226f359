import { readFile } from "node:fs/promises";
import { readRules } from "../law/obligations/overrides.ts";
import type { Config } from "./config.ts";

/** The file of rules cannot be used. The message is for the operator. */
export class RulesRefusedError extends Error {
  override readonly name = "RulesRefusedError";
}

export const loadRules = async ({
  obligationRulesFile: path,
  lateRecordGraceMs,
}: Pick<Config, "obligationRulesFile" | "lateRecordGraceMs">) => {
  const text = path === undefined ? "{}" : await readFile(path, "utf8").catch(refuseFile(path));
  const read = readRules(text, lateRecordGraceMs);
  if (read.kind === "rules") return read;
  throw new RulesRefusedError(`OBLIGATION_RULES_FILE ${path} is not valid: ${read.errors.join("; ")}.`);
};

const refuseFile = (path: string) => (error: unknown) => {
  const detail = error instanceof Error ? error.message : String(error);
  throw new RulesRefusedError(
    `OBLIGATION_RULES_FILE ${path} cannot be read: ${detail}. Set it to a file that this user may read, or leave it out.`,
  );
};
