/** A bundle as the verifier sees it: named files, whatever holds them. */

export interface BundleFiles {
  /** The files given as the bundle; a foreign one makes it invalid. */
  readonly names: readonly string[];
  /** Other files in the same place, such as `.DS_Store`. They are not part of the bundle, and not read. */
  readonly besides: readonly string[];
  /** The content of one of `names`, in pieces. Throws DamagedFileError. */
  chunks(name: string): AsyncGenerator<Uint8Array>;
}

/** The content of a file cannot be read; the message says why. */
export class DamagedFileError extends Error {
  override readonly name = "DamagedFileError";
}

/** A small ZIP can unpack to terabytes, so unpacking stops at the file's limit. */
export async function* upTo(bytesMax: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    yield chunk;
    if (bytes > bytesMax) throw new DamagedFileError(`it is longer than the allowed ${bytesMax} bytes`);
  }
}
