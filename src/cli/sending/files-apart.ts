/** One import reads one file and writes two others. Where two of them are the same it would write over what it was told to keep. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { failure } from "../failure.ts";

/** `paths`: by what they were named as. Throws a Failure. */
export const checkFilesApart = async (
  paths: readonly (readonly [as: string, path: string | undefined])[],
): Promise<void> => {
  const known = new Map<string, string>();
  for (const [as, path] of paths) {
    const file = path === undefined ? undefined : await identityOf(path);
    if (file === undefined) continue;
    const before = known.get(file);
    if (before !== undefined)
      throw failure(
        "wrong_use",
        `${path} is named twice, as ${before} and as ${as}.`,
        "Name a file of its own for each.",
      );
    known.set(file, as);
  }
};

/** Of a pipe or a terminal none is needed: two may share it. */
const identityOf = async (path: string): Promise<string | undefined> => {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (!found) return resolve(path);
  return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
};
