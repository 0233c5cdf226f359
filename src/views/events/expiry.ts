/** Which events of the view `events` are due to expire, and what is left of an expired event. */

import { classText, type RetentionClass } from "../../access/retention/age.ts";
import { type EventFacts, eventFacts } from "../../event/facts.ts";
import { readEvent } from "../../event/read-event.ts";
import { type Row, type RowOf, rowInteger, rowText, type Table } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { Write } from "../store/view-store.ts";
import { EVENT_WORDS, EVENTS } from "./tables.ts";

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

/** Read from the event's own text, which decides; the columns only find the event. */
export const factsIn = (row: Row): EventFacts | undefined => eventFacts(readEvent(rowText(row, "event")));

/** The row becomes a tombstone, which no search finds. */
export const expiryWrites = (row: Row, expiredAt: string): readonly Write[] => {
  const [tenant, sequence] = [rowText(row, "tenant"), rowInteger(row, "sequence")];
  const tombstone: RowOf<typeof EVENTS> = {
    tenant,
    event_id: rowText(row, "event_id"),
    sequence: -sequence,
    received_at: rowText(row, "received_at"),
    request_id: "",
    received: "",
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

export const keyOf = (table: Table, row: Row): Row =>
  Object.fromEntries(table.primaryKey.map((name) => [name, row[name] ?? null]));
