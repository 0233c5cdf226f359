/** How often duties fell due and how often the log contains evidence that they were met, for all duties of a case. */
import { noticeBefore } from "../../../cases/case.ts";
import { BIAS_AUDIT, needsBiasAudit } from "../../../obligations/bias-audit.ts";
import type { Obligation } from "../../../obligations/clocks.ts";
import { ANY_LAW, dutyOf, lawsWithNoticeClock } from "../../../obligations/duties.ts";
import type { Table } from "../../../views/tables.ts";
import { DUTY_COUNTS, type DutyCount } from "../../coverage/duty-counts.ts";
import type { CaseView } from "../case-view.ts";
import { decisionLaws } from "./decision-laws.ts";
import type { Register } from "./register.ts";

export const COVERAGE = { name: "coverage", ...DUTY_COUNTS } as const satisfies Table;

const rowsOf = ({ tenant, is, obligations, deadlines }: CaseView): readonly DutyCount[] => {
  const rows: DutyCount[] = [];
  const withClock = lawsWithNoticeClock(deadlines);
  for (const decision of is.decisions) {
    const { made } = decision;
    if (!made) continue;
    const status = noticeBefore(decision) ? "met" : "open";
    const { asset } = made;
    rows.push(rowOf({ tenant, asset, law: ANY_LAW, duty: "notice", status }));
    // A legal basis may have any name, also that of the row above. A decision counts once under each.
    for (const law of decisionLaws(decision))
      if (law !== ANY_LAW && !withClock.has(law))
        rows.push(rowOf({ tenant, asset, law, duty: "notice", status }));
    // Whether an audit was valid then depends on audits that may come at any time, so it is worked out when it is read.
    const { law, duty } = BIAS_AUDIT;
    if (needsBiasAudit(decision)) rows.push(rowOf({ tenant, asset, law, duty, status: "open" }));
  }
  for (const { deadline, asset, status } of obligations) {
    const { law, duty } = dutyOf(deadlines, deadline);
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
}): DutyCount => {
  const { tenant, asset, law, duty, status } = counted;
  return {
    tenant,
    asset_id: asset,
    law,
    duty,
    required: 1,
    in_time: status === "met" ? 1 : 0,
    late: status === "met_late" ? 1 : 0,
    unmet: status === "open" ? 1 : 0,
  };
};

export const coverageRegister: Register = { table: COVERAGE, kind: "counts", rowsOf };
