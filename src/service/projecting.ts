/** Runs every projection in this process. */
import type { LogReader } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import { LANE_ALARMS } from "../views/kit/lane.ts";
import type { Projection } from "../views/kit/projection.ts";
import { createRunner, type RunnerMetrics } from "../views/kit/runner.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { inBackground } from "./background.ts";

export const startProjecting = (dependencies: {
  readonly projections: readonly [Projection, ...Projection[]];
  readonly log: LogReader;
  /** Where the log ended when the process started; undefined if unknown. */
  readonly logEnd: Sequence | undefined;
  readonly views: ViewStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}): AsyncDisposable => {
  const { metrics, now, ...shared } = dependencies;
  for (const { name: projection } of shared.projections)
    countFromZero(
      metrics.projectionAlarms,
      LANE_ALARMS.map((alarm) => ({ projection, alarm })),
    );
  const runner = createRunner({ ...shared, metrics: toRunnerMetrics(metrics), clock: now });
  return inBackground(runner.run);
};

const toRunnerMetrics = (metrics: Metrics): RunnerMetrics => ({
  progressed: ({ projection, position, records, deadLetters }) => {
    metrics.projectionPosition.set({ projection }, position);
    metrics.projectionRecords.inc({ projection }, records);
    metrics.deadLetters.inc({ projection }, deadLetters);
  },
  alarmed: (alarm) => metrics.projectionAlarms.inc({ ...alarm }),
});
