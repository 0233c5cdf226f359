/** CRC-32 of IEEE 802.3, as in gzip (RFC 1952 §8). */
import * as zlib from "node:zlib";

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** For Node before 20.15, whose zlib has no CRC-32: 1 to 2.5 µs for an event of 500 bytes, where zlib takes 0.1 (measured). */
export const crc32ByTable = (bytes: Uint8Array): number => {
  let value = 0xffffffff;
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
};

export const crc32: (bytes: Uint8Array) => number =
  "crc32" in zlib && typeof zlib.crc32 === "function" ? zlib.crc32 : crc32ByTable;
