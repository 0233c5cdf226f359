/**
 * Finds the files in a ZIP (PKWARE APPNOTE 6.3.10) that any program may have written. Order, compression, time stamps, comments and extra fields mean
 * nothing. What makes two readers see different files is refused: entries that overlap or leave bytes between them, two entries with one name, two
 * names of one entry, and paths that lead out of the folder.
 */
import { inflated } from "../primitives.ts";
import { type BundleFiles, DamagedFileError } from "./bundle-files.ts";
import { endOf, type NotValid, undecided } from "./verdict.ts";

/** A file, or anything else whose bytes can be read by offset. */
export interface BundleSource {
  readonly size: number;
  /** All bytes of `from` to `to`, which lie within the size. */
  read(from: number, to: number): Promise<Uint8Array>;
}

/** Undecided if the ZIP says nothing about the bundle's content, good or bad. */
export type OpenedZip =
  | { readonly kind: "opened"; readonly files: BundleFiles }
  | Extract<NotValid, { readonly kind: "undecided" }>;

export const openZip = async (source: BundleSource): Promise<OpenedZip> => {
  try {
    return { kind: "opened", files: await filesIn(source) };
  } catch (error) {
    const end = endOf(error);
    if (end.kind === "undecided") return end;
    throw error;
  }
};

interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly packedBytes: number;
  /** The offset of its local header. */
  readonly from: number;
  /** The offset of its data. */
  readonly dataFrom: number;
}

/** Far more than a bundle needs: a dozen files, and as many that a file manager adds. */
const DIRECTORY_BYTES_MAX = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
const ENCRYPTED_FLAG = 1;
const DESCRIPTOR_FLAG = 8;
/** §4.3.9: with and without its signature, with sizes of 4 and of 8 bytes. */
const DESCRIPTOR_BYTES: readonly number[] = [12, 16, 20, 24];
const STORED = 0;
const DEFLATED = 8;

const filesIn = async (source: BundleSource): Promise<BundleFiles> => {
  const { directoryFrom, directoryTo } = await findDirectory(source);
  if (directoryFrom > directoryTo || directoryTo - directoryFrom > DIRECTORY_BYTES_MAX)
    return undecided("Its directory is damaged, or names far more files than a bundle has.");
  const entries: Entry[] = [];
  for (const listed of readDirectory(await source.read(directoryFrom, directoryTo)))
    entries.push({ ...listed, dataFrom: await findData(source, listed, directoryFrom) });
  checkPlaces(entries, directoryFrom);
  const files = entries.filter(({ name }) => !name.endsWith("/"));
  const [own, besides] = [
    files.filter(({ name }) => !LITTER.test(name)),
    files.filter(({ name }) => LITTER.test(name)),
  ];
  const folder = commonFolder(own);
  const byName = new Map(own.map((entry) => [entry.name.slice(folder.length), entry]));
  return {
    names: [...byName.keys()],
    besides: besides.map(({ name }) => name),
    chunks: (name) => contentOf(source, byName.get(name)),
  };
};

/** What macOS and Windows add to folders and to the ZIPs that they write. */
const LITTER = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)$/;

/** The folder that holds all files, if somebody packed the folder and not what is in it. */
const commonFolder = (entries: readonly Entry[]): string => {
  const [first] = entries;
  const folder = first?.name.slice(0, first.name.lastIndexOf("/") + 1) ?? "";
  return entries.every(({ name }) => name.startsWith(folder)) ? folder : "";
};

/** §4.3.16. The record of the end can be followed by a comment alone. */
const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const COMMENT_BYTES_MAX = 0xffff;
const IN_64_BITS = 0xffffffff;

