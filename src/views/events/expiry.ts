/** Which events of the view `events` are due to expire, and what is left of an expired event: its identity, which no search finds. */

import { classText, type RetentionClass } from "../../access/retention/age.ts";
import { type EventFacts, eventFacts, readEvent } from "../../event/facts.ts";
import { keyText, type Row, type RowOf, rowInteger, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { Snapshot, ViewDefinition, ViewStore, Write } from "../store/view-store.ts";
import { EVENT_WORDS, EVENTS, isExpired, sequenceOf } from "./tables.ts";

/** Rows of one class whose age counts from before a time, the oldest first. */
export const dueQuery = (parts: {
  readonly tenant: string;
  readonly kept: RetentionClass;
  /** As text that sorts by time. */
  readonly before: string;
  /** The last row of the previous page. */
  readonly after: Row | undefined;
  readonly rowsMax: number;
}): TenantQuery => {
  const { tenant, kept, before, after, rowsMax } = parts;
  return tenantList({
    tenant,
    table: EVENTS,
    columns: COLUMNS,
    where: [
      { kind: "equals", column: "retention_class", value: classText(kept) },
      { kind: "range", column: "counted_from", to: before },
    ],
    orderBy: ["counted_from", "sequence"],
    order: "asc",
    after: after && [rowText(after, "counted_from"), rowInteger(after, "sequence")],
    rowsMax,
  });
};

const COLUMNS = Object.keys(EVENTS.columns).filter((name): name is keyof typeof EVENTS.columns =>
  Object.hasOwn(EVENTS.columns, name),
);

export const factsIn = (row: Row): EventFacts | undefined => eventFacts(readEvent(rowText(row, "event")));

export const tombstoneWrites = (row: Row, expiredAt: string): readonly Write[] => {
  const [tenant, sequence] = [rowText(row, "tenant"), rowInteger(row, "sequence")];
  const tombstone: RowOf<typeof EVENTS> = {
    tenant,
    event_id: rowText(row, "event_id"),
    sequence: -sequence,
    received_at: rowText(row, "received_at"),
    request_id: "",
    occurred: "",
    retention_class: "",
    counted_from: "",
    expired_at: expiredAt,
    event: "",
  };
  return [
    { kind: "upsert", table: EVENTS, row: tombstone },
    { kind: "unindex", index: EVENT_WORDS, sequence },
  ];
};

export const keyOf = (row: Row) => ({
  tenant: rowText(row, "tenant"),
  event_id: rowText(row, "event_id"),
});

/** For a view that was just made from the log, in which nothing has expired: the same events expire as in the live one. */
export const expireEventsAlike = async (
  live: Snapshot,
  made: Pick<ViewStore, "load" | "revise">,
  view: ViewDefinition,
): Promise<void> => {
  for await (const page of live.rows(EVENTS)) {
    const tombstones = page.filter(isExpired);
    const rows = await made.load(EVENTS, tombstones.map(keyOf));
    const byKey = new Map(rows.map((row) => [keyText(EVENTS, row), row]));
    const writes = tombstones.flatMap((tombstone) => {
      const row = byKey.get(keyText(EVENTS, tombstone));
      const isSame = row && !isExpired(row) && sequenceOf(row) === sequenceOf(tombstone);
      return isSame ? tombstoneWrites(row, rowText(tombstone, "expired_at")) : [];
    });
    if (writes.length > 0) await made.revise({ views: [view], expected: [], writes });
  }
};
