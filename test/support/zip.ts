/** Writes ZIPs (PKWARE APPNOTE 6.3.10) in the forms of other programs, and in forms that only an attacker makes. */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  readonly name: string;
  readonly content: Uint8Array;
  /** The bytes in the ZIP, where the content is not deflated here. */
  readonly packed?: { readonly method: number; readonly bytes: Uint8Array };
  readonly flags?: number;
  /** In the local header, where another one than in the directory. */
  readonly localName?: string;
  /** Behind the data, where sizes and checksum are (§4.3.9): with or without signature, with sizes of 4 or 8 bytes. */
  readonly descriptor?: { readonly isSigned: boolean; readonly sizes: 4 | 8 };
  readonly extra?: Uint8Array;
  /** Bytes that belong to no file. */
  readonly gapBefore?: Uint8Array;
}

export interface ZipForm {
  readonly dosTime?: number;
  readonly comment?: string;
  readonly is64?: boolean;
  readonly gapBeforeDirectory?: Uint8Array;
}

export const writeZip = (files: readonly ZipFile[], form: ZipForm = {}): Buffer => {
  const { dosTime = 0x5d7c6000, comment = "", is64 = false, gapBeforeDirectory = new Uint8Array(0) } = form;
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  const put = (...added: readonly Uint8Array[]): void => {
    parts.push(...added);
    for (const { length } of added) at += length;
  };
  for (const file of files) {
    put(file.gapBefore ?? new Uint8Array(0));
    const from = at;
    const { method, bytes } = file.packed ?? { method: 8, bytes: deflateRawSync(file.content, { level: 9 }) };
    const { descriptor, extra = new Uint8Array(0) } = file;
    const flags = (file.flags ?? 0) | (descriptor ? 8 : 0);
    const figures = [crc32(file.content), bytes.length, file.content.length] as const;
    const local = descriptor ? ([0, 0, 0] as const) : figures;
    const localName = Buffer.from(file.localName ?? file.name);
    put(
      shorts(0x4b50, 0x0403, 20, flags, method),
      words(dosTime, ...local),
      shorts(localName.length, extra.length),
      localName,
      extra,
      bytes,
    );
    if (descriptor) {
      if (descriptor.isSigned) put(words(0x08074b50));
      put(
        words(figures[0]),
        descriptor.sizes === 4 ? words(...figures.slice(1)) : longs(...figures.slice(1)),
      );
    }
    const name = Buffer.from(file.name);
    const [crc, packedBytes, size] = figures;
    const ownExtra = is64 ? Buffer.concat([extra, shorts(1, 24), longs(size, packedBytes, from)]) : extra;
    const shown = (figure: number): number => (is64 ? 0xffffffff : figure);
    directory.push(
      shorts(0x4b50, 0x0201, 0x0314, 20, flags, method),
      words(dosTime, crc, shown(packedBytes), shown(size)),
      shorts(name.length, ownExtra.length, 0, 0, 0),
      words(0x81a40000, shown(from)),
      name,
      ownExtra,
    );
  }
  put(gapBeforeDirectory);
  const directoryFrom = at;
  put(...directory);
  const directoryTo = at;
  const count = files.length;
  if (is64)
    put(
      words(0x06064b50),
      longs(44),
      shorts(45, 45),
      words(0, 0),
      longs(count, count, directoryTo - directoryFrom, directoryFrom),
      words(0x07064b50, 0),
      longs(directoryTo),
      words(1),
    );
  put(
    words(0x06054b50),
    shorts(0, 0, ...(is64 ? [0xffff, 0xffff] : [count, count])),
    words(...(is64 ? [0xffffffff, 0xffffffff] : [directoryTo - directoryFrom, directoryFrom])),
    shorts(comment.length),
    Buffer.from(comment),
  );
  return Buffer.concat(parts);
};

const numbers =
  (bytes: 2 | 4 | 8) =>
  (...values: readonly number[]): Buffer => {
    const made = Buffer.alloc(bytes * values.length);
    for (const [index, value] of values.entries())
      if (bytes === 8) made.writeBigUInt64LE(BigInt(value), index * bytes);
      else made.writeUIntLE(value, index * bytes, bytes);
    return made;
  };
const shorts = numbers(2);
const words = numbers(4);
const longs = numbers(8);
