/** Of this realm or another: what `TextEncoder` gives in a test runner's (`node:vm`) may be no `Uint8Array` here. */
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
