/** Where views stand in the log, and whether it is still the one that they have seen: after a copy was restored, another record may be there. */
import { hash } from "node:crypto";
import type { LogReader, StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { rowInteger, rowText } from "../store/tables.ts";
import { VIEW_ENDS, VIEWS, type ViewStore, type Write } from "../store/view-store.ts";

/** The write that goes with a commit that advances these views to the message. */
export const endWrites = (
  names: readonly string[],
  { sequence, payload }: StoredMessage,
): readonly Write[] => {
  const record = recordHash(payload);
  return names.map((name) => ({
    kind: "upsert",
    table: VIEW_ENDS,
    row: { name, position: sequence, record },
  }));
};

/** True if it is not known, as for a view that was last advanced by a version that does not write ends. */
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
  const there = message && recordHash(message.payload);
  return seen.every(({ record }) => record === there);
};

/**
 * The end of the log that the view has seen. Undefined if that is another log, as before a copy was restored: then it says nothing about this one.
 */
export const endOfItsLog = async (
  parts: {
    readonly views: Pick<ViewStore, "load" | "position">;
    readonly log: Pick<LogReader, "lastSequence" | "read">;
  },
  name: string,
): Promise<Sequence | undefined> => {
  const position = await parts.views.position(name);
  // Asked after the view: what the view has seen was in the log by then.
  const end = await parts.log.lastSequence();
  return position <= end && (await isSameLog(parts, [name], position)) ? end : undefined;
};

/** The end of a sentence about a view beyond the end of the log, after "has". For the operator. */
export const seenBeyond = (position: Sequence, end: Sequence): string =>
  `seen ${position - end} records more than the log holds, which lost its end or is another one`;

/** What stands for a record where it is compared. */
export const recordHash = (payload: Uint8Array): string => hash("sha256", payload, "base64url");

/**
 * The positions of views, in the order of their names here and as of one commit: read one by one, they could be from before and after it. 0 for a
 * view that does not exist.
 */
export const positionsOf = async (
  views: Pick<ViewStore, "load">,
  names: readonly string[],
): Promise<ReadonlyMap<string, Sequence>> => {
  const rows = await views.load(
    VIEWS,
    names.map((name) => ({ name })),
  );
  const standing = new Map(rows.map((row) => [rowText(row, "name"), rowInteger(row, "position")]));
  return new Map(names.map((name) => [name, standing.get(name) ?? 0]));
};
