/**
 * SHA-256, Ed25519 and base64 by Node's own modules. In a browser primitives-browser.ts takes the place of this module: the map `browser` in
 * package.json says so, and bundlers follow it. The tests of what is built on them run over both.
 */
import { Buffer } from "node:buffer";
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign as signBy,
  hash as takeHash,
  verify as verifyBy,
} from "node:crypto";

/** Bytes that come one after the other. */
export interface Sha256 {
  update(bytes: Uint8Array): Sha256;
  digest(): Uint8Array;
}

export const createSha256 = (): Sha256 => createHash("sha256");
/** May share memory with other results: copy what is kept or sliced. */
export const sha256 = (bytes: Uint8Array): Uint8Array => takeHash("sha256", bytes, "buffer");
/** Of a text in UTF-8. */
export const sha256Base64 = (text: string): string => takeHash("sha256", text, "base64");

export const encodeBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
/** May ignore what is not base64 in the text: base64.ts compares. Node 20 has no Uint8Array.fromBase64. */
export const looselyDecodeBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/** RFC 8410 §7 and §4: what DER (PKCS #8, SPKI) puts before a seed and before a public key. */
const SEED_DER = Uint8Array.of(48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32);
const PUBLIC_KEY_DER = Uint8Array.of(48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0);

export interface Ed25519Key {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export const ed25519Key = (seed: Uint8Array): Ed25519Key => {
  const key = createPrivateKey({ key: Buffer.concat([SEED_DER, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: new Uint8Array(spki.subarray(PUBLIC_KEY_DER.length)),
    sign: (message) => new Uint8Array(signBy(null, message, key)),
  };
};

export type Ed25519Check = (message: Uint8Array, signature: Uint8Array) => boolean;

/** Some runtimes throw at once if the bytes are no point of the curve; on the others no signature is right. */
export const ed25519Check = (publicKey: Uint8Array): Ed25519Check => {
  const der = Buffer.concat([PUBLIC_KEY_DER, publicKey]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return (message, signature) => verifyBy(null, message, key, signature);
};
