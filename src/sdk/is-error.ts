/** Of this realm or another: test runners have an `Error` of their own (`node:vm`), which what the system and `fetch` throw is not. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
