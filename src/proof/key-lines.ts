/** The public keys of a log as a file, one line each; and the short name of one. */
import { encodeHex } from "./base64.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import { sha256 } from "./primitives.ts";
import { createVerifier, formatVerifierKey, openNote } from "./signed-note.ts";

/** One text for each set of keys and head: first the keys that signed the head, in the order of their signatures, then the others by fingerprint. */
export const keyLines = (
  publicKeys: readonly Uint8Array[],
  origin: string,
  head: string | undefined,
): string => {
  const verifiers = publicKeys
    .toSorted((one, other) => (fingerprintOf(one) < fingerprintOf(other) ? -1 : 1))
    .map((publicKey) => createVerifier({ name: origin, publicKey }));
  const opened = head === undefined ? undefined : openNote(head, verifiers);
  const signing = opened?.kind === "opened" ? opened.verifiers : [];
  return [...new Set([...signing, ...verifiers])]
    .map((verifier) => `${formatVerifierKey(verifier)}\n`)
    .join("");
};

/** SHA-256 of a public key in hex, shortened: a name for people and subjects. */
export const fingerprintOf = (publicKey: Uint8Array): string => encodeHex(sha256(publicKey)).slice(0, 16);

/** What clients get, the keys that sign now first; empty if nothing was signed yet. `head`: the note that shows which keys sign now. */
export const verifierKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys">,
  origin: string,
  head: string | undefined,
): Promise<string> => keyLines(await checkpoints.publicKeys(), origin, head);
