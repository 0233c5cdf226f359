/**
 * Base64 of RFC 4648 §4 in its one canonical form, as every C2SP text uses it. By `atob`: Node 20 has no Uint8Array.fromBase64.
 */

/** `String.fromCharCode` takes its characters as arguments, and a stack holds only so many. */
const CHUNK_BYTES = 8192;

export const encodeBase64 = (bytes: Uint8Array): string => {
  let binary = "";
  for (let begin = 0; begin < bytes.length; begin += CHUNK_BYTES)
    binary += String.fromCharCode(...bytes.subarray(begin, begin + CHUNK_BYTES));
  return btoa(binary);
};

/** undefined: not base64, or not as the encoder writes it. Otherwise one proof or signature would have many texts. */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    // `atob` forgives white space, missing padding and bits that are left over.
    return encodeBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
};
