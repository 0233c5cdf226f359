/** Runs the reconciler. */
import type { AcceptedCounts } from "../log/accepted-counts.ts";
import type { LogReader } from "../log/event-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import { BALANCE_STATES, isAlarm } from "../views/ledger/reconcile.ts";
import { createReconciler, type TenantBalance } from "../views/ledger/reconciler.ts";
import type { ViewStore } from "../views/store/view-store.ts";
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
    onHour: balanceMetrics(metrics),
  });
  return inBackground(reconciler.run);
};

/**
 * As few series as can be, because tenants come and go as long as the process lives, and each series is written out for whoever reads them.
 * So alarms, which begin at 0, are counted without the tenant.
 */
export const balanceMetrics = ({
  reconciledHours,
  reconciliationAlarms,
  reconciledEvents,
}: Pick<Metrics, "reconciledHours" | "reconciliationAlarms" | "reconciledEvents">) => {
  countFromZero(reconciliationAlarms, BALANCE_STATES.map((state) => ({ state })).filter(isAlarm));
  return (balances: readonly TenantBalance[]): void => {
    reconciledEvents.reset();
    for (const { tenant, state, accepted, stored, projected } of balances) {
      reconciledHours.inc({ tenant, state });
      if (isAlarm({ state })) reconciliationAlarms.inc({ state });
      if (accepted !== null) reconciledEvents.set({ tenant, stage: "accepted" }, accepted);
      reconciledEvents.set({ tenant, stage: "stored" }, stored);
      reconciledEvents.set({ tenant, stage: "projected" }, projected);
    }
  };
};
