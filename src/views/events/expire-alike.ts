/** For comparing a live view with one that was just made from the log and contains everything. */
import { keyText, rowText } from "../store/tables.ts";
import type { Snapshot, ViewDefinition, ViewStore } from "../store/view-store.ts";
import { expiryWrites, keyOf } from "./expiry.ts";
import { EVENTS, isExpired, sequenceOf } from "./tables.ts";

export const expireEventsAlike = async (
  live: Snapshot,
  made: Pick<ViewStore, "load" | "revise">,
  view: ViewDefinition,
): Promise<void> => {
  for await (const page of live.rows(EVENTS)) {
    const tombstones = page.filter(isExpired);
    const rows = await made.load(
      EVENTS,
      tombstones.map((row) => keyOf(EVENTS, row)),
    );
    const byKey = new Map(rows.map((row) => [keyText(EVENTS, row), row]));
    const writes = tombstones.flatMap((tombstone) => {
      const row = byKey.get(keyText(EVENTS, tombstone));
      const isSame = row && !isExpired(row) && sequenceOf(row) === sequenceOf(tombstone);
      return isSame ? expiryWrites(row, rowText(tombstone, "expired_at")) : [];
    });
    if (writes.length > 0) await made.revise({ views: [view], expected: [], writes });
  }
};
