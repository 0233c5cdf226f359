/**
 * Reads a bundle's ZIP, and accepts only the form in which it is written (zip-layout.ts): entries one behind the other from the first byte, then the
 * directory, then its end, and nothing after it.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw } from "node:zlib";
import {
  DESCRIPTOR_BYTES,
  DIRECTORY_HEADER_BYTES,
  dataFrom,
  descriptor,
  directoryHeader,
  END_BYTES,
  END_SIGNATURE,
  endOfDirectory,
  entryEnd,
  localHeader,
  type ZipEntry,
} from "./zip-layout.ts";

/** A file, or anything else whose bytes can be read by offset. */
export interface BundleSource {
  readonly size: number;
  /** All bytes of `from` to `to`, which lie within the size. */
  read(from: number, to: number): Promise<Uint8Array>;
}

export type ZipFailure =
  /** There are bytes behind the end. */
  | "appended_bytes"
  /** The end record is not found: the file is cut off, is no ZIP, or has very many bytes behind it. */
  | "cut_off"
  /** Headers, names or offsets are wrong. */
  | "zip_malformed"
  | "duplicate_file";

export type OpenedZip =
  | { readonly kind: "opened"; readonly entries: readonly ZipEntry[] }
  | {
      readonly kind: "failed";
      readonly code: ZipFailure;
      readonly detail: string;
      /** The damaged entry, if it is one. */
      readonly file?: string;
    };

/** Far larger than the directory of a dozen files. */
const DIRECTORY_BYTES_MAX = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
const NAME = /^[\w.-]+$/;
const PLACE_OF_NAME_LENGTH = 28;

export const openZip = async (source: BundleSource): Promise<OpenedZip> => {
  const end = await findEnd(source);
  if (end.kind === "failed") return end;
  const { directoryFrom } = end;
  const directory = await source.read(directoryFrom, source.size - END_BYTES);
  const entries = readDirectory(directory);
  if (entries === undefined || entries.length !== end.entries)
    return malformed("the directory at its end is not written as this service writes it");
  let from = 0;
  const names = new Set<string>();
  for (const entry of entries) {
    const { name: file } = entry;
    if (names.has(file))
      return { kind: "failed", code: "duplicate_file", detail: "it stands in the ZIP twice", file };
    names.add(file);
    if (entry.from !== from || entryEnd(entry) > directoryFrom)
      return malformed("it does not begin where the file before it ends", file);
    from = entryEnd(entry);
    if (!(await hasOwnHeaders(source, entry)))
      return malformed("its own headers do not agree with the directory", file);
  }
  if (from !== directoryFrom) return malformed("bytes stand between the last file and the directory");
  return { kind: "opened", entries };
};

const malformed = (detail: string, file?: string): OpenedZip & { kind: "failed" } => ({
  kind: "failed",
  code: "zip_malformed",
  detail,
  ...(file === undefined ? {} : { file }),
});

type FoundEnd =
  | { readonly kind: "found"; readonly entries: number; readonly directoryFrom: number }
  | (OpenedZip & { readonly kind: "failed" });

const findEnd = async (source: BundleSource): Promise<FoundEnd> => {
  const tail = await source.read(Math.max(0, source.size - DIRECTORY_BYTES_MAX), source.size);
  const place = lastEnd(tail);
  if (place === undefined)
    return {
      kind: "failed",
      code: "cut_off",
      detail: `the end of a ZIP is not there: the file is cut off, is none, or has more than ${DIRECTORY_BYTES_MAX / 1024} KiB behind it`,
    };
  const behind = tail.length - place - END_BYTES;
  if (behind > 0)
    return {
      kind: "failed",
      code: "appended_bytes",
      detail: `${behind} bytes stand behind the end of the ZIP`,
    };
  const view = new DataView(tail.buffer, tail.byteOffset + place, END_BYTES);
  const entries = view.getUint16(10, true);
  const directoryBytes = view.getUint32(12, true);
  const directoryFrom = view.getUint32(16, true);
  const expected = endOfDirectory({ entries, directoryBytes, directoryFrom });
  const isWhole = directoryFrom + directoryBytes + END_BYTES === source.size;
  if (!isWhole || directoryBytes > DIRECTORY_BYTES_MAX || !sameBytes(expected, tail.subarray(place)))
    return malformed("its end does not fit its length: bytes were put in or taken out");
  return { kind: "found", entries, directoryFrom };
};

