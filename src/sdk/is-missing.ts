import { statSync } from "node:fs";

/** Whether what a call of the file system threw says that the file or the folder is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/** Not so where it cannot be asked. */
export const isGone = (path: string): boolean => {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return isMissing(error);
  }
};
