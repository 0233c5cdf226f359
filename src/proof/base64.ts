/** Base64 of RFC 4648 §4 in its one canonical form, as every C2SP text uses it. */
import { encodeBase64, looselyDecodeBase64 } from "./primitives.ts";

export { encodeBase64 };

/** Undefined if the text is not base64, or not in the form that the encoder writes. Otherwise one proof or signature would have many texts. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  // The decoder ignores white space, missing padding, left-over bits and characters that are not base64.
  const bytes = looselyDecodeBase64(text);
  return encodeBase64(bytes) === text ? bytes : undefined;
};
