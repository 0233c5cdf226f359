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
