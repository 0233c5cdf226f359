/**
 * Selects the records of a bundle, once, so that all its files describe the same ones whatever expires while it is written. What it reads from the views
 * is as of one record of the log, under a signed head.
 */
import { setTimeout as delay, setImmediate as otherWork } from "node:timers/promises";
import { timeKey } from "../../event/formats.ts";
import type { Fact } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import {
  CHECKED_ROWS_PER_READ,
  EVIDENCE_BYTES_MAX,
  EVIDENCE_KEPT_BYTES_MAX,
  EVIDENCE_READS_AT_ONCE,
  EVIDENCE_RECORDS_MAX,
  PART_ROWS_MAX,
  PROOF_POLL_MS,
} from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import { eventIdOf } from "../../log/record.ts";
import type { SealedHead } from "../../proof/sealed-head.ts";
import { ASSETS, ASSETS_VIEW } from "../../views/assets/tables.ts";
import { eventsOfFacts, type FoundCase } from "../../views/cases/queries.ts";
import { DECISIONS } from "../../views/cases/registers/decisions.ts";
import { OBJECTIONS } from "../../views/cases/registers/objections.ts";
import { OBLIGATIONS, obligationList } from "../../views/cases/registers/obligations.ts";
import { CASE_NODES, CASES_VIEW } from "../../views/cases/tables.ts";
import { eventsProjection } from "../../views/events/evolve.ts";
import { type StoredEventRow, storedEvent } from "../../views/events/queries.ts";
import { EVENTS, EVENTS_VIEW, isExpired } from "../../views/events/tables.ts";
import { walkEvents } from "../../views/events/walk.ts";
import { listRows } from "../../views/kit/list.ts";
import { waitForPosition } from "../../views/kit/wait-for-position.ts";
import { rowInteger, rowText } from "../../views/store/tables.ts";
import { tenantList } from "../../views/store/tenant-query.ts";
import { type Snapshot, VIEWS, type ViewDefinition, type ViewStore } from "../../views/store/view-store.ts";
import { leafIndexesOf, leafSequences, treeSize } from "../../views/tree/queries.ts";
import { awaitHead, type ProofDependencies } from "../../views/tree/record-proof.ts";
import { TREE_VIEW, TREES } from "../../views/tree/tables.ts";
import { type Refusal, refuse } from "../http/answers.ts";
import { type EvidenceFilter, type Found, findParts, isAboutFound, ofAssets } from "./found.ts";
import { type Obligations, readObligations } from "./obligations.ts";
import type { SelectedRecord } from "./records.ts";
import { readSubjects, type Subjects } from "./subjects.ts";

export interface SelectionDependencies extends Pick<ProofDependencies, "checkpoints"> {
  readonly views: Pick<ViewStore, "load" | "select" | "position" | "snapshot">;
  readonly log: Pick<LogReader, "read" | "lastSequence">;
  readonly rules: Rules;
  readonly now: () => Date;
}

export interface EvidenceQuestion {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  /** For views and seal to reach the current end of the log. */
  readonly waitMs: number;
}

export interface Selection {
  readonly head: SealedHead;
  /** When the views were read, and their position in the log. The bundle's decisions, assets, cases and obligations include no later records. */
  readonly readAt: Date;
  readonly end: number;
  readonly subjects: Subjects;
  readonly obligations: Obligations;
  /** The case, if the bundle is about one. */
  readonly case: FoundCase | undefined;
  /** In the order of the log; at least one. */
  readonly records: readonly SelectedRecord[];
  /** Whether these are all leaves that the head covers. */
  readonly isComplete: boolean;
  /** Of all their events, as the limit counts them. */
  readonly bytes: number;
  /** Known events of the case, decision or person that from and to exclude. */
  readonly outsideTime: number;
}

