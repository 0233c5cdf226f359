import { statSync } from "node:fs";
import { codeOf } from "./error-code.ts";

/** Whether an error of the file system says that the file or the folder does not exist. */
export const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT";

/** False if that cannot be found out. */
export const isGone = (path: string): boolean => {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return isMissing(error);
  }
};
