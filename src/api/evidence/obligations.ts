/** The obligations of a bundle, from the views at its end and time; only the records prove them. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { ObligationState, Rules } from "../../law/obligations/obligation.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX } from "../../limits.ts";
import { obligationEntry, stateOfRow } from "../../views/cases/registers/obligations.ts";
import type { Row } from "../../views/store/tables.ts";
import { CSV_START, csvRow } from "../http/csv.ts";
import type { Entry } from "../http/downloads.ts";

const COLUMNS =
  "obligation_id rule duty law clause ruleset_version state due_at earliest_decision_at asset_id decision_id objection_id incident_id subject_hash started_at started_recorded_at started_by started_sequence extensions extended_recorded_at stopped_at stopped_recorded_at stopped_by stopped_sequence recorded_late waived_at waived_by waived_reason".split(
    " ",
  );

/** What can still be met late first, then what is lost, then by due time. */
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

export interface Obligations {
  /** All of them: obligations.csv. */
  readonly csv: () => Iterable<string>;
  /** Some, for the page. */
  readonly shown: readonly Entry[];
  readonly count: number;
  readonly overdue: number;
  readonly breached: number;
  readonly recordedLate: number;
}

const PART_CHARACTERS = 1024 * 1024;

/** `at`: the time of the bundle, as text that sorts by time. */
export const readObligations = async (
  rows: Iterable<Row> | AsyncIterable<Row>,
  rules: Rules,
  at: string,
): Promise<Obligations> => {
  // Compressed: a tenant may have millions, and they are written long after they are read.
  const parts: Uint8Array[] = [];
  let text = CSV_START + csvRow(COLUMNS);
  const byState = new Map(SHOWN_FIRST.map((state) => [state, { count: 0, first: Array.of<Entry>() }]));
  let recordedLate = 0;
  for await (const row of rows) {
    const entry: Entry = obligationEntry(row, rules, at);
    const alike = byState.get(stateOfRow(row, at));
    if (alike && alike.count++ < EVIDENCE_SUMMARY_ROWS_MAX) alike.first.push(entry);
    if (entry.recorded_late === true) recordedLate++;
    text += csvRow(COLUMNS.map((column) => String(entry[column] ?? "")));
    if (text.length < PART_CHARACTERS) continue;
    parts.push(deflateRawSync(text));
    text = "";
  }
  const states = [...byState.values()];
  const countOf = (state: ObligationState): number => byState.get(state)?.count ?? 0;
  return {
    csv: function* () {
      for (const part of parts) yield inflateRawSync(part).toString();
      yield text;
    },
    shown: states.flatMap(({ first }) => first).slice(0, EVIDENCE_SUMMARY_ROWS_MAX),
    count: states.reduce((sum, { count }) => sum + count, 0),
    overdue: countOf("overdue"),
    breached: countOf("breached"),
    recordedLate,
  };
};
