/** Identifiers of RFC 9562: version 7 for events, version 5 for the idempotency keys that are derived from them. */
import { createHash, getRandomValues } from "node:crypto";

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const hex = (bytes: Uint8Array, from: number, to: number): string => {
  let text = "";
  for (let at = from; at < to; at++) text += HEX[bytes[at] ?? 0];
  return text;
};

const grouped = (bytes: Uint8Array): string =>
  `${hex(bytes, 0, 4)}-${hex(bytes, 4, 6)}-${hex(bytes, 6, 8)}-${hex(bytes, 8, 10)}-${hex(bytes, 10, 16)}`;

const RANDOM_BYTES_EACH = 10;
/** Random bytes are fetched for this many identifiers at once: fetched one by one, they are most of an identifier's cost. */
const pool = new Uint8Array(RANDOM_BYTES_EACH * 256);
let used = pool.length;
const id = new Uint8Array(16);

/** A UUIDv7 in lower case (RFC 9562 §5.7): 48 bits of `nowMs`, the rest random. */
export const uuid7 = (nowMs: number): string => {
  if (used === pool.length) {
    getRandomValues(pool);
    used = 0;
  }
  const high = Math.floor(nowMs / 2 ** 16);
  id[0] = high >>> 24;
  id[1] = high >>> 16;
  id[2] = high >>> 8;
  id[3] = high;
  id[4] = nowMs / 2 ** 8;
  id[5] = nowMs;
  for (let at = 0; at < RANDOM_BYTES_EACH; at++) id[6 + at] = pool[used + at] ?? 0;
  used += RANDOM_BYTES_EACH;
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x70;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return grouped(id);
};

/** When a UUIDv7 was made, in milliseconds since 1970. */
export const timeOfUuid7 = (uuid: string): number =>
  Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

/** A UUIDv5 (RFC 9562 §5.5): the same namespace and name always give the same one. */
export const uuid5 = (namespace: string, name: string): string => {
  const bytes = createHash("sha1")
    .update(
      Uint8Array.from(namespace.replaceAll("-", "").match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)),
    )
    .update(name)
    .digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return grouped(bytes);
};
