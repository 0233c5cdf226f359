/**
 * Finds the files in a ZIP (PKWARE APPNOTE 6.3.10) that any program may have written. It refuses what two readers could see differently: entries that
 * overlap or leave bytes between them, two entries with one name, two names of one entry, and paths that lead out of the folder.
 */
import { type BundleFiles, DamagedFileError } from "./bundle-files.ts";
import { endOf, type NotValid, undecided } from "./verdict.ts";

/** A file, or anything else whose bytes can be read by offset. */
export interface BundleSource {
  readonly size: number;
  /** All bytes of `from` to `to`, which lie within the size. */
  read(from: number, to: number): Promise<Uint8Array>;
}

export type OpenedZip = { readonly kind: "opened"; readonly files: BundleFiles } | NotValid;

/** What the container looks like never makes a bundle invalid. */
export const openZip = async (source: BundleSource): Promise<OpenedZip> => {
  try {
    return { kind: "opened", files: await filesIn(source) };
  } catch (error) {
    return endOf(error);
  }
};

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly hasDescriptor: boolean;
  readonly packedBytes: number;
  /** The offsets of its local header and of its data. */
  readonly from: number;
  readonly dataFrom: number;
}

/** What macOS and Windows add to folders and to the ZIPs that they write. */
const LITTER = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)$/;

const filesIn = async (source: BundleSource): Promise<BundleFiles> => {
  const directory = await findDirectory(source);
  const entries: Entry[] = [];
  for (const listed of readDirectory(await source.read(directory.from, directory.to)))
    entries.push({ ...listed, dataFrom: await findData(source, listed, directory.from) });
  checkPlaces(entries, directory.from);
  const files = entries.filter(({ name }) => !name.endsWith("/"));
  const own = files.filter(({ name }) => !LITTER.test(name));
  // The folder may have been packed instead of its content.
  const folder = own[0]?.name.slice(0, own[0].name.lastIndexOf("/") + 1) ?? "";
  const prefix = own.every(({ name }) => name.startsWith(folder)) ? folder.length : 0;
  const byName = new Map(own.map((entry) => [entry.name.slice(prefix), entry]));
  return {
    names: [...byName.keys()],
    besides: files.filter(({ name }) => LITTER.test(name)).map(({ name }) => name),
    chunks: (name) => contentOf(source, byName.get(name)),
  };
};

/** §4.3.16, §4.3.14 and §4.3.15: the end, and before it what only ZIP64 has. */
const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const END_64_BYTES = 56;
const END_64_SIGNATURE = 0x06064b50;
const LOCATOR_BYTES = 20;
const LOCATOR_SIGNATURE = 0x07064b50;
/** In the place of a figure that ZIP64 holds elsewhere. */
const IN_64_BITS = 0xffffffff;
/** The longest comment, which alone may follow the end. */
const TAIL_BYTES_MAX = END_64_BYTES + LOCATOR_BYTES + END_BYTES + 0xffff;
/** Far more than a bundle needs: a dozen files, and as many from a file manager. */
const DIRECTORY_BYTES_MAX = 64 * 1024;

const findDirectory = async ({ size, read }: BundleSource): Promise<{ from: number; to: number }> => {
  const tailFrom = Math.max(0, size - TAIL_BYTES_MAX);
  const tail = viewOf(await read(tailFrom, size));
  let end = tail.byteLength - END_BYTES;
  while (end >= 0 && tail.getUint32(end, true) !== END_SIGNATURE) end--;
  if (end < 0) return undecided("It is not a ZIP, or it was cut off: its end is missing. Download it again.");
  if (end + END_BYTES + tail.getUint16(end + 20, true) !== tail.byteLength)
    return undecided("It does not end where its ZIP ends: bytes were added at the end, or are missing.");
  if (tail.getUint16(end + 4, true) !== tail.getUint16(end + 6, true))
    return undecided("It is one part of a split ZIP: join the parts first.");
  let [bytes, from, to] = [tail.getUint32(end + 12, true), tail.getUint32(end + 16, true), end];
  const end64 = end - LOCATOR_BYTES - END_64_BYTES;
  if (end64 >= 0 && tail.getUint32(end - LOCATOR_BYTES, true) === LOCATOR_SIGNATURE) {
    const short = [bytes, from];
    [bytes, from, to] = [number64(tail, end64 + 40), number64(tail, end64 + 48), end64];
    const isConsistent =
      tail.getUint32(end64, true) === END_64_SIGNATURE &&
      number64(tail, end - LOCATOR_BYTES + 8) === tailFrom + end64 &&
      [bytes, from].every((figure, index) => short[index] === IN_64_BITS || short[index] === figure);
    if (!isConsistent) undecided(NOT_THERE);
  }
  if (from + bytes !== tailFrom + to) undecided(NOT_THERE);
  if (bytes > DIRECTORY_BYTES_MAX) undecided("It names far more files than a bundle has.");
  return { from, to: from + bytes };
};

const NOT_THERE = "Its directory is not where the ZIP says: bytes were added or removed.";

const number64 = (view: DataView, place: number): number => Number(view.getBigUint64(place, true));

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** §4.3.12. */
const HEADER_BYTES = 46;
const HEADER_SIGNATURE = 0x02014b50;
const DAMAGED = "Its directory is damaged.";
const ENCRYPTED_FLAG = 1;
const DESCRIPTOR_FLAG = 8;
const STORED = 0;
const DEFLATED = 8;

