/**
 * Keeps one view level with the log: reads from the view's own position (never from what a broker remembers about a
 * consumer, which could disagree with the rows), evolves, and commits rows and position together. It goes on
 * through every fault; what stops it is the signal. It never steps over a record: what cannot be taken is kept as a
 * dead letter, and a sequence that does not come is an alarm.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  PROJECTION_RECORDS_PER_COMMIT_MAX,
  PROJECTION_RETRY_MS_MAX,
  PROJECTION_RETRY_MS_MIN,
  PROJECTION_STANDBY_MS,
} from "../limits.ts";
import { type LogReader, LogUnavailableError, type StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { CommitResult, DeadLetter, ViewStore } from "../views/view-store.ts";
import { evolveGroup, type GroupOutcome, refusedLetter } from "./evolve-group.ts";
import type { Projection } from "./projection.ts";

/** Why reading stopped before the signal did. */
export type RunnerAlarm =
  /** A sequence is missing in what the log gave. */
  | "hole"
  /** The view has seen more than the log holds: the log was replaced, or restored from an older copy. */
  | "ahead_of_log";

export interface RunnerMetrics {
  /** Once per commit, and with no records whenever the position was read. */
  progressed(progress: {
    readonly projection: string;
    readonly position: Sequence;
    readonly records: number;
    readonly deadLetters: number;
  }): void;
  alarmed(alarm: { readonly projection: string; readonly alarm: RunnerAlarm }): void;
}

export interface RunnerDependencies {
  readonly projection: Projection;
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly logger: Logger;
  readonly metrics: RunnerMetrics;
  readonly clock: () => Date;
}

export interface Runner {
  /** Resolves after `signal` is aborted and the running commit is finished. Never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** As this runner knows it; another process may have moved it since. */
  position(): Sequence;
  lag(lastSequence: Sequence): number;
}

export const createRunner = (dependencies: RunnerDependencies): Runner => {
  const { projection, views } = dependencies;
  const report = createReport(dependencies);
  const reading = createReading(dependencies, report);

  const run = async (signal: AbortSignal): Promise<void> => {
    let isOpen = false;
    let retryMs = PROJECTION_RETRY_MS_MIN;
    while (!signal.aborted) {
      const commitsBefore = report.commits();
      let stopped: Stopped;
      try {
        // Once per run: a view that a newer version of the program has made since must not be made again by this one.
        if (!isOpen) report.opened(await views.open(projection));
        isOpen = true;
        stopped = await reading.follow(signal);
      } catch (error) {
        stopped = { kind: "failed", error };
      }
      if (signal.aborted) return;
      report.stopped(stopped, reading.position());
      if (report.commits() > commitsBefore) retryMs = PROJECTION_RETRY_MS_MIN;
      await pause(stopped.kind === "superseded" ? PROJECTION_STANDBY_MS : retryMs, signal);
      retryMs = Math.min(retryMs * 2, PROJECTION_RETRY_MS_MAX);
    }
  };

  return {
    run,
    position: reading.position,
    lag: (lastSequence) => Math.max(0, lastSequence - reading.position()),
  };
};

type Stopped =
  /** The log gave no more, as it does when the signal is aborted. */
  | { readonly kind: "ended" }
  | { readonly kind: "superseded" }
  | { readonly kind: "alarm"; readonly alarm: RunnerAlarm; readonly sequence: Sequence }
  | { readonly kind: "failed"; readonly error: unknown };

