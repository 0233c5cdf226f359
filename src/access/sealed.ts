/**
 * Texts that only this service can read and make. The cipher's key is derived from the stored hash of an API key, which every front end
 * has in memory. So a text is valid at every front end, nothing is stored for it, and it ends with its API key.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { RandomBytes } from "./api-key.ts";
import { ADMIN_KEY_ID } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";

type Keys = Pick<KeyStore, "get" | "admin">;

/** What the texts are for: one that was sealed for another purpose does not open. */
export type SealPurpose = "prooftrail session, version 1" | "prooftrail embed token, version 1";

/** Undefined if no such key is stored. */
export const seal = (
  value: { readonly keyId: string },
  parts: { readonly purpose: SealPurpose; readonly keys: Keys; readonly randomBytes: RandomBytes },
): string | undefined => {
  const { keyId } = value;
  const cipherKey = cipherKeyOf(keyId, parts);
  if (cipherKey === undefined) return undefined;
  const nonce = Buffer.from(parts.randomBytes(NONCE_BYTES));
  const cipher = createCipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(keyId));
  const sealed = [cipher.update(JSON.stringify(value), "utf8"), cipher.final(), cipher.getAuthTag()];
  return `${keyId}.${Buffer.concat([nonce, ...sealed]).toString("base64url")}`;
};

/** Undefined for what no front end sealed for this purpose. `Value` is what `seal` was given for it. */
export const open = <Value extends { readonly keyId: string }>(
  sealed: string,
  parts: { readonly purpose: SealPurpose; readonly keys: Keys },
): Value | undefined => {
  const [, keyId, text] = SEALED.exec(sealed) ?? [];
  if (keyId === undefined || text === undefined) return undefined;
  const cipherKey = cipherKeyOf(keyId, parts);
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
    // Node throws for a tag that does not fit. Nothing else can fail: what the tag covers, `seal` wrote.
    return undefined;
  }
};

const CIPHER = "aes-256-gcm";
const CIPHER_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^([0-9A-Za-z]{1,12})\.([0-9A-Za-z_-]{38,6000})$/;

const cipherKeyOf = (
  keyId: string,
  { purpose, keys }: { readonly purpose: SealPurpose; readonly keys: Keys },
): Buffer | undefined => {
  const record = keyId === ADMIN_KEY_ID ? keys.admin() : keys.get(keyId);
  if (record === undefined) return undefined;
  return Buffer.from(hkdfSync("sha256", record.secret_hash, "", purpose, CIPHER_KEY_BYTES));
};
