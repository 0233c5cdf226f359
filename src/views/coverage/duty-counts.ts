/**
 * The columns of every table that counts evidence of duties: asset × law × duty. Ratio and state are computed when the table is read (entries.ts).
 */
import { INTEGER, type RowOf, type Table, TEXT } from "../store/tables.ts";

export const DUTY_COUNTS = {
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** A legal basis; `any` for duties that apply to everybody, `policy` for rules of the operator. */
    law: TEXT,
    duty: TEXT,
    /** All that is counted here: also what is not due yet, or was waived. */
    required: INTEGER,
    in_time: INTEGER,
    late: INTEGER,
    /** Due and not met. */
    unmet: INTEGER,
  },
  primaryKey: ["tenant", "asset_id", "law", "duty"],
  indexes: [["tenant", "law", "asset_id", "duty"]],
} as const satisfies Omit<Table, "name">;

/** A row of all these tables as a type. */
export type DutyCount = RowOf<typeof DUTY_COUNTS & { readonly name: string }>;

/** With what only obligations with a clock have. */
export interface CoverageCount extends DutyCount {
  readonly open: number;
  readonly waived: number;
}
