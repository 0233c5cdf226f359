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
import type { DeadLetter, ViewStore } from "../views/view-store.ts";
import { evolveGroup, refusedLetter } from "./evolve-group.ts";
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
  const { projection, views, logger } = dependencies;
  const reading = createReading(dependencies);

  const run = async (signal: AbortSignal): Promise<void> => {
    let isOpen = false;
    let isStandingBy = false;
    let retryMs = PROJECTION_RETRY_MS_MIN;
    while (!signal.aborted) {
      const before = reading.committed();
      let stopped: Stopped;
      try {
        // Once only: a view that a newer version of the program made must not be made again by this one.
        if (!isOpen) logger.info("view opened", { projection: projection.name, code: await views.open(projection) });
        isOpen = true;
        stopped = await reading.follow(signal);
      } catch (error) {
        stopped = { kind: "failed", detail: failureOf(error) };
      }
      if (signal.aborted) return;
      if (reading.committed() > before) [retryMs, isStandingBy] = [PROJECTION_RETRY_MS_MIN, false];
      if (stopped.kind === "superseded") {
        if (!isStandingBy) logger.info("another writer moves this view; standing by", { projection: projection.name });
        isStandingBy = true;
        await pause(PROJECTION_STANDBY_MS, signal);
      }
    }
  };
};
