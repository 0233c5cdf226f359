/**
 * When each obligation is due for a notification check: at once after a change, and later when time alone changes it. The row is written in the commit
 * that changes the obligation, so no change is missed, whoever is killed (transactional outbox).
 */
import { timeKey } from "../../event/formats.ts";
import type { Sequence } from "../../log/outcome.ts";
import { OPERATOR } from "../kit/all-tenants.ts";
import { INTEGER, type Row, rowText, type Table, TEXT } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { Write } from "../store/view-store.ts";
import { OBLIGATIONS } from "./registers/obligations.ts";

/** Read for all tenants together, so `tenant` is the operator's and `owner` the obligation's. No part of what a view must hold. */
export const DUTY_AGENDA = {
  name: "duty_agenda",
  columns: {
    tenant: TEXT,
    owner: TEXT,
    obligation_id: TEXT,
    /** A time as text that sorts by time, CHANGED or NEVER. */
    at: TEXT,
    /** The end of the commit that changed the obligation last, which tells two changes apart. */
    sequence: INTEGER,
  },
  primaryKey: ["tenant", "owner", "obligation_id"],
  indexes: [["tenant", "at", "owner", "obligation_id", "sequence"]],
} as const satisfies Table;

export const CHANGED = "";
export const NEVER = "~";

export const agendaChanges = (
  tenant: string,
  changes: readonly Write[],
  sequence: Sequence,
): readonly Write[] =>
  changes.flatMap((write): readonly Write[] => {
    if (write.kind === "upsert" && write.table === OBLIGATIONS)
      return [
        { kind: "upsert", table: DUTY_AGENDA, row: { ...keyOf(tenant, write.row), at: CHANGED, sequence } },
      ];
    if (write.kind === "delete" && write.table === OBLIGATIONS)
      return [{ kind: "delete", table: DUTY_AGENDA, key: keyOf(tenant, write.key) }];
    return [];
  });

const keyOf = (tenant: string, duty: Row) => ({
  tenant: OPERATOR,
  owner: tenant,
  obligation_id: rowText(duty, "obligation_id"),
});

/** A replayed dead letter changes obligations behind the notifier's position: their time comes now. */
export const dueNow = (writes: readonly Write[], now: Date): readonly Write[] =>
  writes.map((write) =>
    write.kind === "upsert" && write.table === DUTY_AGENDA
      ? { ...write, row: { ...write.row, at: timeKey(now.toISOString()) } }
      : write,
  );

export const agendaQuery = (before: string, rowsMax: number): TenantQuery =>
  tenantList({
    tenant: OPERATOR,
    table: DUTY_AGENDA,
    columns: ["tenant", "owner", "obligation_id", "at", "sequence"],
    where: [{ kind: "range", column: "at", to: before }],
    orderBy: ["at", "owner", "obligation_id"],
    order: "asc",
    rowsMax,
  });

export const allDutiesQuery = (after: Row | undefined, rowsMax: number): TenantQuery =>
  tenantList({
    tenant: OPERATOR,
    table: DUTY_AGENDA,
    columns: ["owner", "obligation_id"],
    where: [],
    orderBy: ["owner", "obligation_id"],
    order: "asc",
    after: after && [rowText(after, "owner"), rowText(after, "obligation_id")],
    rowsMax,
  });
