/** Runs the monitor. */

import type { LogReader } from "../log/event-log.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import type { KeyRing } from "../proof/key-ring.ts";
import { MONITOR_ALARMS, watchLog } from "../proof/monitor.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { treeSource } from "../views/tree/queries.ts";
import { inBackground, pause } from "./background.ts";

export interface MonitorState {
  readonly startedAt: Date;
  /** When the whole log was last read to its end, and found to agree or reported. */
  readonly roundAt: Date | undefined;
  /** Since when nothing could be read, and why. */
  readonly failing: { readonly since: Date; readonly detail: string } | undefined;
}

export const startMonitoring = (dependencies: {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly checkpoints: CheckpointStore;
  readonly keys: KeyRing;
  readonly serviceName: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}): AsyncDisposable & { readonly state: () => MonitorState } => {
  const { views, metrics, now, ...shared } = dependencies;
  countFromZero(
    metrics.monitorAlarms,
    MONITOR_ALARMS.map((kind) => ({ kind })),
  );
  const startedAt = now();
  let roundAt: Date | undefined;
  let failing: MonitorState["failing"];
  const monitor = {
    ...shared,
    trees: treeSource(views),
    onAlarm: (kind: string) => metrics.monitorAlarms.inc({ kind }),
    onPosition: (sequence: number) => {
      failing = undefined;
      metrics.monitorPosition.set(sequence);
    },
    onRound: () => {
      [roundAt, failing] = [now(), undefined];
      metrics.monitorRound.set(roundAt.getTime() / 1000);
    },
    onFailure: (detail: string) => {
      failing = { since: failing?.since ?? now(), detail };
    },
    pause,
  };
  const running = inBackground((signal) => watchLog(monitor, signal));
  return {
    state: () => ({ startedAt, roundAt, failing }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
};
