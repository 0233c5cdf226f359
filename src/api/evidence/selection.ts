/**
 * Selects the records of a bundle. They are found once and kept as numbers, so that all files of the bundle describe the same records, whatever
 * expires while it is written. Their bytes come from the log, which never changes.
 */
import { setImmediate as otherWork } from "node:timers/promises";
import { timeKey } from "../../event/formats.ts";
import { EVIDENCE_BYTES_MAX, EVIDENCE_RECORDS_MAX } from "../../limits.ts";
import { eventIdOf } from "../../log/event-id-of.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { eventsOfFacts, type FoundCase, isCaseExpired } from "../../views/cases/queries.ts";
import { EVENTS, EVENTS_VIEW, isExpired } from "../../views/events/tables.ts";
import { walkEvents } from "../../views/events/walk.ts";
import { rowInteger, rowText } from "../../views/store/tables.ts";
import { leafIndexesOf, leafSequences } from "../../views/tree/queries.ts";
import type { EvidenceFilter } from "./evidence-filter.ts";
import { type Found, isAboutFound } from "./found.ts";
import { type ReadRecord, type RecordReader, recordPages } from "./record-pages.ts";
import {
  type EvidenceQuestion,
  type SealedState,
  type SealedStateDependencies,
  untilSealed,
} from "./sealed-state.ts";

export interface SelectionDependencies extends SealedStateDependencies {
  readonly log: RecordReader & SealedStateDependencies["log"];
}

export interface SelectedRecord {
  readonly sequence: number;
  readonly leafIndex: number;
  /** The views do not show its event, because the event has expired or the record is none. The bundle contains only the hash of its leaf. */
  readonly isWithheld: boolean;
}

export interface Selection extends Omit<SealedState, "size" | "found"> {
  /** The case, if the bundle is about one. */
  readonly case: FoundCase | undefined;
  /** In the order of the log; at least one. */
  readonly records: readonly SelectedRecord[];
  /** Whether these are all leaves that the head covers. */
  readonly isComplete: boolean;
  /** Of their events together, as the limit counts them. */
  readonly bytes: number;
  /** Known events of the case, the decision or the person that from and to leave out. */
  readonly outsideTime: number;
}

export type SelectionResult =
  | { readonly kind: "selected"; readonly selection: Selection }
  | { readonly kind: "nothing" }
  | { readonly kind: "case_expired" }
  | { readonly kind: "case_shared" }
  | { readonly kind: "too_large"; readonly detail: string }
  /** Some records of the log are not in the views yet, or not under a signed head. */
  | { readonly kind: "not_sealed" }
  /** View and log contradict each other: an alarm, or the view is being rebuilt. */
  | { readonly kind: "not_in_tree" };

export const selectRecords = async (
  dependencies: SelectionDependencies,
  question: EvidenceQuestion & { readonly waitMs: number },
): Promise<SelectionResult> => {
  const { tenant, filter, waitMs } = question;
  const sealed = await untilSealed(dependencies, question, waitMs);
  if (sealed.kind !== "sealed") return sealed;
  const { head, end, subjects, duties, found } = sealed;
  const { correlationId } = filter;
  const isComplete = Object.values(filter).every((value) => value === undefined);
  if (isAboutFound(filter) && found === undefined) return { kind: "nothing" };
  if (found?.hasExpired) return { kind: "case_expired" };
  if (correlationId !== undefined && found?.case) {
    if (found.case.isShared) return { kind: "case_shared" };
    if (await isCaseExpired(dependencies.views, tenant, correlationId, found.case, end))
      return { kind: "case_expired" };
  }
  const chosen = isComplete
    ? await allRecords(dependencies, tenant, head)
    : found
      ? await recordsOfFound(dependencies, { tenant, found, filter, end })
      : await matchingRecords(dependencies, tenant, filter, end);
  if (chosen.kind !== "chosen") return chosen;
  const { sequences, withheld, bytes, outsideTime = 0 } = chosen;
  if (sequences.length === 0) return { kind: "nothing" };
  const indexes = await leafIndexesOf(dependencies.views, tenant, sequences);
  const records: SelectedRecord[] = [];
  for (const [place, sequence] of sequences.entries()) {
    const leafIndex = indexes[place];
    if (leafIndex === undefined || leafIndex >= head.size) return { kind: "not_in_tree" };
    records.push({ sequence, leafIndex, isWithheld: withheld.has(sequence) });
  }
  return {
    kind: "selected",
    selection: { head, records, isComplete, bytes, outsideTime, end, case: found?.case, subjects, duties },
  };
};

type Chosen =
  | {
      readonly kind: "chosen";
      /** Ascending. */
      readonly sequences: readonly number[];
      readonly withheld: ReadonlySet<number>;
      readonly bytes: number;
      readonly outsideTime?: number;
    }
  | Exclude<SelectionResult, { readonly kind: "selected" }>;

const NONE: ReadonlySet<number> = new Set();

const tooMany: Chosen = {
  kind: "too_large",
  detail: `It would hold more than ${EVIDENCE_RECORDS_MAX} records. Ask in parts: by asset_id, correlation_id, decision_id or subject_hash, or by shorter times with from and to.`,
};
const tooLarge: Chosen = {
  kind: "too_large",
  detail: `Its records would be larger than ${EVIDENCE_BYTES_MAX / 1024 / 1024} MiB. Ask in parts: by asset_id, correlation_id, decision_id or subject_hash, or by shorter times with from and to.`,
};

