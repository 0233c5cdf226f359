/** How often obligations arose and how often the log contains evidence that they were met, for all obligations of a case. */
import { noticeBefore } from "../../../law/cases/case.ts";
import { BIAS_AUDIT, needsBiasAudit } from "../../../law/obligations/bias-audit.ts";
import { ANY_LAW, dutyOf, lawsWithNoticeClock } from "../../../law/obligations/duties.ts";
import type { Obligation } from "../../../law/obligations/obligation.ts";
import { DUTY_COUNTS } from "../../coverage/duty-counts.ts";
import { INTEGER, type RowOf, type Table, TEXT } from "../../store/tables.ts";
import type { CaseView } from "../case-view.ts";
import { decisionLaws } from "./decision-laws.ts";
import type { Register } from "./register.ts";

export const COVERAGE = {
  name: "coverage",
  ...DUTY_COUNTS,
  columns: {
    ...DUTY_COUNTS.columns,
    /** With a clock that was not stopped: whether it has run out depends on the time of reading. */
    open: INTEGER,
    waived: INTEGER,
  },
} as const satisfies Table;

/** When those that are open fall due. */
export const COVERAGE_OPEN = {
  name: "coverage_open",
  columns: { tenant: TEXT, asset_id: TEXT, law: TEXT, duty: TEXT, due_at: TEXT, obligations: INTEGER },
  primaryKey: ["tenant", "asset_id", "law", "duty", "due_at"],
  indexes: [],
} as const satisfies Table;

type Counted = RowOf<typeof COVERAGE>;

const rowsOf = ({ tenant, is, obligations, deadlines }: CaseView): readonly Counted[] => {
  const rows: Counted[] = [];
  const withClock = lawsWithNoticeClock(deadlines);
  for (const decision of is.decisions) {
    const { made } = decision;
    if (!made) continue;
    // A notice that had to come before the decision cannot come any more.
    const status = noticeBefore(decision) ? "met" : "breached";
    const { asset } = made;
    rows.push(rowOf({ tenant, asset, law: ANY_LAW, duty: "notice", status }));
    // A legal basis may have any name, also that of the row above. A decision counts once under each.
    for (const law of decisionLaws(decision))
      if (law !== ANY_LAW && !withClock.has(law))
        rows.push(rowOf({ tenant, asset, law, duty: "notice", status }));
    // Whether an audit was valid then depends on audits that may come at any time, so it is worked out when it is read.
    const { law, duty } = BIAS_AUDIT;
    if (needsBiasAudit(decision)) rows.push(rowOf({ tenant, asset, law, duty, status: "breached" }));
  }
  for (const { rule, asset, status } of obligations) {
    const { law, duty } = dutyOf(deadlines, rule);
    rows.push(rowOf({ tenant, asset, law, duty, status }));
  }
  return rows;
};

const rowOf = (counted: {
  readonly tenant: string;
  readonly asset: string;
  readonly law: string;
  readonly duty: string;
  readonly status: Obligation["status"];
}): Counted => {
  const { tenant, asset, law, duty, status } = counted;
  return {
    tenant,
    asset_id: asset,
    law,
    duty,
    required: 1,
    in_time: status === "met" ? 1 : 0,
    late: status === "met_late" ? 1 : 0,
    unmet: status === "breached" ? 1 : 0,
    open: status === "open" || status === "waiting" ? 1 : 0,
    waived: status === "waived" ? 1 : 0,
  };
};

export const coverageRegister: Register = { table: COVERAGE, kind: "counts", rowsOf };

const NONE: readonly RowOf<typeof COVERAGE_OPEN>[] = [];

export const coverageOpenRegister: Register = {
  table: COVERAGE_OPEN,
  kind: "counts",
  rowsOf: ({ tenant, obligations, deadlines }) => {
    if (obligations.length === 0) return NONE;
    return obligations.flatMap(({ rule, asset: asset_id, status, dueAt: due_at }) =>
      status === "open" ? [{ tenant, asset_id, ...dutyOf(deadlines, rule), due_at, obligations: 1 }] : NONE,
    );
  },
};
