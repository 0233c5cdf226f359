/**
 * Whether it is an error of this or another realm: a test runner (`node:vm`) has an `Error` of its own, and errors of the system and of `fetch` are
 * no instances of it.
 */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
