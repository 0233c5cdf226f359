/**
 * The obligations of a bundle: those of its case, of its asset, or all. They are what the views say at the end of the bundle, at its time; only the
 * records prove them.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { ObligationState } from "../../law/obligations/state.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX, PART_ROWS_MAX } from "../../limits.ts";
import { obligationEntry, obligationList, stateOfRow } from "../../views/cases/registers/obligations.ts";
import { listRows } from "../../views/kit/list.ts";
import type { Row } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { ofAssets } from "./related-records.ts";

export const DUTY_COLUMNS = [
  "obligation_id",
  "rule",
  "duty",
  "law",
  "clause",
  "ruleset_version",
  "state",
  "due_at",
  "earliest_decision_at",
  "asset_id",
  "decision_id",
  "objection_id",
  "incident_id",
  "subject_hash",
  "started_at",
  "started_recorded_at",
  "started_by",
  "started_sequence",
  "extensions",
  "extended_recorded_at",
  "stopped_at",
  "stopped_recorded_at",
  "stopped_by",
  "stopped_sequence",
  "recorded_late",
  "waived_at",
  "waived_by",
  "waived_reason",
] as const;

export type DutyEntry = Readonly<Record<string, unknown>>;

export const dutyCells = (entry: DutyEntry): readonly string[] =>
  DUTY_COLUMNS.map((column) => String(entry[column] ?? ""));

/** Rows of the view, as they were when they were read. */
export type KeptDuties = () => Iterable<Row>;

/** Compressed, page by page: a tenant may have millions, and they are written long after they were read. */
export const keepDuties = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  assetIds: readonly string[] | undefined,
): Promise<KeptDuties> => {
  const pages: Uint8Array[] = [];
  let page: Row[] = [];
  const question = { ...ofAssets(assetIds), pageRows: PART_ROWS_MAX };
  for await (const row of listRows(views, tenant, obligationList, question)) {
    if (page.push(row) < PART_ROWS_MAX) continue;
    pages.push(deflateRawSync(JSON.stringify(page)));
    page = [];
  }
  const last = page;
  return function* () {
    for (const packed of pages) {
      const rows: readonly Row[] = JSON.parse(inflateRawSync(packed).toString());
      yield* rows;
    }
    yield* last;
  };
};

export interface ShownDuties {
  /** What can still be met late first, then what is lost, then by the time at which it falls due or fell. */
  readonly entries: readonly DutyEntry[];
  readonly count: number;
  readonly overdue: number;
  readonly breached: number;
  readonly recordedLate: number;
}

const SHOWN_FIRST: readonly ObligationState[] = [
  "overdue",
  "breached",
  "due_soon",
  "open",
  "extended",
  "met_late",
  "waived",
  "met",
];

/** `at`: the time of the bundle, as text that sorts by time. */
export const createDuties = ({ rules }: { readonly rules: Rules }, kept: KeptDuties, at: string) => {
  const shown = new Map<string, DutyEntry[]>(SHOWN_FIRST.map((state) => [state, []]));
  let [count, overdue, breached, recordedLate] = [0, 0, 0, 0];
  return {
    all: function* (): Generator<DutyEntry> {
      for (const row of kept()) {
        const entry: DutyEntry = obligationEntry(row, rules, at);
        const state = stateOfRow(row, at);
        count++;
        if (state === "overdue") overdue++;
        if (state === "breached") breached++;
        if (entry.recorded_late === true) recordedLate++;
        const alike = shown.get(state);
        if (alike && alike.length < EVIDENCE_SUMMARY_ROWS_MAX) alike.push(entry);
        yield entry;
      }
    },
    /** Valid after `all` has been read. */
    shown: (): ShownDuties => ({
      entries: [...shown.values()].flat().slice(0, EVIDENCE_SUMMARY_ROWS_MAX),
      ...{ count, overdue, breached, recordedLate },
    }),
  };
};
