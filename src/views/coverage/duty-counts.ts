/**
 * The columns of every table that counts evidence of duties: asset × law × duty. Ratio and state are computed when the table is read (coverage.ts).
 */
import { INTEGER, type RowOf, type Table, TEXT } from "../store/tables.ts";

export const DUTY_COUNTS = {
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** A legal basis; `any` for duties that apply to everybody, `policy` for rules of the operator. */
    law: TEXT,
    duty: TEXT,
    required: INTEGER,
    in_time: INTEGER,
    late: INTEGER,
    unmet: INTEGER,
  },
  primaryKey: ["tenant", "asset_id", "law", "duty"],
  indexes: [["tenant", "law", "asset_id", "duty"]],
} as const satisfies Omit<Table, "name">;

export type DutyCount = RowOf<typeof DUTY_COUNTS & { readonly name: string }>;

export interface CoverageCount extends DutyCount {
  readonly open: number;
  readonly waived: number;
}
