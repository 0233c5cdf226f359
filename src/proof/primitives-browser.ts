/** What primitives.ts offers, for browsers. Everything here answers at once, as there: WebCrypto would make every hash of a tree a promise. */
import { getPublicKey, hashes, sign, verify } from "@noble/ed25519";
import { sha256 as hashOf, sha512 } from "@noble/hashes/sha2.js";
import { Inflate } from "fflate";
import type { Ed25519Check, Ed25519Key, Sha256 } from "./primitives.ts";

hashes.sha512 = sha512;

export const createSha256 = (): Sha256 => hashOf.create();
export const sha256 = (bytes: Uint8Array): Uint8Array => hashOf(bytes);
export const sha256Base64 = (bytes: Uint8Array): string => encodeBase64(hashOf(bytes));

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

/** A piece is unpacked whole, to a thousand times its size at most; what comes out is handed on in parts, so that a reader can stop. */
const PIECE_BYTES = 16 * 1024;
const PART_BYTES = 64 * 1024;

export async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacked: Uint8Array[] = [];
  const inflate = new Inflate((bytes) => unpacked.push(bytes));
  for await (const chunk of packed)
    for (const piece of parts(chunk, PIECE_BYTES)) {
      inflate.push(piece);
      for (const bytes of unpacked.splice(0)) yield* parts(bytes, PART_BYTES);
    }
  inflate.push(new Uint8Array(0), true);
  for (const bytes of unpacked) yield* parts(bytes, PART_BYTES);
}

function* parts(bytes: Uint8Array, bytesMax: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += bytesMax) yield bytes.subarray(at, at + bytesMax);
}
