/**
 * Keeps the views up to date with the log, from their own positions, and continues after every failure; only the signal stops it.
 *
 * The live views move together, in one lane. Views that must be built, because they are new or of another version, catch up beside them in turns, under
 * other names, and take their places when they are complete. The first projection leads: others read its rows, so none is advanced beyond it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type LogReader, LogUnavailableError } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { rowInteger } from "../store/tables.ts";
import { isAway, ViewsBusyError, ViewsClosedError } from "../store/unavailable.ts";
import { VIEWS, type ViewDefinition, type ViewStore } from "../store/view-store.ts";
import { type Alarm, advance, type Lane, type Progress, type Stopped } from "./advance.ts";
import { isEarlierSuccessor, type StoreBeside, storeBeside, successorOf } from "./beside.ts";
import {
  PROJECTION_CATCH_UP_MS,
  PROJECTION_IDLE_MS_MAX,
  PROJECTION_RECORDS_PER_COMMIT_MAX,
  PROJECTION_RECORDS_RETRIED,
  PROJECTION_RETRY_MS_MAX,
  PROJECTION_RETRY_MS_MIN,
  PROJECTION_STANDBY_MS,
} from "./limits.ts";
import type { Projection } from "./projection.ts";
import { expireAlike, replaceBy } from "./rebuild.ts";
import { isSameLog } from "./view-end.ts";
import { lacksLog, openView } from "./view-readiness.ts";

export interface RunnerMetrics {
  /** Called once per commit, and with no records whenever the position was read. */
  progressed(progress: {
    readonly projection: string;
    readonly position: Sequence;
    readonly records: number;
    readonly deadLetters: number;
  }): void;
  alarmed(alarm: { readonly projection: string; readonly alarm: Alarm }): void;
}

export interface RunnerDependencies {
  readonly projections: readonly [Projection, ...Projection[]];
  readonly log: LogReader;
  /**
   * A commit ends here, so that none contains both records that were in the log when the process started and later ones: cases mark their changes
   * with the end of the commit (DUTY_AGENDA), and if all views were lost only later changes are published.
   */
  readonly logEnd?: Sequence | undefined;
  readonly views: ViewStore;
  readonly logger: Logger;
  readonly metrics: RunnerMetrics;
  readonly clock: () => Date;
}

export interface Runner {
  /** Resolves after `signal` is aborted and the running commit is finished. Never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
}

export const createRunner = (dependencies: RunnerDependencies): Runner => ({
  run: async (signal) => {
    const report = createReport(dependencies);
    let following: Following | undefined;
    let retryMs = PROJECTION_RETRY_MS_MIN;
    let recordsMax = ENDLESS;
    let isFirst = true;
    while (!signal.aborted) {
      const [before, beganAt] = [report.changes(), performance.now()];
      let stopped: Stopped;
      try {
        // Once per run: this program must not rebuild a view that a newer version has rebuilt since.
        following ??= { ...dependencies, report, signal, ...(await openAll(dependencies, report)) };
        const tracks = await readTracks(following, isFirst);
        stopped = "kind" in tracks ? tracks : await takeTurns(following, tracks, recordsMax);
      } catch (error) {
        stopped = { kind: "failed", error };
      }
      if (signal.aborted) return;
      const hasMoved = report.changes() > before;
      if (hasMoved) retryMs = PROJECTION_RETRY_MS_MIN;
      const hasWaited = performance.now() - beganAt >= PROJECTION_IDLE_MS_MAX / 2;
      isFirst = stopped.kind !== "reached" || !(hasMoved || hasWaited);
      // A disk without room for the rows of many records may have some for those of a few.
      if (isFirst) recordsMax = stopped.kind === "failed" ? PROJECTION_RECORDS_RETRIED : ENDLESS;
      else recordsMax = 2 * recordsMax < PROJECTION_RECORDS_PER_COMMIT_MAX ? 2 * recordsMax : ENDLESS;
      if (!isFirst) continue;
      // A log that returns nothing at once is asked again after a pause as well.
      report.stopped(stopped);
      await pause(stopped.kind === "superseded" ? PROJECTION_STANDBY_MS : retryMs, signal);
      retryMs = Math.min(retryMs * 2, PROJECTION_RETRY_MS_MAX);
    }
  },
});

const ENDLESS = Number.POSITIVE_INFINITY;

interface Following extends RunnerDependencies {
  readonly report: Report;
  readonly signal: AbortSignal;
  /** The versions of views whose rows are of another version, and are read until those of this version have caught up. */
  readonly older: Map<string, number>;
  /** Names of views in whose successors the same has expired as in them. */
  readonly expired: Set<string>;
}

