/** Base64 of RFC 4648 §4 in its one canonical form, as every C2SP text uses it. By Buffer: Node 20 has no Uint8Array.fromBase64. */
import { Buffer } from "node:buffer";

export const encodeBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

/** Undefined if the text is not base64, or not in the form that the encoder writes. Otherwise one proof or signature would have many texts. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  // The decoder ignores white space, missing padding, left-over bits and characters that are not base64.
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  return encodeBase64(bytes) === text ? bytes : undefined;
};