const findDirectory = async (
  source: BundleSource,
): Promise<{ readonly directoryFrom: number; readonly directoryTo: number }> => {
  const tailFrom = Math.max(0, source.size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = viewOf(await source.read(tailFrom, source.size));
  let place = tail.byteLength - END_BYTES;
  while (place >= 0 && tail.getUint32(place, true) !== END_SIGNATURE) place--;
  if (place < 0)
    return undecided("It is no ZIP, or it was cut off: the end of a ZIP is not there. Download it again.");
  if (place + END_BYTES + tail.getUint16(place + 20, true) !== tail.byteLength)
    return undecided("It does not end where its ZIP ends: bytes were added behind it, or some are missing.");
  if (tail.getUint16(place + 4, true) !== tail.getUint16(place + 6, true))
    return undecided("It is one part of a ZIP in several files: join them first.");
  const [directoryBytes, directoryFrom] = [
    tail.getUint32(place + 12, true),
    tail.getUint32(place + 16, true),
  ];
  const endFrom = tailFrom + place;
  if (directoryFrom + directoryBytes === endFrom) return { directoryFrom, directoryTo: endFrom };
  return (
    (await findDirectory64(source, endFrom)) ??
    undecided("Its directory is not where the ZIP says: bytes were put in or taken out.")
  );
};

/** §4.3.14 and §4.3.15. */
const END_64_BYTES = 56;
const END_64_SIGNATURE = 0x06064b50;
const LOCATOR_BYTES = 20;
const LOCATOR_SIGNATURE = 0x07064b50;

const findDirectory64 = async (source: BundleSource, endFrom: number) => {
  const directoryTo = endFrom - LOCATOR_BYTES - END_64_BYTES;
  if (directoryTo < 0) return undefined;
  const end = viewOf(await source.read(directoryTo, endFrom));
  const directoryFrom = number64(end, 48);
  const isWhole =
    end.getUint32(0, true) === END_64_SIGNATURE &&
    end.getUint32(END_64_BYTES, true) === LOCATOR_SIGNATURE &&
    number64(end, END_64_BYTES + 8) === directoryTo &&
    directoryFrom + number64(end, 40) === directoryTo;
  return isWhole ? { directoryFrom, directoryTo } : undefined;
};

const number64 = (view: DataView, place: number): number => Number(view.getBigUint64(place, true));

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** §4.3.12. */
const HEADER_BYTES = 46;
const HEADER_SIGNATURE = 0x02014b50;

function* readDirectory(bytes: Uint8Array): Generator<Omit<Entry, "dataFrom">> {
  const view = viewOf(bytes);
  const seen = new Set<string>();
  for (let place = 0; place < bytes.length; ) {
    if (place + HEADER_BYTES > bytes.length || view.getUint32(place, true) !== HEADER_SIGNATURE)
      undecided("Its directory is damaged.");
    const nameFrom = place + HEADER_BYTES;
    const extraFrom = nameFrom + view.getUint16(place + 28, true);
    const commentFrom = extraFrom + view.getUint16(place + 30, true);
    const next = commentFrom + view.getUint16(place + 32, true);
    if (next > bytes.length) undecided("Its directory is damaged.");
    const name = nameIn(bytes.subarray(nameFrom, extraFrom));
    if (seen.has(name))
      undecided(`It holds ${name} twice, and programs differ in which one they take: pack it again.`);
    seen.add(name);
    const extra = extra64(viewOf(bytes.subarray(extraFrom, commentFrom)));
    // §4.5.3: only the figures that do not fit are in the extra field, in this order.
    const [, packedBytes = 0, from = 0] = [24, 20, 42].map((at) => {
      const figure = view.getUint32(place + at, true);
      return figure === IN_64_BITS ? (extra.next().value ?? undecided("Its directory is damaged.")) : figure;
    });
    yield {
      name,
      flags: view.getUint16(place + 8, true),
      method: view.getUint16(place + 10, true),
      packedBytes,
      from,
    };
    place = next;
  }
}

const EXTRA_64 = 1;

function* extra64(extra: DataView): Generator<number, undefined> {
  for (let place = 0; place + 4 <= extra.byteLength; ) {
    const end = place + 4 + extra.getUint16(place + 2, true);
    if (extra.getUint16(place, true) === EXTRA_64)
      for (let at = place + 4; at + 8 <= Math.min(end, extra.byteLength); at += 8) yield number64(extra, at);
    place = end;
  }
  return undefined;
}

/** Some programs on Windows write backslashes. Names that are no UTF-8 are none of a bundle's, so it does not matter how they are read. */
const nameIn = (bytes: Uint8Array): string => {
  const name = new TextDecoder().decode(bytes).replaceAll("\\", "/");
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name) || name.split("/").includes(".."))
    return undecided(
      `It holds ${name}, a path that leads out of the folder into which it is unpacked. Do not unpack it.`,
    );
  return name;
};

