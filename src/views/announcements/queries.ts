import { OPERATOR } from "../kit/operator.ts";
import { type Row, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import { BOUNDARIES } from "./tables.ts";

/** Boundaries before a time, in the order of time, after the row `after` if that is given. */
export const boundariesQuery = (parts: {
  readonly before: string;
  readonly after: Row | undefined;
  readonly rowsMax: number;
}): TenantQuery => {
  const { before, after, rowsMax } = parts;
  return tenantList({
    tenant: OPERATOR,
    table: BOUNDARIES,
    columns: ORDER,
    where: [{ kind: "range", column: "at", to: before }],
    orderBy: ORDER,
    order: "asc",
    after: after && ORDER.map((name) => rowText(after, name)),
    rowsMax,
  });
};

const ORDER = ["at", "owner", "obligation_id"] as const;
