/** How often obligations arose and how often the log contains evidence that they were met, for all obligations of a case. */
import { noticeBefore } from "../../../law/cases/case.ts";
import { BIAS_AUDIT, dateInNewYork, needsBiasAudit } from "../../../law/obligations/bias-audit.ts";
import { ANY_LAW, clocksOf, dutyOf } from "../../../law/obligations/duties.ts";
import type { ObligationStatus } from "../../../law/obligations/obligation.ts";
import { DUTY_COUNTS } from "../../coverage/duty-counts.ts";
import { INTEGER, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import { decisionLaws } from "./decisions.ts";
import type { CaseView, Register } from "./register.ts";

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

const rowsOf = ({ tenant, is, obligations, rules: { deadlines } }: CaseView) => {
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

export const coverageRegister: Register = { table: COVERAGE, kind: "counts", rowsOf };

export const coverageOpenRegister: Register = {
  table: COVERAGE_OPEN,
  kind: "counts",
  rowsOf: ({ tenant, obligations, rules }) =>
    obligations
      .filter(({ status }) => status === "open")
      .map(({ rule, asset: asset_id, dueAt: due_at }) => ({
        tenant,
        asset_id,
        ...dutyOf(rules.deadlines, rule),
        due_at,
        obligations: 1,
      })),
};

/**
 * The days on which a tool was used for which Local Law 144 asks for an audit. The years of audits are held against them when it is read, as either may come
 * first.
 */
export const LL144_USES = {
  name: "ll144_uses",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    day: TEXT,
    decisions: INTEGER,
  },
  primaryKey: ["tenant", "asset_id", "day"],
  indexes: [],
} as const satisfies Table;

export const ll144UsesRegister: Register = {
  table: LL144_USES,
  kind: "counts",
  rowsOf: ({ tenant, is: { decisions } }) =>
    decisions.flatMap((decision) =>
      decision.made && needsBiasAudit(decision)
        ? [{ tenant, asset_id: decision.made.asset, day: dateInNewYork(decision.made.at), decisions: 1 }]
        : [],
    ),
};
