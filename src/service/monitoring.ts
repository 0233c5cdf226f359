/** Runs the monitor. */

import type { LogReader } from "../log/event-log.ts";
import { lookAgain } from "../projections/look-again.ts";
import { treeSource } from "../projections/tree/queries.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import type { KeyRing } from "../proof/key-ring.ts";
import { watchLog } from "../proof/monitor.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/view-store.ts";
import { inBackground, pause } from "./background.ts";

const RETRY_MS = 5_000;

export const startMonitoring = (dependencies: {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly checkpoints: CheckpointStore;
  readonly keys: KeyRing;
  readonly serviceName: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}): AsyncDisposable => {
  const { views, metrics, logger, ...shared } = dependencies;
  const monitor = {
    ...shared,
    logger,
    trees: treeSource(views),
    onAlarm: (kind: string) => metrics.monitorAlarms.inc({ kind }),
    onPosition: (sequence: number) => metrics.monitorPosition.set(sequence),
    pause,
  };
  const onFailed = (error: unknown): void =>
    logger.warn("the log could not be watched, trying again", { detail: String(error) });
  return inBackground((signal) =>
    lookAgain({ look: () => watchLog(monitor, signal), onFailed, restMs: RETRY_MS, pause, signal }),
  );
};
