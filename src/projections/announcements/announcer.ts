/**
 * Tells others what becomes of duties: of those that changed since it looked last, as the view of cases marks them, and of those that fall due with time.
 * Writes down what it begins to tell, publishes it, and records it then, in one transaction with its position: who is killed in between publishes the same again,
 * with the same id, which the stream takes once, or behind it what has become of the duty meanwhile. Several announcers may run: of those that tell the same thing
 * one records it, and the others rest.
 */
import { setTimeout as delay } from "node:timers/promises";
import { timeKey } from "../../event/formats.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Rules } from "../../obligations/clocks.ts";
import { OBLIGATION_STATES } from "../../obligations/state.ts";
import { nextBoundary, type Told, type Transition } from "../../obligations/transitions.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { isSameRow } from "../../views/stored-rows.ts";
import { type Row, rowInteger, rowText, type Table } from "../../views/tables.ts";
import type { ViewStore, Write } from "../../views/view-store.ts";
import {
  type DutyChange,
  type DutyId,
  dutyChangeOf,
  dutyChangesQuery,
  ownedDuty,
  ownedKey,
} from "../cases/duty-changes.ts";
import { OBLIGATIONS, stateOfRow } from "../cases/registers/obligations.ts";
import { ANNOUNCE_DUTIES, ANNOUNCE_MS, ANNOUNCE_STANDBY_MS } from "../limits.ts";
import { FIRST_LOOK_GONE, firstLook, NOBODY_HAS_BEGUN } from "./first-look.ts";
import { type Cases, lookAtCases, revisionOfCases } from "./looked-at-cases.ts";
import { boundariesQuery } from "./queries.ts";
import {
  ANNOUNCEMENT_NOTES,
  ANNOUNCEMENTS,
  ANNOUNCEMENTS_BEGUN,
  BEGUN,
  BOUNDARIES,
  TELLINGS,
  TOLD,
  TOLD_BEHIND_KEY,
  TOLD_BY_NO_VERSION,
  TOLD_VERSION,
  TOLD_VERSION_KEY,
} from "./tables.ts";
import { type Announcement, announcementsOf, type Telling, tellingOf } from "./telling.ts";

