/** The public keys of a log as clients get them: one line each, the keys that sign now first. */
import { encodeBase64 } from "./base64.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { keyLines } from "./key-lines.ts";
import type { KeyRing } from "./key-ring.ts";
import { createSigningKey } from "./signed-note.ts";

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

/** Empty if nothing was signed yet. `head`: the note that shows which keys sign now. */
export const verifierKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys">,
  origin: string,
  head: string | undefined,
): Promise<string> => {
  return keyLines(await checkpoints.publicKeys(), origin, head);
};
