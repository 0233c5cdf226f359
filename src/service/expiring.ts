/** Runs the worker that lets events expire. */

import type { RetentionStore } from "../access/retention/retention-store.ts";
import type { Rules } from "../law/obligations/obligation.ts";
import type { LogReader } from "../log/event-log.ts";
import { uuidV7 } from "../runtime/uuid.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { CASES_VIEW } from "../views/cases/tables.ts";
import { createExpiryWorker } from "../views/kit/expiry-worker.ts";
import type { ViewDefinition, ViewStore } from "../views/store/view-store.ts";
import { inBackground, pause } from "./background.ts";

export const startExpiring = (dependencies: {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly retention: RetentionStore;
  readonly projections: readonly ViewDefinition[];
  readonly rules: Rules;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}): AsyncDisposable => {
  const { metrics, now, projections, ...shared } = dependencies;
  const cases = projections.find(({ name }) => name === CASES_VIEW);
  if (!cases) throw new Error("there is a view of cases");
  const worker = createExpiryWorker({
    ...shared,
    cases,
    clock: now,
    pause,
    holder: uuidV7(),
    onExpired: (events) => metrics.expiredEvents.inc(events),
  });
  return inBackground(worker.run);
};
