/**
 * Announces the transitions of duties: of those that changed since the last look, as the view of cases marks them, and of those that fall due as time
 * passes. It writes down what it begins to announce, publishes it, and then records it in one transaction with its position. If it is killed in
 * between, the next one publishes the same message with the same id, which the stream stores once, followed by what has become of the duty meanwhile.
 * Several announcers may run: if they announce the same thing, one records it, and the others pause.
 */
import { setTimeout as delay } from "node:timers/promises";
import { timeKey } from "../../event/formats.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { createRepeatFilter } from "../../telemetry/repeat-filter.ts";
import {
  type DutyChange,
  dutyChangeOf,
  dutyChangesQuery,
  ownedDuty,
  ownedKey,
} from "../cases/duty-changes.ts";
import { stateOfRow } from "../cases/registers/obligations.ts";
import { ANNOUNCE_DUTIES, ANNOUNCE_MS, ANNOUNCE_STANDBY_MS } from "../kit/limits.ts";
import { isSameRow } from "../store/stored-rows.ts";
import type { Row } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { type BeginDependencies, begin, goBack, versionTold, versionToldNow } from "./beginning.ts";
import { boundaryOf, type Duty, findDuties, findTold, identity } from "./known-duties.ts";
import { type Cases, lookAtCases } from "./looked-at-cases.ts";
import { boundariesQuery } from "./queries.ts";
import { ANNOUNCEMENTS, BOUNDARIES } from "./tables.ts";
import { type Announced, record, type TellDependencies, tell } from "./tell.ts";

export interface AnnouncerDependencies extends BeginDependencies, TellDependencies {
  readonly views: BeginDependencies["views"];
  /** Everything up to this sequence was announced, or will be announced by time alone. */
  readonly onPosition: (sequence: Sequence) => void;
  readonly logger: Logger;
}

/**
 * Runs until the signal is aborted. Never rejects. `logEnd`: the end of the log before this process took anything; undefined if that is not known.
 */
export const keepAnnouncing = async (
  dependencies: AnnouncerDependencies,
  { logEnd, signal }: { readonly logEnd: Sequence | undefined; readonly signal: AbortSignal },
): Promise<void> => {
  const { logger } = dependencies;
  const isNews = createRepeatFilter(() => performance.now());
  let pastEnd = logEnd;
  while (!signal.aborted) {
    let restMs = ANNOUNCE_MS;
    try {
      if ((await announce(dependencies, signal, pastEnd)) === "superseded") restMs = ANNOUNCE_STANDBY_MS;
      // If the views are lost once more, everything announced until then is the past.
      pastEnd = undefined;
    } catch (error) {
      const detail = String(error);
      if (!signal.aborted && isNews(detail))
        logger.warn("changes of obligations were not announced, trying again", { detail });
    }
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
};

/** Announces everything that is due now. `pastEnd`: for the first look, the end of the log when the process started. */
export const announce = async (
  dependencies: AnnouncerDependencies,
  signal: AbortSignal,
  pastEnd?: Sequence,
): Promise<Announced> => {
  const { views } = dependencies;
  const cases = await lookAtCases(views);
  await begin(dependencies, cases, pastEnd);
  const position = await views.position(ANNOUNCEMENTS.name);
  dependencies.onPosition(position);
  // A view of cases that is being rebuilt does not have all duties yet.
  if (cases.end < position) return goBack(dependencies, cases, position);
  const changed = await tellChanged(dependencies, cases, position, signal);
  if (changed !== "told") return changed;
  // Before the look at all duties, which would postpone duties that a dead letter has marked as due now.
  const fallen = await tellFallenDue(dependencies, cases, signal);
  return fallen === "told" ? tellByOtherVersion(dependencies, cases, signal) : fallen;
};

/**
 * Another version of the program, or changed deadlines of the operator, may find other states and due times of announced duties, which nothing in the
 * log marks as changed. Duties that were never announced, because only this version finds them or because they are older than the first announcer,
 * fall due in time all the same. The same is done after a rebuild of cases (`toldAnew`).
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
    const known = await findTold(views, changes);
    const duties = await findDuties(views, changes);
    const isKnown = ({ id }: Duty): boolean => known.has(identity(id));
    // Nothing is written for a duty that is as it was announced, because its boundary was recorded with it; hardly any duty differs.
    const isOtherwise = ({ id, row }: Duty): boolean => {
      const told = known.get(identity(id));
      return told?.isBegun || told?.state !== stateOfRow(row, nowKey) || told.dueAt !== row.due_at;
    };
    const falling = duties.filter((duty) => !isKnown(duty)).flatMap((duty) => boundaryOf(duty, nowKey));
    const differing = duties.filter((duty) => isKnown(duty) && isOtherwise(duty));
    const page = { duties: differing, from: position, to: position, others: falling };
    const told = await tell(dependencies, cases, page);
    if (told !== "told") return told;
  } while (after !== undefined && !signal.aborted);
  if (signal.aborted) return "told";
  return record(views, cases, { from: position, to: position, writes: [now] });
};

/** Page by page. Many duties may change with one record, so a page may end within one sequence. */
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
    const told = await tell(dependencies, cases, { duties, from: position, to });
    if (told !== "told") return told;
    position = to;
    dependencies.onPosition(position);
  }
  return "told";
};

/** Duties whose state changes with time, by their boundaries. If a duty is gone, because of a late event or retention, its boundary is removed. */
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
    const told = await tell(dependencies, cases, { duties, from: position, to: position, others: gone });
    if (told !== "told") return told;
  } while (after !== undefined && !signal.aborted);
  return "told";
};
