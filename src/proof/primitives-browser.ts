/** What primitives.ts offers, for browsers. Everything here answers at once, as there: WebCrypto would make every hash of a tree a promise. */
import { getPublicKey, hashes, sign, verify } from "@noble/ed25519";
import { sha256 as hashOf, sha512 } from "@noble/hashes/sha2.js";
import type { Ed25519Check, Ed25519Key, Sha256 } from "./primitives.ts";

hashes.sha512 = sha512;

export const createSha256 = (): Sha256 => hashOf.create();
export const sha256 = (bytes: Uint8Array): Uint8Array => hashOf(bytes);
export const sha256Base64 = (text: string): string => encodeBase64(hashOf(new TextEncoder().encode(text)));

/** More arguments than this exceed the stack of some engines. */
const ARGUMENTS_MAX = 8192;

export const encodeBase64 = (bytes: Uint8Array): string => {
  let text = "";
  for (let at = 0; at < bytes.length; at += ARGUMENTS_MAX)
    text += String.fromCharCode(...bytes.subarray(at, at + ARGUMENTS_MAX));
  return btoa(text);
};

export const looselyDecodeBase64 = (text: string): Uint8Array => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
};

export const ed25519Key = (seed: Uint8Array): Ed25519Key => ({
  publicKey: getPublicKey(seed),
  sign: (message) => sign(message, seed),
});

/** Strictly RFC 8032, as OpenSSL: the library's default accepts more (ZIP 215). */
export const ed25519Check =
  (publicKey: Uint8Array): Ed25519Check =>
  (message, signature) =>
    verify(signature, message, publicKey, { zip215: false });
