/**
 * Whether it is a byte array of this or another realm: in a test runner (`node:vm`) the result of `TextEncoder` may be no instance of this realm's
 * `Uint8Array`.
 */
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
