/** A signed tree head as it is stored: what it says, without a check of who signed it. Readers verify it, and so does the sealer. */
import type { Hash } from "./rfc6962.ts";
import { parseCheckpoint } from "./tlog-checkpoint.ts";

export interface SealedHead {
  /** The whole checkpoint, a signed note. */
  readonly note: string;
  readonly size: number;
  readonly root: Hash;
  /** Its extension lines, for example that the log was restored. */
  readonly extensions?: readonly string[];
}

/** A note's signatures come after the last empty line (C2SP signed-note). */
const SIGNATURES = "\n\n";

export const sealedHead = (note: string): SealedHead | undefined => {
  const checkpoint = parseCheckpoint(note.slice(0, note.lastIndexOf(SIGNATURES) + 1));
  if (checkpoint === undefined) return undefined;
  const { size, root, extensions } = checkpoint;
  return { note, size, root, ...(extensions && { extensions }) };
};
