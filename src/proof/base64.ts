/** Bytes as text: base64 of RFC 4648 §4 in its one canonical form, as every C2SP text has it, and hexadecimal digits. */
import { encodeBase64, looselyDecodeBase64 } from "./primitives.ts";
import { type Hash, isHash } from "./rfc6962.ts";

export { encodeBase64 };

/** Undefined if the text is not base64, or not in the form that the encoder writes. Otherwise one proof or signature would have many texts. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  // The decoder ignores white space, missing padding, left-over bits and characters that are not base64.
  const bytes = looselyDecodeBase64(text);
  return encodeBase64(bytes) === text ? bytes : undefined;
};

/** Undefined unless each text is a hash. */
export const decodeHashes = (texts: readonly string[]): readonly Hash[] | undefined => {
  const hashes = texts.map(decodeBase64).filter(isHash);
  return hashes.length === texts.length ? hashes : undefined;
};

export const encodeHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
