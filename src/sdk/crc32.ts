/** CRC-32 of IEEE 802.3, as in gzip (RFC 1952 §8). `node:zlib` has it from Node 20.15 on only. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

export const crc32 = (bytes: Uint8Array, from = 0, to = bytes.length): number => {
  let value = 0xffffffff;
  for (let at = from; at < to; at++) value = (TABLE[(value ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
};
