/** Whether a view goes on in the log that it has seen: after a copy was brought back, another record may stand where the view does. */
import { hash } from "node:crypto";
import type { LogReader, StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { VIEW_ENDS, type ViewStore, type Write } from "../views/view-store.ts";

/** What goes with the commit that moves these views to the message. */
export const endWrites = (
  names: readonly string[],
  { sequence, payload }: StoredMessage,
): readonly Write[] => {
  const record = recordOf(payload);
  return names.map((name) => ({
    kind: "upsert",
    table: VIEW_ENDS,
    row: { name, position: sequence, record },
  }));
};

/** True where it is not known, as of a view that no version of the program has moved that writes ends. */
export const isSameLog = async (
  { views, log }: { readonly views: Pick<ViewStore, "load">; readonly log: Pick<LogReader, "read"> },
  names: readonly string[],
  position: Sequence,
): Promise<boolean> => {
  const ends = await views.load(
    VIEW_ENDS,
    names.map((name) => ({ name })),
  );
  const seen = ends.filter((end) => end.position === position);
  if (seen.length === 0) return true;
  const message = await log.read(position);
  const there = message && recordOf(message.payload);
  return seen.every(({ record }) => record === there);
};

/** Where the log ends that the view has seen. Undefined where it is of another one, as before a copy was brought back: then it says nothing of this one. */
export const endOfItsLog = async (
  parts: {
    readonly views: Pick<ViewStore, "load" | "position">;
    readonly log: Pick<LogReader, "lastSequence" | "read">;
  },
  name: string,
): Promise<Sequence | undefined> => {
  const position = await parts.views.position(name);
  // Asked after the view: what it has seen was in the log by then.
  const end = await parts.log.lastSequence();
  return position <= end && (await isSameLog(parts, [name], position)) ? end : undefined;
};

/** What one says of a view that stands beyond the end of the log, behind "has". For the operator. */
export const seenBeyond = (position: Sequence, end: Sequence): string =>
  `seen ${position - end} records more than the log holds, which lost its end or is another one`;

const recordOf = (payload: Uint8Array): string => hash("sha256", payload, "base64url");