const openAll = async (
  { projections, views }: RunnerDependencies,
  report: Report,
): Promise<Pick<Following, "older" | "expired">> => {
  const older = new Map<string, number>();
  for (const projection of projections) {
    const opened = await openView(views, projection);
    report.opened(projection.name, opened.code);
    if (opened.code === "older") older.set(projection.name, opened.version);
    for (const name of await views.names()) if (isEarlierSuccessor(name, projection)) await views.drop(name);
  }
  return { older, expired: new Set() };
};

interface Track {
  /** In which the names of its views mean the live ones, or their successors. */
  readonly views: StoreBeside;
  /** Views at one position each, the furthest behind first. */
  readonly lanes: readonly Lane[];
  /** As far as they may go. */
  readonly to: Sequence;
}

interface Tracks {
  readonly live: Track;
  readonly building: Track;
}

const readTracks = async (following: Following, isFirst: boolean): Promise<Tracks | Stopped> => {
  const { projections, views, log, older } = following;
  const [leader] = projections;
  const keys = projections.flatMap((each) => [each, successorOf(each)]).map(({ name }) => ({ name }));
  const rows = new Map((await views.load(VIEWS, keys)).map((row) => [row.name, row]));
  const positionOf = ({ name }: ViewDefinition): Sequence => {
    const row = rows.get(name);
    return row ? rowInteger(row, "position") : 0;
  };
  // After the positions: otherwise a record that comes in between would make a view look as if the log had lost its end.
  const end = await log.lastSequence();
  // A view that another version has rebuilt since counts as live: commits to it are refused, and this process stands by.
  const isLive = (each: Projection): boolean => {
    const row = rows.get(each.name);
    return row === undefined || (row.version !== older.get(each.name) && !lacksLog(positionOf(each), end));
  };
  const built = projections.filter((each) => !isLive(each));
  for (const each of built) await views.open(successorOf(each));
  const pairs = built.map((live) => ({ live, beside: successorOf(live) }));
  const building: Track = {
    views: storeBeside(views, pairs),
    lanes: lanesOf(built, (each) => positionOf(successorOf(each))),
    to: isLive(leader) ? positionOf(leader) : end,
  };
  const lanes = lanesOf(projections.filter(isLive), positionOf);
  const isTogether = lanes.length === 1 && built.length === 0;
  const live: Track = {
    views,
    lanes,
    to: isLive(leader) ? (isTogether ? ENDLESS : end) : positionOf(leader),
  };
  return (await alarmOf(following, [live, building], end, isFirst)) ?? { live, building };
};

const lanesOf = (
  projections: readonly Projection[],
  positionOf: (projection: Projection) => Sequence,
): readonly Lane[] =>
  [...Map.groupBy(projections, positionOf)]
    .sort(([one], [other]) => one - other)
    .flatMap(([position, [first, ...others]]) =>
      first ? [{ position, projections: [first, ...others] }] : [],
    );

/** Whether the log is still the same is seen once: its record at the position has to be read for that. */
const alarmOf = async (
  { log, report }: Following,
  tracks: readonly Track[],
  end: Sequence,
  isFirst: boolean,
): Promise<Stopped | undefined> => {
  for (const { views, lanes } of tracks)
    for (const { projections, position } of lanes) {
      report.positionRead(projections, position);
      const [{ name: projection }] = projections;
      if (end < position)
        return { kind: "alarm", alarm: "ahead_of_log", projection, sequence: end, position };
      const names = projections.map(({ name }) => name);
      if (isFirst && !(await isSameLog({ views, log }, names, position)))
        return { kind: "alarm", alarm: "other_log", projection, sequence: position, position };
    }
  return undefined;
};

const boundOf = ({ logEnd }: RunnerDependencies, position: Sequence, to: Sequence): Sequence =>
  logEnd !== undefined && position < logEnd ? Math.min(to, logEnd) : to;

/**
 * While events come there is always more for the live views, so with others to build each track has a second at most. Views that are together read on
 * for as long as events come; on a quiet log they are looked at every few seconds, because one may have been rebuilt, or all been restored from a copy.
 */
