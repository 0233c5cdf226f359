/** Runs the monitor. */

import type { LogReader } from "../log/event-log.ts";
import { treeSource } from "../projections/tree/queries.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import type { KeyRing } from "../proof/key-ring.ts";
import { MONITOR_ALARMS, watchLog } from "../proof/monitor.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/view-store.ts";
import { inBackground, pause } from "./background.ts";

export const startMonitoring = (dependencies: {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly checkpoints: CheckpointStore;
  readonly keys: KeyRing;
  readonly serviceName: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}): AsyncDisposable => {
  const { views, metrics, ...shared } = dependencies;
  countFromZero(
    metrics.monitorAlarms,
    MONITOR_ALARMS.map((kind) => ({ kind })),
  );
  const monitor = {
    ...shared,
    trees: treeSource(views),
    onAlarm: (kind: string) => metrics.monitorAlarms.inc({ kind }),
    onPosition: (sequence: number) => metrics.monitorPosition.set(sequence),
    pause,
  };
  return inBackground((signal) => watchLog(monitor, signal));
};
