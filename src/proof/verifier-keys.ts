/** The keys of a log as they are given out: one line each, those that sign now first. */
import { encodeBase64 } from "./base64.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { keyLines } from "./key-lines.ts";
import type { KeyRing } from "./key-ring.ts";
import { createSigningKey } from "./signed-note.ts";

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
