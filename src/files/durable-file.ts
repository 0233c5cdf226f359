/** Files that must be whole on disk before anything relies on them, and files that may not be there. */
import { access, open } from "node:fs/promises";

const OWNER_ONLY = 0o600;

/** Readable by its owner only, and fsynced; its name is durable after `syncFolder`. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const handle = await open(path, "w", OWNER_ONLY);
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
 * For a folder of somebody's own, which may be one that they can write into and not read: it cannot be opened to be synced, and the file is in it all the
 * same. A power failure right afterwards may take its name.
 */
export const syncFolderIfReadable = (path: string): Promise<void> =>
  syncFolder(path).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) throw error;
  });

/** It is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/** For a file that may not be there: the value that stands for it. */
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
