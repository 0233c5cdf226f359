/** A signed tree head as whoever stores it sees it: what it says, without asking who signed. Readers verify; the sealer does. */
import type { Hash } from "./rfc6962.ts";
import { parseCheckpoint } from "./tlog-checkpoint.ts";

export interface SealedHead {
  /** The whole checkpoint, a signed note. */
  readonly note: string;
  readonly size: number;
  readonly root: Hash;
}

/** A note's signatures stand behind the first empty line from its end (C2SP signed-note). */
const SIGNATURES = "\n\n";

export const sealedHead = (note: string): SealedHead | undefined => {
  const checkpoint = parseCheckpoint(note.slice(0, note.lastIndexOf(SIGNATURES) + 1));
  return checkpoint && { note, size: checkpoint.size, root: checkpoint.root };
};