const matchingRecords = async (
  { views }: SelectionDependencies,
  tenant: string,
  { assetIds, correlationId, subjectHash, from, to }: EvidenceFilter,
  end: number,
): Promise<Chosen> => {
  const anyOf = assetIds?.map((assetId) => ({ assetId }));
  const conditions = { anyOf, correlationId, subjectHash, from, to, timeField: "timestamp" } as const;
  const walk = walkEvents({ views, tenant, conditions, after: 0 });
  const sequences: number[] = [];
  let bytes = 0;
  while (walk.position() < end) {
    for (const { sequence, eventText } of await walk.next(end)) {
      sequences.push(sequence);
      bytes += Buffer.byteLength(eventText);
    }
    if (sequences.length > EVIDENCE_RECORDS_MAX) return tooMany;
    if (bytes > EVIDENCE_BYTES_MAX) return tooLarge;
    // SQLite answers synchronously: without this pause nothing else would run until the last page.
    await otherWork();
  }
  return { kind: "chosen", sequences, withheld: NONE, bytes };
};

/** Facts whose events are loaded at once. */
const FACTS_PER_READ = 500;

/** A case keeps a limited number of events for each name; for the requested name all are found, and all that name the person. */
const recordsOfFound = async (
  dependencies: SelectionDependencies,
  {
    tenant,
    found,
    filter,
    end: last,
  }: {
    readonly tenant: string;
    readonly found: Found;
    readonly filter: EvidenceFilter;
    readonly end: number;
  },
): Promise<Chosen> => {
  const { from, to, assetIds, decisionId } = filter;
  const [first, end] = [from, to].map((time) => (time === undefined ? undefined : timeKey(time)));
  const inTime = found.facts.filter(
    ({ at }) => (first === undefined || at >= first) && (end === undefined || at < end),
  );
  const facts = inTime.filter(({ asset }) => assetIds?.includes(asset) !== false);
  const outsideTime = found.facts.length - inTime.length;
  // A borrowed notice is no event of the case's own names.
  const known = found.facts.filter(({ bySubject }) => !bySubject);
  const isWhole = decisionId !== undefined || (found.case !== undefined && found.case.events <= known.length);
  const named: Chosen = isWhole
    ? { kind: "chosen", sequences: [], withheld: NONE, bytes: 0 }
    : await matchingRecords(dependencies, tenant, filter, last);
  if (named.kind !== "chosen") return named;
  const sequences = new Set(named.sequences);
  let { bytes } = named;
  for (let start = 0; start < facts.length; start += FACTS_PER_READ) {
    const part = facts.slice(start, start + FACTS_PER_READ);
    for (const row of (await eventsOfFacts(dependencies.views, tenant, part)).values()) {
      const sequence = rowInteger(row, "sequence");
      if (sequences.has(sequence)) continue;
      sequences.add(sequence);
      bytes += Buffer.byteLength(rowText(row, "event"));
    }
    if (sequences.size > EVIDENCE_RECORDS_MAX) return tooMany;
    if (bytes > EVIDENCE_BYTES_MAX) return tooLarge;
    // SQLite answers synchronously.
    await otherWork();
  }
  const ascending = [...sequences].sort((a, b) => a - b);
  return { kind: "chosen", sequences: ascending, withheld: NONE, bytes, outsideTime };
};

/**
 * Every leaf, including those whose events the views do not show. Repeats are included. Expired events, and records that this version does not
 * understand as events of the tenant, are included by the hash of their leaf.
 */
const allRecords = async (
  dependencies: SelectionDependencies,
  tenant: string,
  { size }: SealedHead,
): Promise<Chosen> => {
  const { views, log } = dependencies;
  if (size > EVIDENCE_RECORDS_MAX) return tooMany;
  const sequences = await leafSequences(views, tenant, size);
  if (sequences === undefined) return { kind: "not_in_tree" };
  const end = await views.position(EVENTS_VIEW);
  const shown = await matchingRecords(dependencies, tenant, {}, Math.min(end, sequences.at(-1) ?? 0));
  if (shown.kind !== "chosen") return shown;
  const known = new Set(shown.sequences);
  const others = sequences.filter((sequence) => !known.has(sequence)).map((sequence) => ({ sequence }));
  const withheld = new Set<number>();
  let { bytes } = shown;
  for await (const page of recordPages(log, others)) {
    for (const sequence of await hiddenAmong(views, tenant, page)) withheld.add(sequence);
    for (const { record, payload } of page) if (!withheld.has(record.sequence)) bytes += payload.length;
    if (bytes > EVIDENCE_BYTES_MAX) return tooLarge;
  }
  return { kind: "chosen", sequences, withheld, bytes };
};

/** Records whose event the views do not show, including repeats of an expired event. */
const hiddenAmong = async (
  views: SealedStateDependencies["views"],
  tenant: string,
  page: readonly ReadRecord<{ readonly sequence: number }>[],
): Promise<readonly number[]> => {
  const named = page.map(({ record: { sequence }, payload }) => ({
    sequence,
    id: eventIdOf(payload, tenant),
  }));
  const ids = new Set(named.flatMap(({ id }) => id ?? []));
  const rows = await views.load(
    EVENTS,
    [...ids].map((event_id) => ({ tenant, event_id })),
  );
  const expired = new Set(rows.filter(isExpired).map((row) => rowText(row, "event_id")));
  return named.filter(({ id }) => id === undefined || expired.has(id)).map(({ sequence }) => sequence);
};
