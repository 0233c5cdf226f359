/**
 * Keeps the views up to date with the log: reads from their own position (never from what a broker remembers about a consumer, which could contradict
 * the rows), evolves, and commits rows and position together. It continues after every failure; only the signal stops it. It never skips a record: a
 * record that cannot be taken becomes a dead letter, and a missing sequence is an alarm.
 *
 * Views at one position advance together, in a lane: a record is read and decoded once for all of them. A view that is behind, because it is new,
 * catches up in turns and then joins. The first projection leads: others may read its rows, so none is advanced beyond it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type LogReader, LogUnavailableError } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { isAway, ViewsBusyError, ViewsClosedError } from "../store/unavailable.ts";
import type { DeadLetter, ViewStore } from "../store/view-store.ts";
import { createLaneReading, type Lane, type Progress, type Stopped } from "./lane.ts";
import {
  PROJECTION_CATCH_UP_MS,
  PROJECTION_RECORDS_PER_COMMIT_MAX,
  PROJECTION_RECORDS_RETRIED,
  PROJECTION_RETRY_MS_MAX,
  PROJECTION_RETRY_MS_MIN,
  PROJECTION_STANDBY_MS,
} from "./limits.ts";
import { positionsOf } from "./positions.ts";
import type { Projection } from "./projection.ts";
import { isSameLog } from "./view-end.ts";

/** Why reading stopped before the signal was aborted. */
export type RunnerAlarm = Extract<Stopped, { kind: "alarm" }>["alarm"];

export interface RunnerMetrics {
  /** Called once per commit, and with no records whenever the position was read. */
  progressed(progress: {
    readonly projection: string;
    readonly position: Sequence;
    readonly records: number;
    readonly deadLetters: number;
  }): void;
  alarmed(alarm: { readonly projection: string; readonly alarm: RunnerAlarm }): void;
}

