/**
 * Texts that only this service can create and read. The cipher's key derives from a secret that every front end has in memory, mostly the
 * stored hash of an API key. So a text is valid at every front end, is not stored, and ends with its API key.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { RandomBytes } from "./api-key.ts";
import { ADMIN_KEY_ID } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";

interface Kind {
  /** What the texts are for: one sealed for another purpose does not open. */
  readonly purpose:
    | "prooftrail session, version 2"
    | "prooftrail sign-in, version 1"
    | "prooftrail embed token, version 1";
  /** Undefined for an unknown id. */
  readonly secretOf: (keyId: string) => string | undefined;
}

/** `secretOf` for texts that end with an API key. */
export const hashIn =
  (keys: Pick<KeyStore, "get" | "admin">): Kind["secretOf"] =>
  (keyId) =>
    (keyId === ADMIN_KEY_ID ? keys.admin() : keys.get(keyId))?.secret_hash;

export const seal = (
  value: { readonly keyId: string },
  kind: Kind & { readonly randomBytes: RandomBytes },
): string | undefined => {
  const { keyId } = value;
  const cipherKey = cipherKeyOf(keyId, kind);
  if (cipherKey === undefined) return undefined;
  const nonce = Buffer.from(kind.randomBytes(NONCE_BYTES));
  const cipher = createCipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(keyId));
  const sealed = [cipher.update(JSON.stringify(value), "utf8"), cipher.final(), cipher.getAuthTag()];
  return `${keyId}.${Buffer.concat([nonce, ...sealed]).toString("base64url")}`;
};

/** Undefined for what no front end sealed for this purpose. `Value` is what `seal` was given. */
export const open = <Value extends { readonly keyId: string }>(
  sealed: string,
  kind: Kind,
): Value | undefined => {
  const [, keyId, text] = SEALED.exec(sealed) ?? [];
  if (keyId === undefined || text === undefined) return undefined;
  const cipherKey = cipherKeyOf(keyId, kind);
  if (cipherKey === undefined) return undefined;
  const bytes = Buffer.from(text, "base64url");
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(-TAG_BYTES);
  try {
    const cipher = createDecipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(keyId)).setAuthTag(tag);
    const opened = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8");
    const value: Value = JSON.parse(opened + cipher.final("utf8"));
    return value;
  } catch {
    // Node throws for a wrong tag. Nothing else can fail: `seal` wrote what the tag covers.
    return undefined;
  }
};

const CIPHER = "aes-256-gcm";
const CIPHER_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^([0-9A-Za-z]{1,12})\.([0-9A-Za-z_-]{38,6000})$/;

/** HKDF (RFC 5869). */
const cipherKeyOf = (keyId: string, { purpose, secretOf }: Kind): Buffer | undefined => {
  const secret = secretOf(keyId);
  return secret === undefined
    ? undefined
    : Buffer.from(hkdfSync("sha256", secret, "", purpose, CIPHER_KEY_BYTES));
};
