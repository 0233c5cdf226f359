/**
 * The keys that sign tree heads. One Ed25519 key serves the logs of all tenants. It has a name for each log, because a checkpoint's key is named by
 * the log's origin (C2SP tlog-checkpoint). Every private key of the ring signs, so that a client that trusts an old key can follow to a new one. A
 * public key only verifies.
 */
import { Point } from "@noble/ed25519";
import { SIGNING_KEYS_MAX } from "../limits.ts";
import { encodeBase64 } from "./base64.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
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
  const malformed = (detail: string): KeyRingResult => ({ kind: "malformed", detail });
  const seeds: Uint8Array[] = [];
  const publics: Uint8Array[] = [];
  for (const [index, entry] of entries.entries()) {
    if (HEX.test(entry)) {
      seeds.push(Buffer.from(entry, "hex"));
      continue;
    }
    const key = entry.startsWith(PUBLIC) ? publicKeyIn(entry.slice(PUBLIC.length)) : undefined;
    if (key === undefined)
      return malformed(
        `entry ${index + 1} is neither 64 hex digits nor public: and a public key, as 64 hex digits or as GET /v1/log/key gives it`,
      );
    if (!isCurvePoint(key))
      return malformed(
        `entry ${index + 1} is no public key: its 32 bytes are no point of the curve of Ed25519`,
      );
    publics.push(key);
  }
  if (seeds.length === 0) return malformed("there is no private key in it");
  const signing = eachOnce(seeds);
  if (signing.length > SIGNING_KEYS_MAX)
    return malformed(
      `there are ${signing.length} private keys in it, and at most ${SIGNING_KEYS_MAX} can sign a tree head`,
    );
  return { kind: "read", ring: ringOf(signing, publics) };
};

/** node:crypto takes any 32 bytes on Bun and Node, and only points of the curve on Deno (RFC 8032 §5.1.3). */
const isCurvePoint = (publicKey: Uint8Array): boolean => {
  try {
    Point.fromBytes(publicKey);
    return true;
  } catch {
    return false;
  }
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

export type KeysPublished = "published" | "strangers";

/**
 * `strangers`: none of these keys has signed here, and other keys have. Then no key is given out, because that could never be taken back: the owner
 * of such a key, perhaps another installation, could make proofs in this one's name. `before`: the keys that signed last, as far as this process
 * knows. It counts even if the stream was emptied, so that whoever comes first then cannot take the place of the others. Throws for the same reason
 * if one is no public key but the seed of a key that signs or has signed here.
 */
export const publishKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys" | "addFirstPublicKey" | "addPublicKey">,
  ring: Pick<KeyRing, "publicKeys">,
  before?: KeysPublished,
): Promise<KeysPublished> => {
  const given = ring.publicKeys.map(({ bytes }) => bytes);
  const there = await checkpoints.publicKeys();
  const known = new Set([...given, ...there].map(encodeBase64));
  if (given.some((bytes) => known.has(encodeBase64(createSigningKey(bytes).publicKey))))
    throw new Error(SEED);
  const [first] = given;
  if (first && there.length === 0 && before === undefined) {
    // Another installation that starts at this moment then gives out none of its own.
    if (!(await checkpoints.addFirstPublicKey(first))) return publishKeys(checkpoints, ring);
  } else if (before !== "published" && !hasSigned(ring, there)) return "strangers";
  for (const bytes of given) await checkpoints.addPublicKey(bytes);
  return "published";
};

/** Whether one of these keys has signed before. */
export const hasSigned = (
  { publicKeys }: Pick<KeyRing, "publicKeys">,
  signed: readonly Uint8Array[],
): boolean => {
  const own = new Set(publicKeys.map(({ bytes }) => encodeBase64(bytes)));
  return signed.some((key) => own.has(encodeBase64(key)));
};

const SEED =
  "behind public: in the signing keys stands the seed of a key, which would be given out: put the line of GET /v1/log/key there";
