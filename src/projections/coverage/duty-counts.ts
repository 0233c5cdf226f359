/** The shape of every table that counts evidence of duties: asset × law × duty. Ratio and state are made when they are read (entries.ts). */
import { INTEGER, type RowOf, type Table, TEXT } from "../../views/tables.ts";

export const DUTY_COUNTS = {
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** A legal basis; `any` for what is asked of everybody, `policy` for rules of the operator. */
    law: TEXT,
    duty: TEXT,
    required: INTEGER,
    in_time: INTEGER,
    late: INTEGER,
    /** Not met so far; whether that is overdue depends on the time of reading. */
    unmet: INTEGER,
  },
  primaryKey: ["tenant", "asset_id", "law", "duty"],
  indexes: [["tenant", "law", "asset_id", "duty"]],
} as const satisfies Omit<Table, "name">;

/** The same of all these tables, as TypeScript sees it. */
export type DutyCount = RowOf<typeof DUTY_COUNTS & { readonly name: string }>;
