/** How often a duty fell due and how often the log holds evidence that it was met: asset × law × duty. The ratio is made when it is read. */
import type { Obligation } from "../../../obligations/clocks.ts";
import { type DeadlineId, deadlineOf } from "../../../obligations/deadlines.ts";
import { INTEGER, type RowOf, type Table, TEXT } from "../../../views/tables.ts";
import type { List } from "../../list.ts";
import type { CaseView } from "../case-view.ts";
import type { Register } from "./register.ts";

export const COVERAGE = {
  name: "coverage",
  columns: {
    tenant: TEXT,
    asset_id: TEXT,
    /** A legal basis; `any` for what every decision needs, `policy` for rules of the operator. */
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
} as const satisfies Table;

const DUTIES: Readonly<Record<DeadlineId, string>> = {
  "PIPA-EXPL": "explanation",
  "CIA-EXPL": "explanation",
  "CO-ADVERSE": "explanation",
  "PIPA-REFUSE": "objection",
  "PIPA-REVIEW": "objection",
  "GDPR-12-3": "objection",
  "PIPA-DENY": "denial_reason",
  "LL144-NOTICE": "notice",
  "EU73-GEN": "incident_report",
  "EU73-DEATH": "incident_report",
  "EU73-CRIT": "incident_report",
  "EU26-5": "provider_informed",
  "HR-CLOSE": "human_review",
  "OBJ-ACK": "objection_acknowledgement",
};

const rowsOf = ({ tenant, is, obligations, deadlines }: CaseView): readonly RowOf<typeof COVERAGE>[] => {
  const rows: RowOf<typeof COVERAGE>[] = [];
  for (const { made, notices } of is.decisions) {
    if (!made) continue;
    const status = notices.some(({ at }) => at <= made.at) ? "met" : "open";
    const { asset, bases } = made;
    rows.push(rowOf({ tenant, asset, law: "any", duty: "notice", status }));
    if (bases) for (const law of bases) rows.push(rowOf({ tenant, asset, law, duty: "notice", status }));
  }
  for (const { deadline, startedBy, status } of obligations) {
    const law = deadlineOf(deadlines, deadline)?.law ?? "policy";
    rows.push(rowOf({ tenant, asset: startedBy.asset, law, duty: DUTIES[deadline], status }));
  }
  return rows;
};

const rowOf = (counted: {
  readonly tenant: string;
  readonly asset: string;
  readonly law: string;
  readonly duty: string;
  readonly status: Obligation["status"];
}): RowOf<typeof COVERAGE> => {
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

export const coverageList: List = {
  view: "cases",
  table: COVERAGE,
  orderBy: ["asset_id", "law", "duty"],
  filters: ["asset_id", "law", "duty"],
  values: { duty: [...new Set(["notice", ...Object.values(DUTIES)])] },
  // A late event may take away what an earlier one gave.
  always: [{ kind: "range", column: "required", from: 1 }],
};
