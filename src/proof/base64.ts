/** Base64 of RFC 4648 §4 in its one canonical form, as every C2SP text uses it. By Buffer: Node 20 has no Uint8Array.fromBase64. */
import { Buffer } from "node:buffer";

export const encodeBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

/** undefined: not base64, or not as the encoder writes it. Otherwise one proof or signature would have many texts. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  // It forgives white space, missing padding, bits that are left over, and whatever is no base64 at all.
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  return encodeBase64(bytes) === text ? bytes : undefined;
};
