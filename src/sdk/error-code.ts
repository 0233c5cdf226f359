/**
 * The code of a system error, such as ENOENT; undefined for any other. No `instanceof`: a test runner (`node:vm`) has an `Error` of its own, and
 * system errors are no instances of it.
 */
export const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
