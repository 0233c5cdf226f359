/** The duties that belong to a bundle: of its case, of its asset, or all. What the views say where the bundle ends, at the time of the bundle; nothing proves it but the records. */
import { EVIDENCE_SUMMARY_ROWS_MAX, PAGE_ROWS_MAX } from "../limits.ts";
import type { Rules } from "../obligations/clocks.ts";
import {
  obligationEntry,
  obligationList,
  obligationsRegister,
} from "../projections/cases/registers/obligations.ts";
import { listRows } from "../projections/list.ts";
import { type Row, rowInteger } from "../views/tables.ts";
import type { ViewStore } from "../views/view-store.ts";
import type { EvidenceFilter, Selection } from "./selection.ts";

export const DUTY_COLUMNS = [
  "obligation_id",
  "deadline",
  "duty",
  "law",
  "clause",
  "ruleset_version",
  "state",
  "due_at",
  "asset_id",
  "decision_id",
  "objection_id",
  "incident_id",
  "subject_hash",
  "started_at",
  "started_by",
  "started_sequence",
  "extensions",
  "stopped_at",
  "stopped_by",
  "stopped_sequence",
] as const;

export type DutyEntry = Readonly<Record<string, unknown>>;

export const dutyCells = (entry: DutyEntry): readonly string[] =>
  DUTY_COLUMNS.map((column) => String(entry[column] ?? ""));

/** As the duty was before what has come since; undefined where that started it. */
const asOf = (row: Row, end: number): Row | undefined => {
  if (rowInteger(row, "started_sequence") > end) return undefined;
  if (row.stopped_sequence === null || rowInteger(row, "stopped_sequence") <= end) return row;
  return { ...row, status: "open", stopped_at: null, stopped_by: null, stopped_sequence: null };
};

export interface ShownDuties {
  readonly entries: readonly DutyEntry[];
  readonly count: number;
  readonly overdue: number;
}

export const createDuties = (
  { views, rules }: { readonly views: ViewStore; readonly rules: Rules },
  question: {
    readonly tenant: string;
    readonly filter: EvidenceFilter;
    readonly selection: Selection;
    /** Now, as text that sorts. */
    readonly at: string;
  },
) => {
  const { tenant, filter, selection, at } = question;
  const shown: DutyEntry[] = [];
  let [count, overdue] = [0, 0];
  const rows = () =>
    selection.case
      ? obligationsRegister.rowsOf(selection.case)
      : listRows(views, tenant, obligationList, {
          where:
            filter.assetId === undefined
              ? []
              : [{ kind: "equals", column: "asset_id", value: filter.assetId }],
          pageRows: PAGE_ROWS_MAX,
        });
  return {
    all: async function* (): AsyncGenerator<DutyEntry> {
      for await (const found of rows()) {
        const row = asOf(found, selection.end);
        if (row === undefined) continue;
        const entry: DutyEntry = obligationEntry(row, rules, at);
        count++;
        if (entry.state === "overdue") overdue++;
        if (shown.length < EVIDENCE_SUMMARY_ROWS_MAX) shown.push(entry);
        yield entry;
      }
    },
    /** Once `all` has been read. */
    shown: (): ShownDuties => ({ entries: shown, count, overdue }),
  };
};
