/** An import reads one file and writes two others. If two of them were the same file, it would overwrite what it must keep. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { failure } from "../failure.ts";

/** `paths`: each with the option that named it. Throws a Failure. */
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

/** Pipes and terminals are exempt: two of the files may share one. */
const identityOf = async (path: string): Promise<string | undefined> => {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (!found) return resolve(path);
  return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
};
