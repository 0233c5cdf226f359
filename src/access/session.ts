/**
 * The session of a browser: an API key, sealed in a cookie. The cipher's key is derived from the stored hash of that API key, which every
 * front end has in memory. So a cookie works at every front end, nothing is stored for it, and it ends with its key. A stolen cookie does
 * not show the key, and who reads the stored hash still lacks what is sealed.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from "../limits.ts";
import type { RandomBytes } from "./api-key.ts";
import { ADMIN_KEY_ID } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";

export interface Session {
  /** `admin` for the admin key. */
  readonly keyId: string;
  /** What the browser would have sent without a session. */
  readonly apiKey: string;
  /** Sent with every write (X-CSRF-Token). A page of another origin cannot read it. */
  readonly csrfToken: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly usedAt: number;
}

type Keys = Pick<KeyStore, "get" | "admin">;

export const startSession = (
  key: Pick<Session, "keyId" | "apiKey">,
  now: Date,
  randomBytes: RandomBytes,
): Session => ({
  ...key,
  csrfToken: Buffer.from(randomBytes(CSRF_BYTES)).toString("base64url"),
  startedAt: now.getTime(),
  usedAt: now.getTime(),
});

export const isOver = ({ startedAt }: Session, now: Date): boolean =>
  now.getTime() >= startedAt + SESSION_MS_MAX;

/** The value of the cookie. Undefined if no such key is stored. */
export const sealSession = (session: Session, keys: Keys, randomBytes: RandomBytes): string | undefined => {
  const { keyId } = session;
  const cipherKey = cipherKeyOf(keyId, keys);
  if (cipherKey === undefined) return undefined;
  const nonce = Buffer.from(randomBytes(NONCE_BYTES));
  const cipher = createCipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(keyId));
  const sealed = [cipher.update(JSON.stringify(session), "utf8"), cipher.final(), cipher.getAuthTag()];
  return `${keyId}.${Buffer.concat([nonce, ...sealed]).toString("base64url")}`;
};

/** Undefined for what no front end sealed, and for a session that is over or was idle for too long. */
export const openSession = (sealed: string, keys: Keys, now: Date): Session | undefined => {
  const [, keyId, text] = SEALED.exec(sealed) ?? [];
  if (keyId === undefined || text === undefined) return undefined;
  const cipherKey = cipherKeyOf(keyId, keys);
  if (cipherKey === undefined) return undefined;
  const bytes = Buffer.from(text, "base64url");
  const session = decrypt(bytes, cipherKey, keyId);
  if (session === undefined || isOver(session, now)) return undefined;
  return now.getTime() < session.usedAt + SESSION_IDLE_MS_MAX ? session : undefined;
};

const CIPHER = "aes-256-gcm";
const CIPHER_KEY_BYTES = 32;
const CSRF_BYTES = 18;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** At most what a cookie may have (RFC 6265 §6.1). */
const SEALED = /^([0-9A-Za-z]{1,12})\.([0-9A-Za-z_-]{38,2000})$/;

const cipherKeyOf = (keyId: string, keys: Keys): Buffer | undefined => {
  const record = keyId === ADMIN_KEY_ID ? keys.admin() : keys.get(keyId);
  if (record === undefined) return undefined;
  return Buffer.from(
    hkdfSync("sha256", record.secret_hash, "", "prooftrail session, version 1", CIPHER_KEY_BYTES),
  );
};

const decrypt = (bytes: Buffer, cipherKey: Buffer, keyId: string): Session | undefined => {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(-TAG_BYTES);
  try {
    const cipher = createDecipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(keyId)).setAuthTag(tag);
    const opened = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8");
    const session: Session = JSON.parse(opened + cipher.final("utf8"));
    return session;
  } catch {
    // Node throws for a tag that does not fit. Nothing else can fail: what the tag covers, sealSession wrote.
    return undefined;
  }
};
