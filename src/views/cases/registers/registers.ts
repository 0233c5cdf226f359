/** All registers, those of coverage among them, and what changes in them with a case. */
import { noticeBefore } from "../../../law/cases/case.ts";
import { BIAS_AUDIT, dateInNewYork, needsBiasAudit } from "../../../law/obligations/bias-audit.ts";
import { ANY_LAW, clocksOf, dutyOf } from "../../../law/obligations/deadline-table.ts";
import type { ObligationStatus, Rules } from "../../../law/obligations/obligation.ts";
import { DUTY_COUNTS } from "../../coverage/duty-counts.ts";
import { rowChanges } from "../../kit/read-model.ts";
import {
  INTEGER,
  keyText,
  type Row,
  type RowOf,
  rowInteger,
  type Table,
  TEXT,
  type Value,
} from "../../store/tables.ts";
import type { Write } from "../../store/view-store.ts";
import type { CaseFacts } from "../nodes.ts";
import { decisionLaws, decisionsRegister } from "./decisions.ts";
import { humanReviewsRegister } from "./human-reviews.ts";
import { incidentsRegister } from "./incidents.ts";
import { noticesRegister } from "./notices.ts";
import { objectionsRegister } from "./objections.ts";
import { obligationsRegister } from "./obligations.ts";
import { type CaseView, caseView, type Register } from "./register.ts";

/** How often obligations arose and how often the log contains evidence that they were met, for all obligations of a case. */
export const COVERAGE = {
  name: "coverage",
  ...DUTY_COUNTS,
  columns: {
    ...DUTY_COUNTS.columns,
    open: INTEGER,
    waived: INTEGER,
  },
} as const satisfies Table;

export const COVERAGE_OPEN = {
  name: "coverage_open",
  columns: { tenant: TEXT, asset_id: TEXT, law: TEXT, duty: TEXT, due_at: TEXT, obligations: INTEGER },
  primaryKey: ["tenant", "asset_id", "law", "duty", "due_at"],
  indexes: [],
} as const satisfies Table;

const coverageRowsOf = ({ tenant, is, obligations, rules: { deadlines } }: CaseView) => {
  const counted = (asset_id: string, law: string, duty: string, status: ObligationStatus) => ({
    tenant,
    asset_id,
    law,
    duty,
    required: 1,
    in_time: Number(status === "met"),
    late: Number(status === "met_late"),
    unmet: Number(status === "breached"),
    open: Number(status === "open" || status === "waiting"),
    waived: Number(status === "waived"),
  });
  const rows: RowOf<typeof COVERAGE>[] = [];
  for (const decision of is.decisions) {
    if (!decision.made) continue;
    const { asset } = decision.made;
    // A notice that had to come before the decision cannot come any more.
    const status = noticeBefore(decision) ? "met" : "breached";
    rows.push(counted(asset, ANY_LAW, "notice", status));
    // Where a law has a clock for the notice, that decides. A legal basis may have any name, also that of the row above. A decision counts once under each.
    for (const law of decisionLaws(decision))
      if (law !== ANY_LAW && clocksOf(deadlines, law, "notice").length === 0)
        rows.push(counted(asset, law, "notice", status));
    // Whether an audit was valid then depends on audits that may come at any time, so it is worked out when it is read.
    if (needsBiasAudit(decision)) rows.push(counted(asset, BIAS_AUDIT.law, BIAS_AUDIT.duty, "breached"));
  }
  for (const { rule, asset, status } of obligations) {
    const { law, duty } = dutyOf(deadlines, rule);
    rows.push(counted(asset, law, duty, status));
  }
  return rows;
};

const coverageOpenRowsOf = ({ tenant, obligations, rules }: CaseView) =>
  obligations
    .filter(({ status }) => status === "open")
    .map(({ rule, asset: asset_id, dueAt: due_at }) => ({
      tenant,
      asset_id,
      ...dutyOf(rules.deadlines, rule),
      due_at,
      obligations: 1,
    }));

/**
 * The days on which a tool was used for which Local Law 144 asks for an audit. The years of audits are held against them when it is read, as either may come
 * first.
 */
export const LL144_USES = {
  name: "ll144_uses",
  columns: { tenant: TEXT, asset_id: TEXT, day: TEXT, decisions: INTEGER },
  primaryKey: ["tenant", "asset_id", "day"],
  indexes: [],
} as const satisfies Table;

const ll144UsesRowsOf = ({ tenant, is: { decisions } }: CaseView) =>
  decisions.flatMap((decision) =>
    decision.made && needsBiasAudit(decision)
      ? [{ tenant, asset_id: decision.made.asset, day: dateInNewYork(decision.made.at), decisions: 1 }]
      : [],
  );

export const REGISTERS: readonly Register[] = [
  decisionsRegister,
  noticesRegister,
  objectionsRegister,
  humanReviewsRegister,
  incidentsRegister,
  obligationsRegister,
  { table: COVERAGE, kind: "counts", rowsOf: coverageRowsOf },
  { table: COVERAGE_OPEN, kind: "counts", rowsOf: coverageOpenRowsOf },
  { table: LL144_USES, kind: "counts", rowsOf: ll144UsesRowsOf },
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
