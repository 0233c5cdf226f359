/** Identifiers of RFC 9562: version 7 for events, version 5 for the idempotency keys that are derived from them. */
import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";

const written = (bytes: Buffer, version: number): string => {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

/** A UUIDv7 in lower case (RFC 9562 §5.7): 48 bits of `nowMs`, the rest random. */
export const uuid7 = (nowMs: number): string => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  return written(bytes, 7);
};

/** A UUIDv5 (RFC 9562 §5.5): the same namespace and name always give the same one. */
export const uuid5 = (namespace: string, name: string): string =>
  written(
    createHash("sha1")
      .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
      .update(name)
      .digest(),
    5,
  );
