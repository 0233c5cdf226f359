/** Identifiers of people leave a process as hashes only (SPEC 2.1: `subject_hash`, `context_hash`, `outcome_hash`). */
import { createHash, createHmac } from "node:crypto";
import { HASH_KEY_BYTES_MIN } from "./limits.ts";

/** Turns an identifier into `sha256:` and 64 hexadecimal digits. Text is hashed as UTF-8, bytes as they are. */
export type Hash = (identifier: string | Uint8Array) => string;

/**
 * SHA-256. Anyone with the hash can try identifiers until one matches. For identifiers that can be guessed (a telephone number, a national id, an
 * e-mail address) use `keyedHash`.
 */
export const sha256: Hash = (identifier) => `sha256:${createHash("sha256").update(identifier).digest("hex")}`;

/**
 * HMAC-SHA-256 (RFC 2104) with your key of at least 16 bytes: without the key nobody can try identifiers. Keep the key for as long as the hashes must
 * be comparable, and use the same key in all services whose events concern the same people. Throws a TypeError if the key is shorter.
 */
export const keyedHash = (key: string | Uint8Array): Hash => {
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : Uint8Array.from(key);
  if (bytes.length < HASH_KEY_BYTES_MIN)
    throw new TypeError(
      `A key of hashes (hashKey) has at least ${HASH_KEY_BYTES_MIN} bytes; this one has ${bytes.length}.`,
    );
  return (identifier) => `sha256:${createHmac("sha256", bytes).update(identifier).digest("hex")}`;
};
