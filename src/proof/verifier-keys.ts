/** The keys of a log as they are given out: one line each, those that sign now first. */
import { encodeBase64 } from "./base64.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { type KeyRing, publicKey } from "./key-ring.ts";
import { createSigningKey, createVerifier, formatVerifierKey, openNote } from "./signed-note.ts";

/** Throws where one is no public key but the seed of a key that signs or has signed here: given out, it could never be taken back. */
export const publishKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys" | "addPublicKey">,
  { publicKeys }: Pick<KeyRing, "publicKeys">,
): Promise<void> => {
  const given = publicKeys.map(({ bytes }) => bytes);
  const known = new Set([...given, ...(await checkpoints.publicKeys())].map(encodeBase64));
  if (given.some((bytes) => known.has(encodeBase64(createSigningKey(bytes).publicKey))))
    throw new Error(SEED);
  for (const bytes of given) await checkpoints.addPublicKey(bytes);
};

const SEED =
  "behind public: in the signing keys stands the seed of a key, which would be given out: put the line of GET /v1/log/key there";

/** Empty where nobody has signed yet. `head`: the note that says who signs now. */
export const verifierKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys">,
  origin: string,
  head: string | undefined,
): Promise<string> => {
  return keyLines(await checkpoints.publicKeys(), origin, head);
};

/** One text for each set of keys and head: those that signed the head in the order of their signatures, then the others in the order of their fingerprints. */
export const keyLines = (
  publicKeys: readonly Uint8Array[],
  origin: string,
  head: string | undefined,
): string => {
  const verifiers = publicKeys
    .map(publicKey)
    .toSorted((one, other) => (one.fingerprint < other.fingerprint ? -1 : 1))
    .map(({ bytes }) => createVerifier({ name: origin, publicKey: bytes }));
  const opened = head === undefined ? undefined : openNote(head, verifiers);
  const signing = opened?.kind === "opened" ? opened.verifiers : [];
  return [...new Set([...signing, ...verifiers])]
    .map((verifier) => `${formatVerifierKey(verifier)}\n`)
    .join("");
};
