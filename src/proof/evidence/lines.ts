/** Splits bytes that come in chunks into lines of text. */

/** Longer than the longest possible line: a record of 260 KiB in base64, and the hashes of the deepest tree. */
const LINE_BYTES_MAX = 1024 * 1024;
const NEWLINE = 0x0a;

export class MalformedLineError extends Error {
  override readonly name = "MalformedLineError";
}

/** Every line ends with a line break, including the last one. Throws MalformedLineError. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : joined(rest, chunk);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      yield text(decoder, bytes.subarray(from, end));
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > LINE_BYTES_MAX) throw new MalformedLineError("a line is longer than any record");
  }
  if (rest.length > 0) throw new MalformedLineError("the last line does not end");
}

const joined = (rest: Uint8Array, chunk: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(rest.length + chunk.length);
  bytes.set(rest);
  bytes.set(chunk, rest.length);
  return bytes;
};

const text = (decoder: TextDecoder, bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new MalformedLineError("a line is not text in UTF-8");
  }
};
