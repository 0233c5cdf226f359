/** Which kind of value a program passed in, also if it comes from another realm, such as that of a test runner (`node:vm`). */

export type JsonObject = Readonly<Record<string, unknown>>;

/** An object that is neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

export const isError = (value: unknown): value is Error =>
  value instanceof Error || tagOf(value) === "[object Error]";

export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && tagOf(value) === "[object Uint8Array]";

/** A thrown value as text. A program may throw anything, even an object that cannot be converted to text. */
export const textOf = (error: unknown): string => {
  try {
    return isError(error) ? error.message : String(error);
  } catch {
    return "something that cannot be written";
  }
};