/** The first reason against a bundle ends the selection. */
class BundleRefusedError extends Error {
  override readonly name = "BundleRefusedError";
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

const refuseBundle = (...refusal: Parameters<typeof refuse>): never => {
  throw new BundleRefusedError(refuse(...refusal));
};

const NOTHING = ["not_found", "No event matches, or those that match have expired."] as const;
const NOT_SEALED = [
  "not_sealed",
  "Not everything in the log is in the views and under a signed tree head yet. Retry, or with a longer `wait`.",
] as const;
/** View and log contradict each other: an alarm, or the view is being rebuilt. */
const NOT_IN_TREE = [
  "view_behind",
  "The view `tree` does not hold all that was signed: it is being rebuilt or was altered.",
] as const;

export const selectRecords = async (
  dependencies: SelectionDependencies,
  question: EvidenceQuestion,
): Promise<Selection | Refusal> => {
  try {
    return await select(dependencies, question);
  } catch (error) {
    if (error instanceof BundleRefusedError) return error.refusal;
    throw error;
  }
};

const select = async (
  dependencies: SelectionDependencies,
  question: EvidenceQuestion,
): Promise<Selection> => {
  const { views } = dependencies;
  const { tenant, filter } = question;
  const { found, size: _, ...state } = await untilSealed(dependencies, question);
  if (found?.refusal !== undefined) refuseBundle(found.refusal);
  const { head, end } = state;
  const isComplete = Object.values(filter).every((value) => value === undefined);
  const chosen = createChoice();
  if (isComplete) await addAll(dependencies, tenant, head, chosen);
  // A case keeps a limited number of events per name; by correlation and person all are found.
  else if (filter.decisionId === undefined) await addMatching(views, question, chosen, end);
  if (found) await addFacts(views, question, found, chosen);
  const sequences = [...chosen.events.keys()].sort((one, other) => one - other);
  if (sequences.length === 0) refuseBundle(...NOTHING);
  const indexes = await leafIndexesOf(views, tenant, sequences);
  const records = sequences.map((sequence, place): SelectedRecord => {
    const leafIndex = indexes[place] ?? head.size;
    if (leafIndex >= head.size) refuseBundle(...NOT_IN_TREE);
    return { sequence, leafIndex, isWithheld: chosen.withheld.has(sequence), ...chosen.events.get(sequence) };
  });
  const outsideTime = found ? found.facts.length - inTime(found.facts, filter).length : 0;
  return { ...state, case: found?.case, records, isComplete, bytes: chosen.bytes(), outsideTime };
};

/** What a bundle is built from. */
export const EVIDENCE_VIEWS = [EVENTS_VIEW, TREE_VIEW, CASES_VIEW, ASSETS_VIEW] as const;

/** The parts that are read at once. */
const STATE: ViewDefinition = {
  name: EVENTS_VIEW,
  version: eventsProjection.version,
  tables: [EVENTS, TREES, CASE_NODES, DECISIONS, OBJECTIONS, OBLIGATIONS, ASSETS],
  textIndexes: eventsProjection.textIndexes ?? [],
};

/** Waits until views and seal have reached the current end of the log. */
const untilSealed = async (dependencies: SelectionDependencies, question: EvidenceQuestion) => {
  const { views, log, checkpoints } = dependencies;
  const deadline = performance.now() + question.waitMs;
  const logEnd = await log.lastSequence();
  for (const projection of EVIDENCE_VIEWS) {
    const timeoutMs = Math.max(0, deadline - performance.now());
    if (!(await waitForPosition({ views, projection, sequence: logEnd, timeoutMs })))
      refuseBundle(...NOT_SEALED);
  }
  let state = await readState(dependencies, question);
  // The views differ in position while one of them is rebuilt.
  while (state === undefined) {
    if (performance.now() >= deadline) return refuseBundle(...NOT_SEALED);
    await delay(PROOF_POLL_MS);
    state = await readState(dependencies, question);
  }
  if (state.size === 0) refuseBundle(...NOTHING);
  const head = await awaitHead({ checkpoints }, question.tenant, state.size, deadline);
  return { ...state, head: head ?? refuseBundle(...NOT_SEALED) };
};

/** Reads everything at once, as of one record. Undefined if the views differ in position. */
const readState = ({ views, rules, now }: SelectionDependencies, { tenant, filter }: EvidenceQuestion) =>
  views.snapshot(STATE, async (snapshot) => {
    const end = await levelOf(snapshot);
    if (end === undefined) return undefined;
    const readAt = now();
    const at = timeKey(readAt.toISOString());
    const found = await findParts(snapshot, { tenant, filter, rules });
    if (isAboutFound(filter) && found === undefined) return refuseBundle(...NOTHING);
    const subjects = await readSubjects(snapshot, { tenant, filter, found, rules, at });
    const question = { ...ofAssets(filter.assetIds), pageRows: PART_ROWS_MAX };
    const rows = found?.obligations ?? listRows(snapshot, tenant, obligationList, question);
    const obligations = await readObligations(rows, rules, at);
    return { readAt, end, size: await treeSize(snapshot, tenant), found, subjects, obligations };
  });

/** The common position of all views; undefined if they differ. */
const levelOf = async (snapshot: Snapshot): Promise<number | undefined> => {
  const rows = await snapshot.load(
    VIEWS,
    EVIDENCE_VIEWS.map((name) => ({ name })),
  );
  const [end, ...others] = new Set(rows.map((row) => rowInteger(row, "position")));
  return rows.length === EVIDENCE_VIEWS.length && others.length === 0 ? end : undefined;
};

/** What is chosen so far. Refuses more than a bundle may hold. */
const createChoice = () => {
  const events = new Map<number, Pick<SelectedRecord, "eventId" | "stored">>();
  let bytes = 0;
  const count = (records: number, length: number): void => {
    bytes += length;
    if (records > EVIDENCE_RECORDS_MAX)
      refuseBundle("evidence_too_large", `It would hold more than ${EVIDENCE_RECORDS_MAX} records. ${PARTS}`);
    if (bytes > EVIDENCE_BYTES_MAX) refuseBundle("evidence_too_large", `${TOO_MANY_BYTES} ${PARTS}`);
  };
  return {
    events,
    withheld: new Set<number>(),
    bytes: () => bytes,
    count,
    add: (event: StoredEventRow): void => {
      const { sequence, eventId, eventText } = event;
      if (events.has(sequence)) return;
      count(events.size + 1, Buffer.byteLength(eventText));
      // A small bundle is read once.
      events.set(sequence, { eventId, ...(bytes <= EVIDENCE_KEPT_BYTES_MAX && { stored: event }) });
    },
  };
};

const TOO_MANY_BYTES = `Its records would be larger than ${EVIDENCE_BYTES_MAX / 1024 / 1024} MiB.`;
const PARTS =
  "Split it by asset_id, correlation_id, decision_id or subject_hash, or into shorter periods with from and to.";

type Choice = ReturnType<typeof createChoice>;
type Views = SelectionDependencies["views"];
type About = Pick<EvidenceQuestion, "tenant" | "filter">;

const addMatching = async (views: Views, { tenant, filter }: About, chosen: Choice, end: number) => {
  const { assetIds, correlationId, subjectHash, from, to } = filter;
  const anyOf = assetIds?.map((assetId) => ({ assetId }));
  const conditions = { anyOf, correlationId, subjectHash, from, to, timeField: "timestamp" } as const;
  const walk = walkEvents({ views, tenant, conditions, after: 0 });
  while (walk.position() < end) {
    for (const event of await walk.next(end)) chosen.add(event);
    // SQLite is synchronous: without this pause nothing else would run until the last page.
    await otherWork();
  }
};

/** Facts whose events are loaded at once. */
const FACTS_PER_READ = 500;

const addFacts = async (views: Views, { tenant, filter }: About, found: Found, chosen: Choice) => {
  const facts = inTime(found.facts, filter).filter(({ asset }) => filter.assetIds?.includes(asset) !== false);
  for (let start = 0; start < facts.length; start += FACTS_PER_READ) {
    const rows = await eventsOfFacts(views, tenant, facts.slice(start, start + FACTS_PER_READ));
    for (const row of rows.values()) chosen.add(storedEvent(row));
    await otherWork();
  }
};

const inTime = (facts: readonly Fact[], { from, to }: EvidenceFilter): readonly Fact[] => {
  const [first, end] = [from, to].map((time) => time && timeKey(time));
  return facts.filter(({ at }) => (first === undefined || at >= first) && (end === undefined || at < end));
};

/**
 * Every leaf, including those whose events the views do not show. Includes repeats. Expired events, and records that this version does not
 * understand as events of the tenant, are included by the hash of their leaf.
 */
const addAll = async (
  { views, log }: SelectionDependencies,
  tenant: string,
  { size }: SealedHead,
  chosen: Choice,
): Promise<void> => {
  const { events, withheld, count } = chosen;
  count(size, 0);
  const sequences = (await leafSequences(views, tenant, size)) ?? refuseBundle(...NOT_IN_TREE);
  const end = Math.min(await views.position(EVENTS_VIEW), sequences.at(-1) ?? 0);
  await addMatching(views, { tenant, filter: {} }, chosen, end);
  for await (const sequence of expiredSequences(views, tenant)) withheld.add(sequence);
  const others = sequences.filter((sequence) => !events.has(sequence) && !withheld.has(sequence));
  for (const sequence of sequences) if (!events.has(sequence)) events.set(sequence, {});
  for (let from = 0; from < others.length; from += EVIDENCE_READS_AT_ONCE) {
    const page = others.slice(from, from + EVIDENCE_READS_AT_ONCE).map(async (sequence) => {
      const payload = (await log.read(sequence))?.payload;
      if (payload === undefined) throw new Error(`the log has no record at sequence ${sequence}`);
      return { sequence, payload, id: eventIdOf(payload, tenant) };
    });
    const read = await Promise.all(page);
    const ids = new Set(read.flatMap(({ id }) => id ?? []));
    const rows = await views.load(
      EVENTS,
      [...ids].map((event_id) => ({ tenant, event_id })),
    );
    // Repeats of an expired event.
    const expired = new Set(rows.filter(isExpired).map((row) => rowText(row, "event_id")));
    for (const { sequence, payload, id } of read)
      if (id === undefined || expired.has(id)) withheld.add(sequence);
      else count(events.size, payload.length);
  }
};

/** Of the first records of expired events. */
async function* expiredSequences(views: Views, tenant: string): AsyncGenerator<number> {
  for (let after: number[] | undefined; ; ) {
    const rows = await views.select(
      tenantList({
        tenant,
        table: EVENTS,
        columns: ["sequence"],
        where: [{ kind: "range", column: "sequence", to: 0 }],
        orderBy: ["sequence"],
        order: "asc",
        after,
        rowsMax: CHECKED_ROWS_PER_READ,
      }),
    );
    for (const row of rows) yield -rowInteger(row, "sequence");
    const last = rows.at(-1);
    if (!last || rows.length < CHECKED_ROWS_PER_READ) return;
    after = [rowInteger(last, "sequence")];
    await otherWork();
  }
}
