import { Type } from "@sinclair/typebox";
import { DAY_MS, HOUR_MS, instantOf } from "../../law/obligations/due-date.ts";
import type { Value } from "../store/tables.ts";
import type { Derived } from "./list.ts";

const UNITS_MS = { hours: HOUR_MS, days: DAY_MS } as const;

/** The time between two times of a row, as a member of its entry. */
export const elapsed = (
  unit: keyof typeof UNITS_MS,
  { from, to }: { readonly from: string; readonly to: string },
): Derived => ({
  schema: Type.Union([
    Type.Number({
      minimum: 0,
      description: `From \`${from}\` to \`${to}\` in ${unit}, to the hundredth. Null while one of both is not in the log, or where the second comes first.`,
    }),
    Type.Null(),
  ]),
  of: (row) => between(row[from], row[to], UNITS_MS[unit]),
});

const between = (from: Value | undefined, to: Value | undefined, unitMs: number): number | null => {
  if (typeof from !== "string" || typeof to !== "string" || to < from) return null;
  return Math.round((100 * (instantOf(`${to}Z`) - instantOf(`${from}Z`))) / unitMs) / 100;
};
