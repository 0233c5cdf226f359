/**
 * The keys that sign tree heads. One Ed25519 key serves the logs of all tenants. It has a name for each log, because a checkpoint's key is named by
 * the log's origin (C2SP tlog-checkpoint). Every private key of the ring signs, so that a client that trusts an old key can follow to a new one. A
 * public key only verifies.
 */
import { SIGNING_KEYS_MAX } from "../limits.ts";
import { isCurvePoint } from "./ed25519-point.ts";
import { fingerprintOf } from "./key-lines.ts";
import {
  createSigningKey,
  createVerifier,
  parseVerifierKey,
  type Signer,
  type Verifier,
} from "./signed-note.ts";

export interface KeyRing {
  signers(origin: string): readonly Signer[];
  /** Of every key; the first one signs first. */
  verifiers(origin: string): readonly Verifier[];
  /** Public keys, in the same order. */
  readonly publicKeys: readonly PublicKey[];
}

export interface PublicKey {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  /** The public key's SHA-256 in hex, shortened: a name for people and for subjects. */
  readonly fingerprint: string;
}

export type KeyRingResult =
  | { readonly kind: "read"; readonly ring: KeyRing }
  | { readonly kind: "malformed"; readonly detail: string };

const HEX = /^[0-9a-f]{64}$/;
const PUBLIC = "public:";

/**
 * Entries separated by commas or white space. 64 hex digits are the seed of a private key (RFC 8032 §5.1.5). `public:` and 64 hex digits are a public
 * key; so is a line of GET /v1/log/key. `#` starts a comment to the end of the line. Errors never repeat an entry.
 */
export const readKeyRing = (text: string): KeyRingResult => {
  const entries = text
    .replaceAll(/#.*$/gm, "")
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  const seeds: Uint8Array[] = [];
  const publics: Uint8Array[] = [];
  for (const [index, entry] of entries.entries()) {
    const key = entry.startsWith(PUBLIC) ? publicKeyIn(entry.slice(PUBLIC.length)) : undefined;
    if (HEX.test(entry)) seeds.push(Buffer.from(entry, "hex"));
    else if (key !== undefined && isCurvePoint(key)) publics.push(key);
    else if (key !== undefined)
      return {
        kind: "malformed",
        detail: `entry ${index + 1} is no public key: its 32 bytes are no point of the curve of Ed25519`,
      };
    else
      return {
        kind: "malformed",
        detail: `entry ${index + 1} is neither 64 hex digits nor public: and a public key, as 64 hex digits or as GET /v1/log/key gives it`,
      };
  }
  if (seeds.length === 0) return { kind: "malformed", detail: "there is no private key in it" };
  const signing = eachOnce(seeds);
  if (signing.length > SIGNING_KEYS_MAX)
    return {
      kind: "malformed",
      detail: `there are ${signing.length} private keys in it, and at most ${SIGNING_KEYS_MAX} can sign a tree head`,
    };
  return { kind: "read", ring: ringOf(signing, publics) };
};

/** A key that is in the ring twice would sign twice, and a bundle is invalid if a key has signed its anchor twice. */
const eachOnce = (seeds: readonly Uint8Array[]): readonly Uint8Array[] =>
  seeds.filter((seed, index) => seeds.findIndex((other) => Buffer.compare(seed, other) === 0) === index);

const publicKeyIn = (text: string): Uint8Array | undefined =>
  HEX.test(text) ? Buffer.from(text, "hex") : parseVerifierKey(text)?.publicKey;

const ringOf = (seeds: readonly Uint8Array[], publics: readonly Uint8Array[]): KeyRing => {
  const signing = seeds.map(createSigningKey);
  const publicKeys = [...signing.map((key) => key.publicKey), ...publics].map(publicKey);
  return {
    publicKeys,
    signers: (origin) => signing.map((key) => key.signerNamed(origin)),
    verifiers: (origin) => publicKeys.map(({ bytes }) => createVerifier({ name: origin, publicKey: bytes })),
  };
};

export const publicKey = (bytes: Uint8Array): PublicKey => ({ bytes, fingerprint: fingerprintOf(bytes) });
