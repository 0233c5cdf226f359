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
