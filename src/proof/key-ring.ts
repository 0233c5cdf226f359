/**
 * The keys that sign tree heads. One Ed25519 key serves the logs of all tenants. It has a name for each log, because a checkpoint's key is named by
 * the log's origin (C2SP tlog-checkpoint). Every private key of the ring signs, so that a client that trusts an old key can follow to a new one. A
 * public key only verifies.
 */
import { Point } from "@noble/ed25519";
import { SIGNING_KEYS_MAX } from "../limits.ts";
import { encodeBase64 } from "./base64.ts";
import type { CheckpointStore } from "./ports.ts";
import {
  createSigningKey,
  createVerifier,
  parseVerifierKey,
  type Signer,
  type SigningKey,
  type Verifier,
} from "./signed-note.ts";

export interface KeyRing {
  signers(origin: string): readonly Signer[];
  /** Of every key; the first one signs first. */
  verifiers(origin: string): readonly Verifier[];
  /** In the same order. */
  readonly publicKeys: readonly Uint8Array[];
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
  const malformed = (detail: string): KeyRingResult => ({ kind: "malformed", detail });
  // A key in the ring twice would sign twice, and a bundle whose anchor a key signed twice is invalid.
  const signing = new Map<string, SigningKey>();
  const publics: Uint8Array[] = [];
  const entries = text.replaceAll(/#.*$/gm, "").split(/[\s,]+/);
  for (const [index, entry] of entries.filter((each) => each !== "").entries()) {
    if (HEX.test(entry)) {
      signing.set(entry, createSigningKey(Buffer.from(entry, "hex")));
      continue;
    }
    const key = entry.startsWith(PUBLIC) ? publicKeyIn(entry.slice(PUBLIC.length)) : undefined;
    if (key === undefined)
      return malformed(
        `entry ${index + 1} is neither 64 hex digits nor public: and a public key, as 64 hex digits or as GET /v1/log/key gives it`,
      );
    if (!isCurvePoint(key))
      return malformed(`entry ${index + 1} is not a public key: its 32 bytes are not an Ed25519 point`);
    publics.push(key);
  }
  const keys = [...signing.values()];
  if (keys.length === 0) return malformed("it holds no private key");
  if (keys.length > SIGNING_KEYS_MAX)
    return malformed(
      `it holds ${keys.length} private keys, and at most ${SIGNING_KEYS_MAX} can sign a tree head`,
    );
  const publicKeys = [...keys.map((key) => key.publicKey), ...publics];
  const ring: KeyRing = {
    publicKeys,
    signers: (origin) => keys.map((key) => key.signerNamed(origin)),
    verifiers: (origin) => publicKeys.map((publicKey) => createVerifier({ name: origin, publicKey })),
  };
  return { kind: "read", ring };
};

const publicKeyIn = (text: string): Uint8Array | undefined =>
  HEX.test(text) ? Buffer.from(text, "hex") : parseVerifierKey(text)?.publicKey;

/** node:crypto takes any 32 bytes on Bun and Node, and only points of the curve on Deno (RFC 8032 §5.1.3). */
const isCurvePoint = (publicKey: Uint8Array): boolean => {
  try {
    Point.fromBytes(publicKey);
    return true;
  } catch {
    return false;
  }
};

export type KeysPublished = "published" | "strangers";

/**
 * `strangers`: none of these keys has signed here, and other keys have. Then no key is published, because that could never be undone: its owner,
 * perhaps another installation, could make proofs in this one's name. `before`, what this process found last, counts even if the stream was emptied.
 * Throws if one is the seed of a key that signs or has signed here.
 */
export const publishKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys" | "addFirstPublicKey" | "addPublicKey">,
  ring: Pick<KeyRing, "publicKeys">,
  before?: KeysPublished,
): Promise<KeysPublished> => {
  const { publicKeys: given } = ring;
  const there = await checkpoints.publicKeys();
  const known = new Set([...given, ...there].map(encodeBase64));
  if (given.some((bytes) => known.has(encodeBase64(createSigningKey(bytes).publicKey))))
    throw new Error(SEED);
  const [first] = given;
  if (first && there.length === 0 && before === undefined) {
    // Another installation that starts at this moment then publishes none.
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
  const own = new Set(publicKeys.map(encodeBase64));
  return signed.some((key) => own.has(encodeBase64(key)));
};

const SEED =
  "the signing keys have the seed of a key after public:, which would be published: put the line of GET /v1/log/key there";
