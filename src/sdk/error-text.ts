import { isError } from "./is-error.ts";

/** A thrown value as text. A program may throw anything, even an object that cannot be converted to text. */
export const textOf = (error: unknown): string => {
  try {
    return isError(error) ? error.message : String(error);
  } catch {
    return "something that cannot be written";
  }
};
