/** Files that must be completely on disk before anything relies on them, and files that may not exist. */
import { access, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

const OWNER_ONLY = 0o600;

/** Readable by its owner only, and fsynced; its name is durable after `syncFolder`. With `wx` it rejects with EEXIST if the file exists. */
export const writeDurably = async (path: string, text: string, flags: "w" | "wx" = "w"): Promise<void> => {
  await using file = await open(path, flags, OWNER_ONLY);
  await file.writeFile(text);
  await file.sync();
};

/** The file has its old text or the new one, also after a power failure. What an earlier attempt left is overwritten. */
export const replaceDurably = async (path: string, text: string): Promise<void> => {
  const unfinished = `${path}.new`;
  await writeDurably(unfinished, text);
  await rename(unfinished, path);
  await syncFolder(dirname(path));
};

/**
 * A new name survives a power failure only once its folder is on disk as well. A folder chosen by the user may be writable but not readable, and
 * then cannot be synced.
 */
export const syncFolder = async (path: string): Promise<void> => {
  await using folder = await open(path, "r").catch((error: unknown) => {
    if (!hasCode(error, "EACCES")) throw error;
    return undefined;
  });
  await folder?.sync();
};

/** The file does not exist. */
export const isMissing = (error: unknown): boolean => hasCode(error, "ENOENT");

/** There is a file of this name already. */
export const isTaken = (error: unknown): boolean => hasCode(error, "EEXIST");

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/** For a file that may not exist: the value to use instead. */
export const missingAs =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (isMissing(error)) return value;
    throw error;
  };

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
