import { statSync } from "node:fs";
import { codeOf } from "./error-code.ts";

/** Whether what a call of the file system threw says that the file or the folder is not there. */
export const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT";

/** Not so where it cannot be asked. */
export const isGone = (path: string): boolean => {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return isMissing(error);
  }
};
