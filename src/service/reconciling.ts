/** Runs the reconciler. */
import type { AcceptedCounts } from "../log/accepted-counts.ts";
import type { LogReader } from "../log/event-log.ts";
import { createReconciler } from "../projections/ledger/reconciler.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
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
    ...balanceMetrics(metrics),
  });
  return inBackground(reconciler.run);
};

/** As few series as can be, because tenants come and go as long as the process lives, and each series is written out for whoever reads them. */
export const balanceMetrics = ({
  reconciledHours,
  reconciledEvents,
}: Pick<Metrics, "reconciledHours" | "reconciledEvents">): Pick<
  Parameters<typeof createReconciler>[0],
  "onHour" | "onBalance"
> => ({
  onHour: () => reconciledEvents.reset(),
  onBalance: (tenant, { state, accepted, stored, projected }) => {
    reconciledHours.inc({ tenant, state });
    if (accepted !== null) reconciledEvents.set({ tenant, stage: "accepted" }, accepted);
    reconciledEvents.set({ tenant, stage: "stored" }, stored);
    reconciledEvents.set({ tenant, stage: "projected" }, projected);
  },
});