export interface RunnerDependencies {
  /** The first one leads. It is never behind another for longer than reading the records between them takes. */
  readonly projections: readonly [Projection, ...Projection[]];
  readonly log: LogReader;
  /**
   * A commit ends here, so that none contains both records that were in the log when the process started and later ones: cases mark their changes
   * with the end of the commit (cases/duty-changes.ts), and if all views were lost only later changes are announced.
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

export const createRunner = (dependencies: RunnerDependencies): Runner => {
  const { projections, views } = dependencies;
  const report = createReport(dependencies);

  const run = async (signal: AbortSignal): Promise<void> => {
    let isOpen = false;
    let retryMs = PROJECTION_RETRY_MS_MIN;
    let recordsMax = Number.POSITIVE_INFINITY;
    while (!signal.aborted) {
      const commitsBefore = report.commits();
      let stopped: Stopped;
      try {
        // Once per run: this program must not remake a view that a newer version has made since.
        if (!isOpen)
          for (const projection of projections) report.opened(projection.name, await views.open(projection));
        isOpen = true;
        stopped = await follow({ ...dependencies, report, signal }, recordsMax);
      } catch (error) {
        stopped = { kind: "failed", error };
      }
      if (signal.aborted) return;
      // A disk without room for the rows of many records may have some for those of a few.
      recordsMax = stopped.kind === "failed" ? PROJECTION_RECORDS_RETRIED : Number.POSITIVE_INFINITY;
      report.stopped(stopped);
      if (report.commits() > commitsBefore) retryMs = PROJECTION_RETRY_MS_MIN;
      await pause(stopped.kind === "superseded" ? PROJECTION_STANDBY_MS : retryMs, signal);
      retryMs = Math.min(retryMs * 2, PROJECTION_RETRY_MS_MAX);
    }
  };

  return { run };
};

/** The settings of one run. */
interface Following extends RunnerDependencies {
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** Runs from the stored positions until something stops it. Starts with `recordsFirst` records, and doubles their number after each success. */
const follow = async (following: Following, recordsFirst: number): Promise<Stopped> => {
  const { projections, log, logEnd, views, report, signal } = following;
  const read = createLaneReading({ ...following, onProgress: report.committed });
  let isLeadersTurn = false;
  for (let recordsMax = recordsFirst; ; recordsMax = moreThan(recordsMax)) {
    isLeadersTurn = !isLeadersTurn;
    const commitsBefore = report.commits();
    const lanes = await readLanes(projections, views);
    const end = await log.lastSequence();
    for (const { projections: moving, position } of lanes) {
      const [first] = moving;
      report.positionRead(moving, position);
      if (end < position)
        return { kind: "alarm", alarm: "ahead_of_log", projection: first.name, sequence: end, position };
      const names = moving.map(({ name }) => name);
      if (!(await isSameLog(following, names, position)))
        return { kind: "alarm", alarm: "other_log", projection: first.name, sequence: position, position };
    }
    const [leading, ...others] = lanes;
    const stopped =
      others.length === 0
        ? await readOn(following, leading, recordsMax)
        : await catchUp({ leading, others, end, logEnd, recordsMax, isLeadersTurn, signal, read });
    // A log that returns nothing is asked again after a pause.
    if (stopped.kind !== "reached" || signal.aborted || report.commits() === commitsBefore) return stopped;
  }
};

/**
 * Runs until something stops it. It also stops if a view is no longer at the position of the others, because a rebuilt one replaced it, or if none is
 * at the position to which it was advanced, because the database was restored from a copy. While events come, a commit would notice that; on a quiet
 * log nothing else does.
 */
const readOn = async (following: Following, lane: Lane, recordsMax: number): Promise<Stopped> => {
  const { views, report, signal } = following;
  const apart = new AbortController();
  let movedTo = lane.position;
  const read = createLaneReading({
    ...following,
    onProgress: (progress) => {
      movedTo = progress.position;
      report.committed(progress);
    },
  });
  const names = lane.projections.map(({ name }) => name);
  const look = async (): Promise<void> => {
    const movedBefore = movedTo;
    const positions = [...(await positionsOf(views, names)).values()];
    const [lowest, highest] = [Math.min(...positions), Math.max(...positions)];
    if (lowest < highest || highest < movedBefore) apart.abort();
  };
  const timer = setInterval(() => void look().catch(() => undefined), PROJECTION_STANDBY_MS);
  try {
    const to = boundOf(lane.position, lane.position + recordsMax, following.logEnd);
    const bounds = { to, msMax: Number.POSITIVE_INFINITY };
    return await read(lane, { ...bounds, signal: AbortSignal.any([signal, apart.signal]) });
  } finally {
    clearInterval(timer);
  }
};

/**
 * The leading lane goes first if another waits for it. Otherwise the leading lane, up to the end of the log, and the lane that is furthest behind
 * take turns: while events come there is always more for the leading one.
 */
const catchUp = async (turn: {
  leading: Lane;
  others: readonly Lane[];
  end: Sequence;
  logEnd: Sequence | undefined;
  recordsMax: number;
  isLeadersTurn: boolean;
  signal: AbortSignal;
  read: ReturnType<typeof createLaneReading>;
}): Promise<Stopped> => {
  const { leading, others, end, logEnd, recordsMax, isLeadersTurn, signal, read } = turn;
  const ahead = others.map(({ position }) => position).filter((position) => position > leading.position);
  if (ahead.length > 0 || (isLeadersTurn && leading.position < end)) {
    const to = boundOf(leading.position, Math.min(end, ...ahead, leading.position + recordsMax), logEnd);
    return read(leading, { to, msMax: PROJECTION_CATCH_UP_MS, signal });
  }
  const inOrder = [leading, ...others].sort((one, other) => one.position - other.position);
  const [last = leading, next = leading] = inOrder;
  const to = boundOf(last.position, Math.min(next.position, last.position + recordsMax), logEnd);
  return read(last, { to, msMax: PROJECTION_CATCH_UP_MS, signal });
};

const boundOf = (position: Sequence, to: Sequence, logEnd: Sequence | undefined): Sequence =>
  logEnd !== undefined && position < logEnd ? Math.min(to, logEnd) : to;

const moreThan = (recordsMax: number): number =>
  2 * recordsMax < PROJECTION_RECORDS_PER_COMMIT_MAX ? 2 * recordsMax : Number.POSITIVE_INFINITY;

/** Lanes by position, the leader's first. */
const readLanes = async (
  [leader, ...followers]: RunnerDependencies["projections"],
  views: ViewStore,
): Promise<readonly [Lane, ...Lane[]]> => {
  const positions = await positionsOf(
    views,
    [leader, ...followers].map(({ name }) => name),
  );
  const positionOf = ({ name }: Projection): Sequence => positions.get(name) ?? 0;
  const lanes: [Lane, ...Lane[]] = [{ projections: [leader], position: positionOf(leader) }];
  for (const projection of followers) {
    const position = positionOf(projection);
    const index = lanes.findIndex((lane) => lane.position === position);
    const lane = lanes[index];
    if (lane) lanes[index] = { position, projections: [...lane.projections, projection] };
    else lanes.push({ position, projections: [projection] });
  }
  return lanes;
};

type Report = ReturnType<typeof createReport>;

/** Reports to the logger and the metrics: sequences and reasons, never the content of a record. */
const createReport = ({ logger, metrics }: RunnerDependencies) => {
  let commits = 0;
  let saidStandingBy = false;
  return {
    commits: (): number => commits,
    opened: (projection: string, code: string) =>
      logger[code === "kept" ? "debug" : "info"]("view opened", { projection, code }),
    positionRead: (projections: Lane["projections"], position: Sequence) => {
      for (const { name } of projections)
        metrics.progressed({ projection: name, position, records: 0, deadLetters: 0 });
    },
    committed: ({ lane, position, records, deadLetters }: Progress) => {
      commits++;
      for (const letter of deadLetters) warnOf(logger, letter);
      for (const { name: projection } of lane.projections) {
        const own = deadLetters.filter((letter) => letter.projection === projection);
        metrics.progressed({ projection, position, records, deadLetters: own.length });
      }
    },
    stopped: (stopped: Stopped) => {
      if (stopped.kind === "superseded" && !saidStandingBy) {
        const { projection } = stopped;
        logger.info("another writer moves this view, standing by", { projection });
        saidStandingBy = true;
      }
      if (stopped.kind === "alarm") {
        const { alarm: code, projection, sequence, position } = stopped;
        metrics.alarmed({ projection, alarm: code });
        logger.error(ALARM_TEXT[code], { projection, code, sequence, detail: `position ${position}` });
      }
      if (stopped.kind === "failed") {
        // A database that is away comes back by itself, and readiness reports it meanwhile; a full disk, or a database that accepts no writes or
        // not this login, needs an operator.
        const level = isElsewhere(stopped.error) ? "warn" : "error";
        logger[level]("projecting stopped, trying again", { detail: String(stopped.error) });
      }
    },
  };
};

const isElsewhere = (error: unknown): boolean =>
  error instanceof LogUnavailableError ||
  (isAway(error) && !(error instanceof ViewsBusyError || error instanceof ViewsClosedError));

const warnOf = (logger: Logger, { projection, sequence, code, detail }: DeadLetter): void =>
  logger.warn("record became a dead letter", { projection, sequence, code, detail });

const ALARM_TEXT: Readonly<Record<RunnerAlarm, string>> = {
  hole: "the log did not give the next sequence, reading again",
  ahead_of_log: "the view has seen more than the log holds, the log was replaced or restored",
  other_log: "the view has seen another record there, the log was replaced or restored: rebuild the views",
};

/** Ends early, without an error, when the signal is aborted. */
const pause = async (durationMs: number, signal: AbortSignal): Promise<void> => {
  await delay(durationMs, undefined, { signal }).catch(() => undefined);
};