/** §4.3.7. */
const LOCAL_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;

/** Where the data of an entry begins; its own header must name it as the directory does. */
const findData = async (
  source: BundleSource,
  { name, from, flags, method }: Omit<Entry, "dataFrom">,
  end: number,
): Promise<number> => {
  if ((flags & ENCRYPTED_FLAG) !== 0)
    return undecided(`${name} is encrypted: unpack it first, and verify the folder.`);
  if (method !== STORED && method !== DEFLATED)
    return undecided(
      `${name} is compressed in a way that the verifier cannot read (method ${method}): unpack it first, and verify the folder.`,
    );
  if (from + LOCAL_BYTES > end) return undecided(`${name} is not where the directory says.`);
  const header = viewOf(await source.read(from, from + LOCAL_BYTES));
  const nameTo = from + LOCAL_BYTES + header.getUint16(26, true);
  if (header.getUint32(0, true) !== LOCAL_SIGNATURE || nameTo > end)
    return undecided(`${name} is not where the directory says.`);
  if (nameIn(await source.read(from + LOCAL_BYTES, nameTo)) !== name || header.getUint16(8, true) !== method)
    return undecided(`${name} has another name or compression in its own header than in the directory.`);
  return nameTo + header.getUint16(28, true);
};

/** The entries stand one behind the other from the first byte to the directory, in any order. */
const checkPlaces = (entries: readonly Entry[], directoryFrom: number): void => {
  let free = 0;
  let descriptors: readonly number[] = [0];
  for (const { name, from, dataFrom, packedBytes, flags } of entries.toSorted((a, b) => a.from - b.from)) {
    if (!descriptors.includes(from - free))
      undecided(`Bytes that belong to no file stand before ${name}, or files overlap.`);
    free = dataFrom + packedBytes;
    descriptors = (flags & DESCRIPTOR_FLAG) === 0 ? [0] : DESCRIPTOR_BYTES;
  }
  if (!descriptors.includes(directoryFrom - free))
    undecided("Bytes that belong to no file stand before the directory, or the last file overlaps it.");
};

/** Sizes and checksums of the ZIP are not looked at: the digests of the content decide. */
async function* contentOf(source: BundleSource, entry: Entry | undefined): AsyncGenerator<Uint8Array> {
  if (entry === undefined) throw new DamagedFileError("it is not there");
  const packed = packedChunks(source, entry);
  yield* entry.method === DEFLATED ? unpacked(packed) : packed;
}

async function* packedChunks(
  source: BundleSource,
  { dataFrom, packedBytes }: Entry,
): AsyncGenerator<Uint8Array> {
  const to = dataFrom + packedBytes;
  for (let place = dataFrom; place < to; place += CHUNK_BYTES)
    yield await source.read(place, Math.min(to, place + CHUNK_BYTES));
}

async function* unpacked(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // A disk that cannot be read says nothing about the bundle.
  const failures: unknown[] = [];
  const read = async function* () {
    try {
      yield* packed;
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  try {
    yield* inflated(read());
  } catch {
    if (failures.length > 0) throw failures[0];
    throw new DamagedFileError("it cannot be unpacked");
  }
}
