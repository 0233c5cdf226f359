/** The keys of a log as they are given out: one line each, those that sign now first. */
import type { CheckpointStore } from "./checkpoint-store.ts";
import { createVerifier, formatVerifierKey, openNote } from "./signed-note.ts";

/** Empty where nobody has signed yet. `head`: the note that says who signs now. */
export const verifierKeys = async (
  checkpoints: Pick<CheckpointStore, "publicKeys">,
  origin: string,
  head: string | undefined,
): Promise<string> => {
  const verifiers = (await checkpoints.publicKeys()).map((publicKey) =>
    createVerifier({ name: origin, publicKey }),
  );
  const opened = head === undefined ? undefined : openNote(head, verifiers);
  const signing = opened?.kind === "opened" ? opened.verifiers : [];
  return [...new Set([...signing, ...verifiers])]
    .map((verifier) => `${formatVerifierKey(verifier)}\n`)
    .join("");
};
