/** A bundle as the verifier sees it: named files, whatever holds them. */

export interface BundleFiles {
  /** The files that are handed over as the bundle; a foreign one among them makes it invalid. */
  readonly names: readonly string[];
  /** Other files in the same place, such as `.DS_Store`. They are no part of the bundle, and are not read. */
  readonly besides: readonly string[];
  /** The content of one of `names`, in pieces. Throws DamagedFileError. */
  chunks(name: string): AsyncGenerator<Uint8Array>;
}

/** The content of a file cannot be read; the message says why. */
export class DamagedFileError extends Error {
  override readonly name = "DamagedFileError";
}

/** A small ZIP can unpack to terabytes: no more is unpacked than a file may have. */
export async function* upTo(bytesMax: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    yield chunk;
    if (bytes > bytesMax)
      throw new DamagedFileError(`it is longer than the ${bytesMax} bytes that it may have`);
  }
}

export class MalformedLineError extends Error {
  override readonly name = "MalformedLineError";
}

/** Longer than the longest possible line: a record of 260 KiB in base64, and the hashes of the deepest tree. */
const LINE_BYTES_MAX = 1024 * 1024;
const NEWLINE = 0x0a;

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
