/**
 * The days on which a tool was used for which Local Law 144 asks for an audit. The years of audits are held against them when it is read, as either may come
 * first.
 */
import { dateInNewYork, needsBiasAudit } from "../../../law/obligations/bias-audit.ts";
import { INTEGER, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import type { Register } from "./register.ts";

export const LL144_USES = {
  name: "ll144_uses",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** The date in New York, such as `2026-11-20`. */
    day: TEXT,
    decisions: INTEGER,
  },
  primaryKey: ["tenant", "asset_id", "day"],
  indexes: [],
} as const satisfies Table;

const NONE: readonly RowOf<typeof LL144_USES>[] = [];

export const ll144UsesRegister: Register = {
  table: LL144_USES,
  kind: "counts",
  rowsOf: ({ tenant, is: { decisions } }) => {
    let rows: RowOf<typeof LL144_USES>[] | undefined;
    for (const decision of decisions) {
      const { made } = decision;
      if (made === undefined || !needsBiasAudit(decision)) continue;
      rows ??= [];
      rows.push({ tenant, asset_id: made.asset, day: dateInNewYork(made.at), decisions: 1 });
    }
    return rows ?? NONE;
  },
};