/** The offset of the last end signature that has room for an end record. */
const lastEnd = (tail: Uint8Array): number | undefined => {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.length);
  for (let place = tail.length - END_BYTES; place >= 0; place--)
    if (view.getUint32(place, true) === END_SIGNATURE) return place;
  return undefined;
};

/** Undefined if a byte differs from what `directoryHeader` writes. */
const readDirectory = (bytes: Uint8Array): readonly ZipEntry[] | undefined => {
  const entries: ZipEntry[] = [];
  for (let place = 0; place < bytes.length; ) {
    const entry = readEntry(bytes, place);
    if (entry === undefined) return undefined;
    const header = directoryHeader(entry);
    if (!sameBytes(header, bytes.subarray(place, place + header.length))) return undefined;
    entries.push(entry);
    place += header.length;
  }
  return entries;
};

const readEntry = (bytes: Uint8Array, place: number): ZipEntry | undefined => {
  if (place + DIRECTORY_HEADER_BYTES > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + place, DIRECTORY_HEADER_BYTES);
  const nameFrom = place + DIRECTORY_HEADER_BYTES;
  const name = String.fromCharCode(
    ...bytes.subarray(nameFrom, nameFrom + view.getUint16(PLACE_OF_NAME_LENGTH, true)),
  );
  const method = view.getUint16(10, true);
  if (!NAME.test(name) || (method !== 0 && method !== 8)) return undefined;
  return {
    name,
    method,
    crc: view.getUint32(16, true),
    packedBytes: view.getUint32(20, true),
    bytes: view.getUint32(24, true),
    from: view.getUint32(42, true),
  };
};

const hasOwnHeaders = async (source: BundleSource, entry: ZipEntry): Promise<boolean> => {
  const end = entryEnd(entry);
  const [before, behind] = [
    await source.read(entry.from, dataFrom(entry)),
    await source.read(end - DESCRIPTOR_BYTES, end),
  ];
  return sameBytes(before, localHeader(entry)) && sameBytes(behind, descriptor(entry));
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

/** The entry's bytes as they are in the ZIP. */
export async function* packedChunks(source: BundleSource, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const from = dataFrom(entry);
  const to = from + entry.packedBytes;
  for (let place = from; place < to; place += CHUNK_BYTES)
    yield await source.read(place, Math.min(to, place + CHUNK_BYTES));
}

/** The content of the ZIP cannot be read, or differs from the directory; the message says which. */
export class DamagedEntryError extends Error {
  override readonly name = "DamagedEntryError";
}

/** The inflated file. Throws DamagedEntryError, at its end at the latest. */
export async function* contentChunks(source: BundleSource, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  let [bytes, crc] = [0, 0];
  const packed = packedChunks(source, entry);
  for await (const chunk of entry.method === 8 ? inflated(packed) : packed) {
    bytes += chunk.length;
    // No more than the declared size is inflated, whatever the entry contains.
    if (bytes > entry.bytes) break;
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (bytes !== entry.bytes) throw new DamagedEntryError("it is not as long as the ZIP says");
  if (crc !== entry.crc) throw new DamagedEntryError("its checksum is not the one in the ZIP");
}

async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw();
  // A failure here also fails the reading below.
  pipeline(Readable.from(packed), inflate).catch(() => {});
  try {
    for await (const chunk of inflate) yield chunk;
  } catch {
    throw new DamagedEntryError("it cannot be unpacked");
  }
}

/** A small file as a whole. Throws DamagedEntryError. */
export const content = async (source: BundleSource, entry: ZipEntry): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of contentChunks(source, entry)) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
};
