/**
 * Where in the log each duty changed last. The announcer asks for what changed since it looked last; without this it would have to read the log a second
 * time. Kept beside the register, and no part of what a view must hold: it depends on how the records were cut into groups.
 */
import type { Sequence } from "../../log/outcome.ts";
import { OPERATOR } from "../kit/operator.ts";
import { INTEGER, type Row, rowInteger, rowText, type Table, TEXT } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { Write } from "../store/view-store.ts";
import { OBLIGATIONS } from "./registers/obligations.ts";

export const DUTY_CHANGES = {
  name: "duty_changes",
  columns: { tenant: TEXT, owner: TEXT, obligation_id: TEXT, sequence: INTEGER },
  primaryKey: ["tenant", "owner", "obligation_id"],
  indexes: [["tenant", "sequence", "owner", "obligation_id"]],
} as const satisfies Table;

/**
 * The writes that go with changes of a tenant's registers. `sequence`: that of the last record that caused them; undefined where no record did, and nothing
 * is to be told.
 */
export const dutyChanges = (
  tenant: string,
  changes: readonly Write[],
  sequence: Sequence | undefined,
): readonly Write[] =>
  changes.flatMap((write): readonly Write[] => {
    if (write.kind === "upsert" && write.table === OBLIGATIONS && sequence !== undefined)
      return [{ kind: "upsert", table: DUTY_CHANGES, row: { ...keyOf(tenant, write.row), sequence } }];
    if (write.kind === "delete" && write.table === OBLIGATIONS)
      return [{ kind: "delete", table: DUTY_CHANGES, key: keyOf(tenant, write.key) }];
    return [];
  });

const keyOf = (tenant: string, duty: Row) =>
  ownedKey({ tenant, obligationId: rowText(duty, "obligation_id") });

export interface DutyId {
  readonly tenant: string;
  readonly obligationId: string;
}

/** Key of a duty in tables that are read for all tenants together. */
export const ownedKey = ({ tenant, obligationId }: DutyId) => ({
  tenant: OPERATOR,
  owner: tenant,
  obligation_id: obligationId,
});

/** The duty of a row of such a table. */
export const ownedDuty = (row: Row): DutyId => ({
  tenant: rowText(row, "owner"),
  obligationId: rowText(row, "obligation_id"),
});

export interface DutyChange extends DutyId {
  readonly sequence: Sequence;
}

/** Duties of all tenants in the order in which they changed last: after `from`, up to `to`, and after the row `after` where that is given. */
export const dutyChangesQuery = (range: {
  readonly from: Sequence;
  readonly to: Sequence;
  readonly after: DutyChange | undefined;
  readonly rowsMax: number;
}): TenantQuery => {
  const { from, to, after, rowsMax } = range;
  return tenantList({
    tenant: OPERATOR,
    table: DUTY_CHANGES,
    columns: ["owner", "obligation_id", "sequence"],
    where: [{ kind: "range", column: "sequence", from: from + 1, to: to + 1 }],
    orderBy: ["sequence", "owner", "obligation_id"],
    order: "asc",
    after: after && [after.sequence, after.tenant, after.obligationId],
    rowsMax,
  });
};

export const dutyChangeOf = (row: Row): DutyChange => ({
  ...ownedDuty(row),
  sequence: rowInteger(row, "sequence"),
});
