/**
 * The text of an API key: `<prefix><id>_<secret>_<crc>`. The id is public, the secret is not kept anywhere, and the checksum
 * lets a secret scanner and the front end refuse a typo without a lookup. A key keeps its original prefix, whatever
 * the setting says later. Pure: knows no store and no scopes.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

export interface MadeApiKey {
  readonly id: string;
  readonly secret: string;
  /** The whole key as the customer gets it, once. */
  readonly text: string;
}

/** Gives that many unpredictable bytes: `node:crypto` randomBytes, or a seeded source in tests. */
export type RandomBytes = (bytes: number) => Uint8Array;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
export const API_KEY_PREFIX_DEFAULT = "ptk_";
export const API_KEY_PREFIX = /^[A-Za-z][0-9A-Za-z_]{0,30}_$/;
const ID_CHARACTERS = 12;
/** 62^32 is 190 bits: a plain SHA-256 of it needs no salt and no slow hash. */
const SECRET_CHARACTERS = 32;
/** 62^6 is above 2^32, so six characters hold any CRC-32. */
const CRC_CHARACTERS = 6;
/** The largest multiple of 62 in a byte. Bytes from here on are redrawn, or the first characters would be likelier. */
const UNBIASED_BYTES = Math.floor(256 / ALPHABET.length) * ALPHABET.length;

export const API_KEY_ID_PATTERN = `^[0-9A-Za-z]{${ID_CHARACTERS}}$`;
const API_KEY_ID = new RegExp(API_KEY_ID_PATTERN);
const API_KEY = new RegExp(
  `^(${API_KEY_PREFIX.source.slice(1, -1)}([0-9A-Za-z]{${ID_CHARACTERS}})_([0-9A-Za-z]{${SECRET_CHARACTERS}}))_([0-9A-Za-z]{${CRC_CHARACTERS}})$`,
);

export const makeApiKey = (randomBytes: RandomBytes, prefix = API_KEY_PREFIX_DEFAULT): MadeApiKey => {
  const id = drawText(ID_CHARACTERS, randomBytes);
  const secret = drawText(SECRET_CHARACTERS, randomBytes);
  const body = `${prefix}${id}_${secret}`;
  return { id, secret, text: `${body}_${checksum(body)}` };
};

/** Undefined for a non-key or a typo. */
export const parseApiKey = (text: string): { readonly id: string; readonly secret: string } | undefined => {
  const [, body, id, secret, crc] = API_KEY.exec(text) ?? [];
  return body && id && secret && checksum(body) === crc ? { id, secret } : undefined;
};

export const isApiKeyId = (text: string): boolean => API_KEY_ID.test(text);

/** SHA-256 in base64url, 43 characters. The only form in which a secret is stored. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "base64url");

/** Whether a secret is the hashed one, in time that does not depend on how much of it is right. */
export const verifySecret = (secret: string, expectedHash: string): boolean => {
  const actual = Buffer.from(hashSecret(secret));
  const expected = Buffer.from(expectedHash);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
};

const drawText = (characters: number, randomBytes: RandomBytes): string => {
  let text = "";
  while (text.length < characters) {
    for (const byte of randomBytes(characters - text.length)) {
      if (byte < UNBIASED_BYTES) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
};

/** CRC-32 in base 62, most significant digit first. CRC-32 finds every change within 32 bits, so every single typo. */
const checksum = (body: string): string => {
  let rest = crc32(body);
  let digits = "";
  for (let index = 0; index < CRC_CHARACTERS; index++) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
};
