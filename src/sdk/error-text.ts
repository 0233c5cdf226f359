import { isError } from "./is-error.ts";

/** What was thrown, as a text. It may be anything that a program throws, and may itself refuse to be a text. */
export const textOf = (error: unknown): string => {
  try {
    return isError(error) ? error.message : String(error);
  } catch {
    return "something that cannot be written";
  }
};
