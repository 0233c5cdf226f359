/** A signed tree head as whoever stores it sees it: what it says, without asking who signed. Readers verify; the sealer does. */
import type { Hash } from "./rfc6962.ts";
import { noteText } from "./signed-note.ts";
import { parseCheckpoint } from "./tlog-checkpoint.ts";

export interface SealedHead {
  /** The whole checkpoint, a signed note. */
  readonly note: string;
  readonly size: number;
  readonly root: Hash;
}

export const sealedHead = (note: string): SealedHead | undefined => {
  const text = noteText(note);
  const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
  return checkpoint && { note, size: checkpoint.size, root: checkpoint.root };
};
