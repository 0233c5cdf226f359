/** A signed tree head as it is stored: what it says, without a check of who signed it. Readers verify it, and so does the sealer. */
import type { Hash } from "./rfc6962.ts";
import { checkpointIn } from "./tlog-checkpoint.ts";

export interface SealedHead {
  readonly note: string;
  readonly size: number;
  readonly root: Hash;
  readonly extensions?: readonly string[];
}

export const sealedHead = (note: string): SealedHead | undefined => {
  const checkpoint = checkpointIn(note);
  if (checkpoint === undefined) return undefined;
  const { size, root, extensions } = checkpoint;
  return { note, size, root, ...(extensions && { extensions }) };
};