export interface AnnouncerDependencies {
  readonly views: ViewStore;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly rules: Rules;
  /**
   * `stored` when all of them are, in this order, behind `after`; `overtaken` where another announcer has published something behind it. Rejects where one of them may
   * not be stored.
   */
  readonly publish: (
    announcements: readonly Announcement[],
    after: Sequence,
  ) => Promise<"stored" | "overtaken">;
  /** In the stream, of the newest that any announcer ever published; 0 where none did. */
  readonly lastPublished: () => Promise<Sequence>;
  readonly onAnnounced: (transition: Transition) => void;
  /** All up to here was told, or is to be told by time alone. */
  readonly onPosition: (sequence: Sequence) => void;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Again and again until the signal is aborted. Never rejects. */
export const keepAnnouncing = async (
  dependencies: AnnouncerDependencies,
  signal: AbortSignal,
): Promise<void> => {
  const { logger } = dependencies;
  while (!signal.aborted) {
    let restMs = ANNOUNCE_MS;
    try {
      if ((await announce(dependencies, signal)) === "superseded") restMs = ANNOUNCE_STANDBY_MS;
    } catch (error) {
      if (!signal.aborted) logger.warn("duties were not announced, trying again", { detail: String(error) });
    }
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
};

export type Announced =
  | "told"
  /** Another announcer has recorded it, or has published meanwhile. */
  | "superseded"
  /** Cases were made again meanwhile, or took a dead letter: what was read of them is not to be relied on, and is looked at anew. */
  | "outdated";

/** Everything there is to tell now. */
export const announce = async (
  dependencies: AnnouncerDependencies,
  signal: AbortSignal,
): Promise<Announced> => {
  const { views } = dependencies;
  const cases = await lookAtCases(views);
  await begin(dependencies, cases);
  const position = await views.position(ANNOUNCEMENTS.name);
  dependencies.onPosition(position);
  // Cases that are made again do not have all their duties yet.
  if (cases.end < position) return goBack(dependencies, cases, position);
  const changed = await tellChanged(dependencies, cases, position, signal);
  if (changed !== "told") return changed;
  // Before all duties are looked at, which would put off what a dead letter has marked as due now.
  const fallen = await tellFallenDue(dependencies, cases, signal);
  return fallen === "told" ? tellByOtherVersion(dependencies, cases, signal) : fallen;
};

/**
 * What happened before there was an announcer is told of when it changes. Where there was one and all views were lost, that is what the log holds: cases stand far
 * behind it, and what they will hold was told of before. It is looked at once when they hold it: what is open still falls due in time.
 */
const begin = async ({ views, log, lastPublished }: AnnouncerDependencies, cases: Cases): Promise<void> => {
  for (const view of [ANNOUNCEMENT_NOTES, ANNOUNCEMENTS_BEGUN, ANNOUNCEMENTS]) await views.open(view);
  // The version says that somebody has begun; the views alone may have been made by one who was killed then.
  if ((await views.position(ANNOUNCEMENTS.name)) > 0 || (await versionTold(views)) !== undefined) return;
  const first = await firstLook({ views, log }, cases);
  const published = await lastPublished();
  const begun = published === 0 ? [versionToldNow(cases).row] : behindOthers(published);
  await views.commit({
    views: [ANNOUNCEMENTS],
    from: 0,
    to: published > 0 ? first.logEnd : first.casesEnd,
    writes: [
      ...begun.map((row): Write => ({ kind: "upsert", table: TOLD_VERSION, row })),
      ...FIRST_LOOK_GONE,
    ],
    deadLetters: [],
    expected: [NOBODY_HAS_BEGUN],
  });
};

const behindOthers = (published: Sequence): readonly Row[] => [
  TOLD_BY_NO_VERSION,
  { ...TOLD_BEHIND_KEY, rules: String(published) },
];

/**
 * Where the log has lost its end, as after an older copy was brought back, cases would be waited for until it is as long again, and what they hold by then would
 * not be told of. What the log holds is looked at as where all views were lost.
 */
const goBack = async (
  { views, log }: AnnouncerDependencies,
  cases: Cases,
  position: Sequence,
): Promise<Announced> => {
  // Asked after the position: what was told of was in the log by then.
  const end = await log.lastSequence();
  if (position <= end) return "told";
  const write: Write = { kind: "upsert", table: TOLD_VERSION, row: TOLD_BY_NO_VERSION };
  return record(views, cases, { from: position, to: end, writes: [write] });
};

const versionTold = async (views: Pick<ViewStore, "load">): Promise<Row | undefined> =>
  (await views.load(TOLD_VERSION, [TOLD_VERSION_KEY]))[0];

const toldBehind = async (views: Pick<ViewStore, "load">): Promise<string | undefined> => {
  const [row] = await views.load(TOLD_VERSION, [TOLD_BEHIND_KEY]);
  return row && rowText(row, "rules");
};

const versionToldNow = ({ version }: Cases): Write & { readonly kind: "upsert" } => ({
  kind: "upsert",
  table: TOLD_VERSION,
  row: { ...TOLD_VERSION_KEY, rules: String(version) },
});

/**
 * Another version of the program, and an operator's own limits, may find other states and due times of duties that were told of; nothing in the log marks them as
 * changed. Those that were not told of, as only this version finds them or they are older than the first announcer, fall due in time all the same. So it is
 * where cases were rebuilt (`toldAnew`).
 */
const tellByOtherVersion = async (
  dependencies: AnnouncerDependencies,
  cases: Cases,
  signal: AbortSignal,
): Promise<Announced> => {
  const { views } = dependencies;
  const { end: position } = cases;
  const now = versionToldNow(cases);
  if (isSameRow(await versionTold(views), now.row)) return "told";
  const nowKey = timeKey(dependencies.now().toISOString());
  let after: DutyChange | undefined;
  do {
    const query = dutyChangesQuery({ from: 0, to: position, after, rowsMax: ANNOUNCE_DUTIES });
    const changes = (await views.select(query)).map(dutyChangeOf);
    after = changes.length < ANNOUNCE_DUTIES ? undefined : changes.at(-1);
    const known = new Set((await loadRows(views, TOLD, changes)).map((row) => identity(idOf(row))));
    const duties = await findDuties(views, changes);
    const isKnown = ({ id }: Duty): boolean => known.has(identity(id));
    const falling = duties.filter((duty) => !isKnown(duty)).flatMap((duty) => boundaryOf(duty, nowKey));
    const at = { from: position, to: position };
    const told = await tell(dependencies, cases, duties.filter(isKnown), at, falling);
    if (told !== "told") return told;
  } while (after !== undefined && !signal.aborted);
  if (signal.aborted) return "told";
  return record(views, cases, { from: position, to: position, writes: [now] });
};

/** Page by page. Many duties change with one record, so a page may end between two of one sequence. */
const tellChanged = async (
  dependencies: AnnouncerDependencies,
  cases: Cases,
  from: Sequence,
  signal: AbortSignal,
): Promise<Announced> => {
  const { views } = dependencies;
  const { end } = cases;
  let position = from;
  let after: DutyChange | undefined;
  while (position < end && !signal.aborted) {
    const query = dutyChangesQuery({ from: position, to: end, after, rowsMax: ANNOUNCE_DUTIES });
    const changes = (await views.select(query)).map(dutyChangeOf);
    after = changes.length < ANNOUNCE_DUTIES ? undefined : changes.at(-1);
    const to = after === undefined ? end : Math.max(position, after.sequence - 1);
    const duties = await findDuties(views, changes);
    const told = await tell(dependencies, cases, duties, { from: position, to });
    if (told !== "told") return told;
    position = to;
    dependencies.onPosition(position);
  }
  return "told";
};

/** Duties whose state changes by time, by their own boundaries. Where the duty is gone, by a late event or by retention, its boundary goes too. */
const tellFallenDue = async (
  dependencies: AnnouncerDependencies,
  cases: Cases,
  signal: AbortSignal,
): Promise<Announced> => {
  const { views, now } = dependencies;
  const { end: position } = cases;
  const before = timeKey(now().toISOString());
  let after: Row | undefined;
  do {
    const passed: readonly Row[] = await views.select(
      boundariesQuery({ before, after, rowsMax: ANNOUNCE_DUTIES }),
    );
    after = passed.length < ANNOUNCE_DUTIES ? undefined : passed.at(-1);
    const named = passed.map(ownedDuty);
    const duties = await findDuties(views, named);
    const there = new Set(duties.map(({ id }) => identity(id)));
    const gone = named
      .filter((id) => !there.has(identity(id)))
      .map((id): Write => ({ kind: "delete", table: BOUNDARIES, key: ownedKey(id) }));
    const told = await tell(dependencies, cases, duties, { from: position, to: position }, gone);
    if (told !== "told") return told;
  } while (after !== undefined && !signal.aborted);
  return "told";
};

interface Duty {
  readonly id: DutyId;
  /** Of OBLIGATIONS. */
  readonly row: Row;
}

const identity = ({ tenant, obligationId }: DutyId): string => JSON.stringify([tenant, obligationId]);
const keyOf = ({ tenant, obligationId }: DutyId) => ({ tenant, obligation_id: obligationId });
const idOf = (row: Row): DutyId => ({
  tenant: rowText(row, "tenant"),
  obligationId: rowText(row, "obligation_id"),
});
/** Most looks find nothing, and need not ask. */
const loadRows = async (
  views: Pick<ViewStore, "load">,
  table: Table,
  ids: readonly DutyId[],
): Promise<readonly Row[]> => (ids.length === 0 ? [] : views.load(table, ids.map(keyOf)));

/** Those that are there still. */
const findDuties = async (views: Pick<ViewStore, "load">, ids: readonly DutyId[]): Promise<readonly Duty[]> =>
  (await loadRows(views, OBLIGATIONS, ids)).map((row) => ({ id: idOf(row), row }));

const tell = async (
  { views, rules, publish, lastPublished, onAnnounced, now }: AnnouncerDependencies,
  cases: Cases,
  duties: readonly Duty[],
  { from, to }: { readonly from: Sequence; readonly to: Sequence },
  others: readonly Write[] = [],
): Promise<Announced> => {
  const at = now().toISOString();
  const atKey = timeKey(at);
  // Before what is known is read: who is paused from here on, while another tells more, is refused.
  const after = duties.length > 0 ? await lastPublished() : 0;
  const behind = duties.length > 0 ? await toldBehind(views) : undefined;
  const knownOf = await loadKnown(
    views,
    duties.map(({ id }) => id),
  );
  if (!knownOf) return "superseded";
  const announcements: Announcement[] = [];
  const begins: Write[] = [];
  const writes = [...others];
  for (const { id, row } of duties) {
    const told: Told = { state: stateOfRow(row, atKey), dueAt: rowText(row, "due_at") };
    const known = knownOf(id);
    const telling = tellingOf(told, known);
    announcements.push(...announcementsOf({ row, told, telling, behind, rules, at }));
    if (telling.isNew) begins.push(beginningOf(id, told, telling));
    if (telling.isNew || known.begun) writes.push({ kind: "delete", table: BEGUN, key: keyOf(id) });
    writes.push(...recordOf(id, told, telling.number + 1));
  }
  if (announcements.length > 0) {
    // What is published cannot be taken back.
    if (!isSameRow(await revisionOfCases(views), cases.revision.row)) return "outdated";
    const begun = begins.length > 0 ? await record(views, cases, { from, to: from, writes: begins }) : "told";
    if (begun !== "told") return begun;
    if ((await publish(announcements, after)) === "overtaken") return "superseded";
  }
  for (const { transition } of announcements) onAnnounced(transition);
  if (from === to && writes.length === 0) return "told";
  return record(views, cases, { from, to, writes });
};

/** What is known of duties that were told of; undefined where another announcer has recorded what was begun of them while it was read. */
const loadKnown = async (views: Pick<ViewStore, "load">, ids: readonly DutyId[]) => {
  const rowsOf = async (table: Table) =>
    new Map((await loadRows(views, table, ids)).map((row) => [identity(idOf(row)), row]));
  const begun = await rowsOf(BEGUN);
  // Before what was told: another announcer may record in between, and then there is nothing more to tell; the other way round it would go out under another id.
  const counted = await rowsOf(TELLINGS);
  const told = await rowsOf(TOLD);
  // What is begun no more would be told once more, behind what is recorded of it now.
  const begunStill = begun.size === 0 ? begun : await rowsOf(BEGUN);
  for (const [name, row] of begun) if (!isSameRow(row, begunStill.get(name))) return undefined;
  return (id: DutyId) => {
    const name = identity(id);
    const [begunRow, countedRow, toldRow] = [begun.get(name), counted.get(name), told.get(name)];
    return {
      before: toldRow && toldIn(toldRow),
      begun: begunRow && { ...toldIn(begunRow), number: rowInteger(begunRow, "number") },
      tellings: countedRow ? rowInteger(countedRow, "tellings") : 0,
    };
  };
};

const beginningOf = (id: DutyId, { state, dueAt }: Told, { number }: Telling): Write => ({
  kind: "upsert",
  table: BEGUN,
  row: { ...keyOf(id), state, due_at: dueAt, number },
});

const record = async (
  views: Pick<ViewStore, "commit">,
  { revision }: Cases,
  changes: { readonly from: Sequence; readonly to: Sequence; readonly writes: readonly Write[] },
): Promise<Announced> => {
  const commit = { views: [ANNOUNCEMENTS], ...changes, deadLetters: [], expected: [revision] };
  const { kind } = await views.commit(commit);
  if (kind === "committed") return "told";
  return kind === "outdated" ? kind : "superseded";
};

const toldIn = (row: Row): Told => {
  const state = OBLIGATION_STATES.find((each) => each === row.state);
  return { state: state ?? "open", dueAt: rowText(row, "due_at") };
};

/** Nothing where it is late or met already. */
const boundaryOf = ({ id, row }: Duty, now: string): readonly Write[] => {
  const at = nextBoundary({ state: stateOfRow(row, now), dueAt: rowText(row, "due_at") });
  return at === undefined ? [] : [{ kind: "upsert", table: BOUNDARIES, row: { ...ownedKey(id), at } }];
};

const recordOf = (id: DutyId, told: Told, tellings: number): readonly Write[] => {
  const at = nextBoundary(told);
  const key = ownedKey(id);
  return [
    { kind: "upsert", table: TOLD, row: { ...keyOf(id), state: told.state, due_at: told.dueAt } },
    { kind: "upsert", table: TELLINGS, row: { ...keyOf(id), tellings } },
    at === undefined
      ? { kind: "delete", table: BOUNDARIES, key }
      : { kind: "upsert", table: BOUNDARIES, row: { ...key, at } },
  ];
};
