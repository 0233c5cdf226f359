/** Files that must be completely on disk before anything relies on them, and files that may not exist. */
import { access, open } from "node:fs/promises";

const OWNER_ONLY = 0o600;

/** Readable by its owner only, and fsynced; its name is durable after `syncFolder`. With `wx` it rejects with EEXIST if the file exists. */
export const writeDurably = async (path: string, text: string, flags: "w" | "wx" = "w"): Promise<void> => {
  const handle = await open(path, flags, OWNER_ONLY);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** A new name survives a power failure only once its folder is on disk as well. */
export const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * For a folder chosen by the user, which may be writable but not readable: it cannot be opened to be synced, but the file can be created in it. A
 * power failure right afterwards may lose the file's name.
 */
export const syncFolderIfReadable = (path: string): Promise<void> =>
  syncFolder(path).catch((error: unknown) => {
    if (!hasCode(error, "EACCES")) throw error;
  });

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
