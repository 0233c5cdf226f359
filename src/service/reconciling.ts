/** Runs the reconciler. */
import type { AcceptedCounts } from "../log/accepted-counts.ts";
import type { LogReader } from "../log/event-log.ts";
import { BALANCE_STATES } from "../projections/ledger/reconcile.ts";
import { createReconciler } from "../projections/ledger/reconciler.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/view-store.ts";
import { inBackground, pause } from "./background.ts";

export const startReconciling = (dependencies: {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly accepted: AcceptedCounts;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}): AsyncDisposable => {
  const { metrics, now, ...shared } = dependencies;
  const reconciler = createReconciler({
    ...shared,
    clock: now,
    pause,
    onBalance: (tenant, { state, accepted, stored, projected }) => {
      // Here, because the tenants are not known earlier.
      countFromZero(
        metrics.reconciledHours,
        BALANCE_STATES.map((each) => ({ tenant, state: each })),
      );
      metrics.reconciledHours.inc({ tenant, state });
      if (accepted !== null) metrics.reconciledEvents.set({ tenant, stage: "accepted" }, accepted);
      metrics.reconciledEvents.set({ tenant, stage: "stored" }, stored);
      metrics.reconciledEvents.set({ tenant, stage: "projected" }, projected);
    },
  });
  return inBackground(reconciler.run);
};
