/**
 * Tells others what becomes of duties: of those that changed since it looked last, as the view of cases marks them, and of those that fall due with time.
 * Writes down what it begins to tell, publishes it, and records it then, in one transaction with its position: who is killed in between publishes the same again,
 * with the same id, which the stream takes once, or behind it what has become of the duty meanwhile. Several announcers may run: of those that tell the same thing
 * one records it, and the others rest.
 */
import { setTimeout as delay } from "node:timers/promises";
import { timeKey } from "../../event/formats.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { isSameRow } from "../../views/stored-rows.ts";
import type { Row } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import {
  type DutyChange,
  dutyChangeOf,
  dutyChangesQuery,
  ownedDuty,
  ownedKey,
} from "../cases/duty-changes.ts";
import { stateOfRow } from "../cases/registers/obligations.ts";
import { ANNOUNCE_DUTIES, ANNOUNCE_MS, ANNOUNCE_STANDBY_MS } from "../limits.ts";
import { type BeginDependencies, begin, goBack, versionTold, versionToldNow } from "./beginning.ts";
import { boundaryOf, type Duty, findDuties, findTold, identity } from "./known-duties.ts";
import { type Cases, lookAtCases } from "./looked-at-cases.ts";
import { boundariesQuery } from "./queries.ts";
import { ANNOUNCEMENTS, BOUNDARIES } from "./tables.ts";
import { type Announced, record, type TellDependencies, tell } from "./tell.ts";

export interface AnnouncerDependencies extends BeginDependencies, TellDependencies {
  readonly views: BeginDependencies["views"];
  /** All up to here was told, or is to be told by time alone. */
  readonly onPosition: (sequence: Sequence) => void;
  readonly logger: Logger;
}

/** Again and again until the signal is aborted. Never rejects. `logEnd`: where the log ended before this process took anything; undefined where that is not known. */
export const keepAnnouncing = async (
  dependencies: AnnouncerDependencies,
  { logEnd, signal }: { readonly logEnd: Sequence | undefined; readonly signal: AbortSignal },
): Promise<void> => {
  const { logger } = dependencies;
  let pastEnd = logEnd;
  while (!signal.aborted) {
    let restMs = ANNOUNCE_MS;
    try {
      if ((await announce(dependencies, signal, pastEnd)) === "superseded") restMs = ANNOUNCE_STANDBY_MS;
      // Where the views are lost once more, what was told of until then is the past.
      pastEnd = undefined;
    } catch (error) {
      if (!signal.aborted) logger.warn("duties were not announced, trying again", { detail: String(error) });
    }
    await delay(restMs, undefined, { signal }).catch(() => undefined);
  }
};

/** Everything there is to tell now. `pastEnd`: for the first look, where the log ended when it could have been taken. */
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
  // Cases that are made again do not have all their duties yet.
  if (cases.end < position) return goBack(dependencies, cases, position);
  const changed = await tellChanged(dependencies, cases, position, signal);
  if (changed !== "told") return changed;
  // Before all duties are looked at, which would put off what a dead letter has marked as due now.
  const fallen = await tellFallenDue(dependencies, cases, signal);
  return fallen === "told" ? tellByOtherVersion(dependencies, cases, signal) : fallen;
};

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
    const known = await findTold(views, changes);
    const duties = await findDuties(views, changes);
    const isKnown = ({ id }: Duty): boolean => known.has(identity(id));
    // Of one that is as it was told nothing is written, and hardly any is otherwise: its boundary was recorded with it.
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
    const told = await tell(dependencies, cases, { duties, from: position, to });
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
    const told = await tell(dependencies, cases, { duties, from: position, to: position, others: gone });
    if (told !== "told") return told;
  } while (after !== undefined && !signal.aborted);
  return "told";
};