const readDirectory = (bytes: Uint8Array): readonly Omit<Entry, "dataFrom">[] => {
  const view = viewOf(bytes);
  const entries = new Map<string, Omit<Entry, "dataFrom">>();
  for (let at = 0; at < bytes.length; ) {
    if (at + HEADER_BYTES > bytes.length || view.getUint32(at, true) !== HEADER_SIGNATURE) undecided(DAMAGED);
    const nameFrom = at + HEADER_BYTES;
    const extraFrom = nameFrom + view.getUint16(at + 28, true);
    const commentFrom = extraFrom + view.getUint16(at + 30, true);
    const next = commentFrom + view.getUint16(at + 32, true);
    if (next > bytes.length) undecided(DAMAGED);
    const name = nameIn(bytes.subarray(nameFrom, extraFrom));
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
    if (entries.has(name))
      undecided(`It holds ${name} twice, and programs differ in which one they use: pack it again.`);
    if ((flags & ENCRYPTED_FLAG) !== 0)
      undecided(`${name} is encrypted: unpack it first, and verify the folder.`);
    if (method !== STORED && method !== DEFLATED)
      undecided(
        `${name} has a compression that the verifier cannot read (method ${method}): unpack it first, and verify the folder.`,
      );
    const extra = extra64(viewOf(bytes.subarray(extraFrom, commentFrom)));
    // §4.5.3: only the figures that do not fit are in the extra field, in this order.
    const [, packedBytes = 0, from = 0] = [24, 20, 42].map((place) => {
      const figure = view.getUint32(at + place, true);
      return figure === IN_64_BITS ? (extra.shift() ?? undecided(DAMAGED)) : figure;
    });
    entries.set(name, { name, method, hasDescriptor: (flags & DESCRIPTOR_FLAG) !== 0, packedBytes, from });
    at = next;
  }
  return [...entries.values()];
};

const EXTRA_64 = 1;

const extra64 = (extra: DataView): number[] => {
  const figures: number[] = [];
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== EXTRA_64) continue;
    const end = Math.min(extra.byteLength, at + 4 + extra.getUint16(at + 2, true));
    for (let figure = at + 4; figure + 8 <= end; figure += 8) figures.push(number64(extra, figure));
  }
  return figures;
};

/** Some programs on Windows write backslashes. No file of a bundle has a name that is not UTF-8, so such names may be misread. */
const nameIn = (bytes: Uint8Array): string => {
  const name = new TextDecoder().decode(bytes).replaceAll("\\", "/");
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name) || name.split("/").includes(".."))
    return undecided(`It holds ${name}, a path that leads out of its folder. Do not unpack it.`);
  return name;
};

/** §4.3.7. */
const LOCAL_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;

/** Where the data of an entry begins; its own header must name it as the directory does. */
const findData = async (
  { read }: BundleSource,
  { name, from, method }: Omit<Entry, "dataFrom">,
  end: number,
): Promise<number> => {
  const elsewhere = (): never => undecided(`${name} is not where the directory says.`);
  if (from + LOCAL_BYTES > end) elsewhere();
  const header = viewOf(await read(from, from + LOCAL_BYTES));
  const nameTo = from + LOCAL_BYTES + header.getUint16(26, true);
  if (header.getUint32(0, true) !== LOCAL_SIGNATURE || nameTo > end) elsewhere();
  if (nameIn(await read(from + LOCAL_BYTES, nameTo)) !== name || header.getUint16(8, true) !== method)
    undecided(`${name} has another name or compression in its header than in the directory.`);
  return nameTo + header.getUint16(28, true);
};

/** §4.3.9: behind the data, with and without its signature, with sizes of 4 and of 8 bytes. */
const DESCRIPTOR_BYTES: readonly number[] = [12, 16, 20, 24];

/** The entries follow each other from the first byte to the directory, in any order. */
const checkPlaces = (entries: readonly Entry[], directoryFrom: number): void => {
  const places = entries.toSorted((one, other) => one.from - other.from);
  let free = 0;
  let between: readonly number[] = [0];
  for (const { name, from, dataFrom, packedBytes, hasDescriptor } of [
    ...places,
    directoryAt(directoryFrom),
  ]) {
    if (!between.includes(from - free))
      undecided(`Bytes before ${name} belong to no file, or files overlap.`);
    free = dataFrom + packedBytes;
    between = hasDescriptor ? DESCRIPTOR_BYTES : [0];
  }
};

const directoryAt = (from: number) => ({
  ...{ name: "the directory", from, dataFrom: from, packedBytes: 0, hasDescriptor: false },
});

/** Sizes and checksums of the ZIP are ignored: the digests of the content decide. */
async function* contentOf(source: BundleSource, entry: Entry | undefined): AsyncGenerator<Uint8Array> {
  if (entry === undefined) throw new DamagedFileError("it is missing");
  const packed = packedChunks(source, entry);
  yield* entry.method === DEFLATED ? inflated(packed) : packed;
}

/** A piece is unpacked whole, to a thousand times its size at most. */
const CHUNK_BYTES = 64 * 1024;

async function* packedChunks(
  { read }: BundleSource,
  { dataFrom, packedBytes }: Entry,
): AsyncGenerator<Uint8Array> {
  const to = dataFrom + packedBytes;
  for (let at = dataFrom; at < to; at += CHUNK_BYTES) yield await read(at, Math.min(to, at + CHUNK_BYTES));
}

/** With a reader: WebKit lacks `for await` for streams. */
async function* inflated(packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let failure: { readonly error: unknown } | undefined;
  const source = new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await packed.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        failure = { error };
        controller.error(error);
      }
    },
  });
  const reader = source.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch {
    // An unreadable disk says nothing about the bundle.
    if (failure) throw failure.error;
    throw new DamagedFileError("it cannot be unpacked");
  } finally {
    await reader.cancel().catch(() => {});
  }
}
