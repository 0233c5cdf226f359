const decoder = new TextDecoder("utf-8", { fatal: true });

/** RFC 8259 §8.1: a byte order mark is ignored. Undefined if the bytes are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};