/** One pass over the log from the stored position, until something stops it. */
const createReading = (dependencies: RunnerDependencies, report: Report) => {
  const { projection, log, views, clock } = dependencies;
  let position: Sequence = 0;

  const follow = async (signal: AbortSignal): Promise<Stopped> => {
    position = await views.position(projection.name);
    report.positionRead(position);
    const lastSequence = await log.lastSequence();
    if (lastSequence < position) return { kind: "alarm", alarm: "ahead_of_log", sequence: lastSequence };
    const messagesMax = PROJECTION_RECORDS_PER_COMMIT_MAX;
    for await (const messages of log.follow({ from: position + 1, messagesMax, signal })) {
      const gap = messages.findIndex((message, index) => message.sequence !== position + 1 + index);
      const whole = gap < 0 ? messages : messages.slice(0, gap);
      if (whole.length > 0 && (await take(whole)) === "superseded") return { kind: "superseded" };
      const unexpected = messages[gap];
      if (unexpected) return { kind: "alarm", alarm: "hole", sequence: unexpected.sequence };
      if (signal.aborted) break;
    }
    return { kind: "ended" };
  };

  const take = async (messages: readonly StoredMessage[]): Promise<"committed" | "superseded"> => {
    const now = clock().toISOString();
    const outcome = await evolveGroup({ projection, messages, load: views.load, now });
    const result = await commit(messages, outcome);
    if (result.kind !== "unwritable") return result.kind;
    const [message, ...others] = messages;
    if (message && others.length === 0) {
      const deadLetters = [refusedLetter(message, result.detail, now)];
      const second = await commit(messages, { writes: [], deadLetters });
      if (second.kind === "unwritable") throw new Error(`a dead letter cannot be written: ${second.detail}`);
      return second.kind;
    }
    // One record of the group breaks a table, and the database does not say which: one by one it shows.
    for (const single of messages) if ((await take([single])) === "superseded") return "superseded";
    return "committed";
  };

  const commit = async (
    messages: readonly StoredMessage[],
    { writes, deadLetters }: GroupOutcome,
  ): Promise<CommitResult> => {
    const to = messages.at(-1)?.sequence ?? position;
    const result = await views.commit({ view: projection, from: position, to, writes, deadLetters });
    if (result.kind === "committed") {
      position = to;
      report.committed({ position, records: messages.length, deadLetters });
    }
    return result;
  };

  return { follow, position: (): Sequence => position };
};

type Report = ReturnType<typeof createReport>;

/** What the runner tells the logger and the metrics: sequences and reasons, never what a record holds. */
const createReport = ({ projection: { name: projection }, logger, metrics }: RunnerDependencies) => {
  let commits = 0;
  let saidStandingBy = false;
  return {
    commits: (): number => commits,
    opened: (code: string) => logger[code === "kept" ? "debug" : "info"]("view opened", { projection, code }),
    positionRead: (position: Sequence) =>
      metrics.progressed({ projection, position, records: 0, deadLetters: 0 }),
    committed: (done: {
      readonly position: Sequence;
      readonly records: number;
      readonly deadLetters: readonly DeadLetter[];
    }) => {
      commits++;
      for (const { sequence, code, detail } of done.deadLetters) {
        logger.warn("record became a dead letter", { projection, sequence, code, detail });
      }
      metrics.progressed({ projection, ...done, deadLetters: done.deadLetters.length });
    },
    stopped: (stopped: Stopped, position: Sequence) => {
      if (stopped.kind === "superseded" && !saidStandingBy) {
        logger.info("another writer moves this view, standing by", { projection });
        saidStandingBy = true;
      }
      if (stopped.kind === "alarm") {
        metrics.alarmed({ projection, alarm: stopped.alarm });
        const { alarm: code, sequence } = stopped;
        logger.error(ALARM_TEXT[code], { projection, code, sequence, detail: `position ${position}` });
      }
      if (stopped.kind === "failed") {
        const level = stopped.error instanceof LogUnavailableError ? "warn" : "error";
        logger[level]("projection stopped, trying again", { projection, detail: String(stopped.error) });
      }
    },
  };
};

const ALARM_TEXT: Readonly<Record<RunnerAlarm, string>> = {
  hole: "the log did not give the next sequence, reading again",
  ahead_of_log: "the view has seen more than the log holds, the log was replaced or restored",
};

/** Ends early, without an error, when the signal is aborted. */
const pause = async (durationMs: number, signal: AbortSignal): Promise<void> => {
  await delay(durationMs, undefined, { signal }).catch(() => undefined);
};
