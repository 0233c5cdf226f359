/**
 * The one form in which a bundle's ZIP is written (PKWARE APPNOTE 6.3.10): local headers without sizes, a data descriptor behind each entry, no extra
 * fields, no comments, one fixed time. So every byte outside the entries' data follows from the figures of the directory, and a reader can require
 * exactly these bytes. ZIP readers that look only at the end of the file miss bytes before, between and behind the entries.
 */

/** 0: stored as it is; 8: deflated (APPNOTE §4.4.5). */
export type Method = 0 | 8;

export interface ZipEntry {
  readonly name: string;
  readonly method: Method;
  readonly crc: number;
  /** Size in the ZIP. */
  readonly packedBytes: number;
  /** Size after inflating. */
  readonly bytes: number;
  /** Offset of its local header. */
  readonly from: number;
}

const LOCAL_HEADER_BYTES = 30;
export const DESCRIPTOR_BYTES = 16;
export const DIRECTORY_HEADER_BYTES = 46;
export const END_BYTES = 22;
export const END_SIGNATURE = 0x06054b50;

const LOCAL_SIGNATURE = 0x04034b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const DIRECTORY_SIGNATURE = 0x02014b50;
/** §4.4.3: 2.0. */
const VERSION = 20;
/** §4.4.4: sizes and CRC follow the data. */
const DESCRIPTOR_FLAG = 8;
/** 1980-01-01 00:00, the first DOS time: DOS times have no zone, so a real time would be ambiguous. */
const DOS_TIME = 0x00210000;

/** Names are ASCII. */
const utf8 = new TextEncoder();

export const dataFrom = ({ from, name }: Pick<ZipEntry, "from" | "name">): number =>
  from + LOCAL_HEADER_BYTES + name.length;

/** The offset of the next entry, or of the directory. */
export const entryEnd = (entry: Omit<ZipEntry, "method" | "crc" | "bytes">): number =>
  dataFrom(entry) + entry.packedBytes + DESCRIPTOR_BYTES;

/** §4.3.7. */
export const localHeader = ({ name, method }: Pick<ZipEntry, "name" | "method">): Uint8Array => {
  const { bytes, view } = blank(LOCAL_HEADER_BYTES, name);
  view.setUint32(0, LOCAL_SIGNATURE, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, DESCRIPTOR_FLAG, true);
  view.setUint16(8, method, true);
  view.setUint32(10, DOS_TIME, true);
  view.setUint16(26, name.length, true);
  return bytes;
};

/** §4.3.9. */
export const descriptor = ({
  crc,
  packedBytes,
  bytes: size,
}: Pick<ZipEntry, "crc" | "packedBytes" | "bytes">): Uint8Array => {
  const { bytes, view } = blank(DESCRIPTOR_BYTES, "");
  view.setUint32(0, DESCRIPTOR_SIGNATURE, true);
  view.setUint32(4, crc, true);
  view.setUint32(8, packedBytes, true);
  view.setUint32(12, size, true);
  return bytes;
};

/** §4.3.12. */
export const directoryHeader = (entry: ZipEntry): Uint8Array => {
  const { name } = entry;
  const { bytes, view } = blank(DIRECTORY_HEADER_BYTES, name);
  view.setUint32(0, DIRECTORY_SIGNATURE, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, VERSION, true);
  view.setUint16(8, DESCRIPTOR_FLAG, true);
  view.setUint16(10, entry.method, true);
  view.setUint32(12, DOS_TIME, true);
  view.setUint32(16, entry.crc, true);
  view.setUint32(20, entry.packedBytes, true);
  view.setUint32(24, entry.bytes, true);
  view.setUint16(28, name.length, true);
  view.setUint32(42, entry.from, true);
  return bytes;
};

/** §4.3.16. */
export const endOfDirectory = (parts: {
  readonly entries: number;
  readonly directoryBytes: number;
  readonly directoryFrom: number;
}): Uint8Array => {
  const { bytes, view } = blank(END_BYTES, "");
  view.setUint32(0, END_SIGNATURE, true);
  view.setUint16(8, parts.entries, true);
  view.setUint16(10, parts.entries, true);
  view.setUint32(12, parts.directoryBytes, true);
  view.setUint32(16, parts.directoryFrom, true);
  return bytes;
};

const blank = (length: number, name: string): { readonly bytes: Uint8Array; readonly view: DataView } => {
  const bytes = new Uint8Array(length + name.length);
  bytes.set(utf8.encode(name), length);
  return { bytes, view: new DataView(bytes.buffer) };
};
