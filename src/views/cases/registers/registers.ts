import type { Rules } from "../../../law/obligations/obligation.ts";
import { rowChanges } from "../../kit/row-changes.ts";
import { keyText, type Row, rowInteger, type Table, type Value } from "../../store/tables.ts";
import type { Write } from "../../store/view-store.ts";
import type { CaseFacts } from "../nodes.ts";
import { coverageOpenRegister, coverageRegister, ll144UsesRegister } from "./coverage.ts";
import { decisionsRegister } from "./decisions.ts";
import { humanReviewsRegister } from "./human-reviews.ts";
import { incidentsRegister } from "./incidents.ts";
import { noticesRegister } from "./notices.ts";
import { objectionsRegister } from "./objections.ts";
import { obligationsRegister } from "./obligations.ts";
import { caseView, type Register } from "./register.ts";

export const REGISTERS: readonly Register[] = [
  decisionsRegister,
  noticesRegister,
  objectionsRegister,
  humanReviewsRegister,
  incidentsRegister,
  obligationsRegister,
  coverageRegister,
  coverageOpenRegister,
  ll144UsesRegister,
];

export interface CaseChanges {
  readonly before: readonly CaseFacts[];
  readonly now: readonly CaseFacts[];
}

/** The rows of cases as they were, against their rows as they are. A case that has expired has no rows, and still counts. */
export const registerChanges = (
  tenant: string,
  { before, now }: CaseChanges,
  rules: Rules,
): readonly Write[] => {
  const viewsOf = (cases: readonly CaseFacts[]) =>
    cases.map(({ facts, isExpired }) => ({ view: caseView(tenant, facts, rules), isExpired }));
  const [viewsBefore, viewsNow] = [viewsOf(before), viewsOf(now)];
  return REGISTERS.flatMap(({ table, kind, rowsOf }) => {
    const rowsIn = (views: typeof viewsNow) =>
      views.flatMap(({ view, isExpired }) => (isExpired && kind === "rows" ? [] : rowsOf(view)));
    const [old, next] = [rowsIn(viewsBefore), rowsIn(viewsNow)];
    return kind === "rows" ? rowChanges(table, old, next) : countChanges(table, old, next);
  });
};

/** What the cases added before is taken away, and what they add now is added. */
const countChanges = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const names = Object.keys(table.columns).filter((name) => !table.primaryKey.includes(name));
  const nothing: Row = Object.fromEntries(names.map((name) => [name, 0]));
  const sums = new Map<string, Record<string, Value>>();
  const count = (rows: readonly Row[], sign: 1 | -1): void => {
    for (const row of rows) {
      const key = keyText(table, row);
      const sum = sums.get(key) ?? { ...row, ...nothing };
      sums.set(key, sum);
      for (const name of names) sum[name] = rowInteger(sum, name) + sign * rowInteger(row, name);
    }
  };
  count(before, -1);
  count(now, 1);
  return [...sums.values()]
    .filter((row) => names.some((name) => row[name] !== 0))
    .map((row) => ({ kind: "add", table, row }));
};
