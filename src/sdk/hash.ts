/** Identifiers of people leave a process as hashes only (SPEC 2.1: `subject_hash`, `context_hash`, `outcome_hash`). */
import { createHash, createHmac } from "node:crypto";
import { HASH_KEY_BYTES_MIN } from "./limits.ts";

/** Turns an identifier into `sha256:` and 64 hexadecimal digits. Text is hashed as UTF-8, bytes as they are. */
export type Hash = (identifier: string | Uint8Array) => string;

/** SHA-256. For identifiers that can be guessed, such as a telephone number, use `keyedHash`. */
export const sha256: Hash = (identifier) => `sha256:${createHash("sha256").update(identifier).digest("hex")}`;

/** HMAC-SHA-256 (RFC 2104) with your key of at least 16 bytes: without the key nobody can try identifiers. Throws a TypeError if it is shorter. */
export const keyedHash = (key: string | Uint8Array): Hash => {
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : Uint8Array.from(key);
  if (bytes.length < HASH_KEY_BYTES_MIN)
    throw new TypeError(
      `A key of hashes (hashKey) has at least ${HASH_KEY_BYTES_MIN} bytes; this one has ${bytes.length}.`,
    );
  return (identifier) => `sha256:${createHmac("sha256", bytes).update(identifier).digest("hex")}`;
};