const takeTurns = async (
  following: Following,
  { live, building }: Tracks,
  recordsMax: number,
): Promise<Stopped> => {
  const { report, signal } = following;
  for (const { views, lanes, to } of [live, building]) {
    const [lane, next] = lanes;
    if (lane === undefined) continue;
    const furthest = Math.min(to, next?.position ?? to, lane.position + recordsMax);
    const bounds = {
      to: boundOf(following, lane.position, furthest),
      msMax: to === ENDLESS ? ENDLESS : PROJECTION_CATCH_UP_MS,
      idleMsMax: PROJECTION_IDLE_MS_MAX,
      signal,
    };
    if (bounds.to <= lane.position) continue;
    const stopped = await advance({ ...following, views, onProgress: report.committed }, lane, bounds);
    if (stopped.kind !== "reached" || signal.aborted) return stopped;
  }
  const isComplete = building.lanes.every(({ position }) => position >= building.to);
  if (isComplete) await replaceBuilt(following, building);
  return { kind: "reached" };
};

/** The leader comes first, as its rows are those from which the others were built. */
const replaceBuilt = async (following: Following, { views: built, lanes }: Track): Promise<void> => {
  const { views, older, expired, report } = following;
  for (const projection of lanes.flatMap(({ projections }) => projections)) {
    const { name } = projection;
    if (!expired.has(name)) await expireAlike(views, projection, built);
    expired.add(name);
    const replaced = await replaceBy(following, projection, successorOf(projection), older.get(name));
    // Otherwise it is tried again when it has caught up, or when nobody compares the live view with the log any more.
    if (replaced !== "replaced") return;
    older.delete(name);
    expired.delete(name);
    report.opened(name, replaced);
  }
};

type Report = ReturnType<typeof createReport>;

/** Reports to the logger and the metrics: sequences and reasons, never the content of a record. */
const createReport = ({ logger, metrics }: RunnerDependencies) => {
  let changes = 0;
  let saidStandingBy = false;
  const positionRead = (projections: Lane["projections"], position: Sequence): void => {
    for (const { name } of projections)
      metrics.progressed({ projection: name, position, records: 0, deadLetters: 0 });
  };
  const opened = (projection: string, code: string): void => {
    if (code === "replaced") changes++;
    logger[code === "kept" ? "debug" : "info"]("view opened", { projection, code });
  };
  const committed = ({ lane, position, records, deadLetters }: Progress): void => {
    changes++;
    for (const { projection, sequence, code, detail } of deadLetters)
      logger.warn("record became a dead letter", { projection, sequence, code, detail });
    for (const { name: projection } of lane.projections) {
      const own = deadLetters.filter((letter) => letter.projection === projection);
      metrics.progressed({ projection, position, records, deadLetters: own.length });
    }
  };
  const stopped = (stop: Stopped): void => {
    if (stop.kind === "superseded" && !saidStandingBy) {
      logger.info("another writer moves this view; standing by", { projection: stop.projection });
      saidStandingBy = true;
    } else if (stop.kind === "alarm") {
      const { alarm: code, projection, sequence, position } = stop;
      metrics.alarmed({ projection, alarm: code });
      logger.error(ALARM_TEXT[code], { projection, code, sequence, detail: `position ${position}` });
    } else if (stop.kind === "failed") {
      // A database that is away comes back, and readiness reports it meanwhile; a full disk, or a database that accepts no writes or not this
      // login, needs an operator.
      const level = isElsewhere(stop.error) ? "warn" : "error";
      logger[level]("projecting stopped; trying again", { detail: String(stop.error) });
    }
  };
  /** `changes`: commits and replacements so far. */
  return { changes: (): number => changes, opened, positionRead, committed, stopped };
};

const isElsewhere = (error: unknown): boolean =>
  error instanceof LogUnavailableError ||
  (isAway(error) && !(error instanceof ViewsBusyError || error instanceof ViewsClosedError));

const ALARM_TEXT: Readonly<Record<Alarm, string>> = {
  hole: "the log did not return the next sequence; rereading",
  ahead_of_log: "the view has read more than the log holds: the log was replaced or restored",
  other_log: "the view has read another record there; the log was replaced or restored: rebuild the views",
};

/** Ends early, without an error, when the signal is aborted. */
const pause = async (durationMs: number, signal: AbortSignal): Promise<void> => {
  await delay(durationMs, undefined, { signal }).catch(() => undefined);
};
