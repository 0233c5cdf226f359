/** The role `projector`: moves the views, publishes changes of obligations, lets events expire, and reconciles. One process does it for all front ends. */
import { TRANSITIONS } from "../law/obligations/obligation.ts";
import { COUNT_OBLIGATIONS_MS } from "../limits.ts";
import { createDutyPublisher } from "../nats/duty-publisher.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import { CASES_VIEW } from "../views/cases/tables.ts";
import { countObligations } from "../views/duty-notifications/counts.ts";
import { keepNotifying, type NotifierDependencies } from "../views/duty-notifications/notifier.ts";
import { ALARMS } from "../views/kit/advance.ts";
import { createExpiryWorker } from "../views/kit/expiry.ts";
import { EXPIRY_LOOK_MS, RECONCILE_LOOK_MS } from "../views/kit/limits.ts";
import type { Projection } from "../views/kit/projection.ts";
import { createRunner, type RunnerMetrics } from "../views/kit/runner.ts";
import { BALANCE_STATES, isAlarm } from "../views/ledger/reconcile.ts";
import { createReconciler, type TenantBalance } from "../views/ledger/reconciler.ts";
import { inBackground, loop, pause } from "./background.ts";
import type { Parts } from "./parts.ts";

export const startProjector = (parts: Parts): void => {
  startProjecting(parts);
  const cases = parts.projections.find(({ name }) => name === CASES_VIEW);
  if (!cases) throw new Error("there is a view of cases");
  startNotifying(parts, cases);
  startExpiring(parts, cases);
  startReconciling(parts);
  startCounting(parts);
};

const startProjecting = (parts: Parts): void => {
  const { projections, metrics, now: clock, stack } = parts;
  for (const { name: projection } of projections)
    countFromZero(metrics.projectionAlarms, "alarm", ALARMS, { projection });
  const runnerMetrics: RunnerMetrics = {
    progressed: ({ projection, position, records, deadLetters }) => {
      metrics.projectionPosition.set({ projection }, position);
      metrics.projectionRecords.inc({ projection }, records);
      metrics.deadLetters.inc({ projection }, deadLetters);
    },
    alarmed: (alarm) => metrics.projectionAlarms.inc({ ...alarm }),
  };
  stack.use(inBackground(createRunner({ ...parts, metrics: runnerMetrics, clock }).run));
};

const startNotifying = (parts: Parts, cases: Projection): void => {
  const { connection, metrics, keepStream, logEnd, stack } = parts;
  const { publish, lastPublished, stall } = createDutyPublisher(connection, () => performance.now());
  keepStream("The stream of obligations", stall);
  countFromZero(metrics.dutiesAnnounced, "transition", TRANSITIONS);
  const { log, views, rules, logger, now } = parts;
  const dependencies: NotifierDependencies = {
    ...{ log, views, cases, rules, logger, now, publish, lastPublished },
    onNotified: (transition) => metrics.dutiesAnnounced.inc({ transition }),
    onPosition: (sequence) => metrics.dutiesPosition.set(sequence),
  };
  stack.use(inBackground((signal) => keepNotifying(dependencies, { logEnd, signal })));
};

const startExpiring = (parts: Parts, cases: Projection): void => {
  const { metrics, logger, now: clock, stack } = parts;
  const onExpired = (events: number): void => metrics.expiredEvents.inc(events);
  const { look } = createExpiryWorker({ ...parts, cases, clock, pause, onExpired });
  const onFailed = (error: unknown): void =>
    logger.warn("events could not expire, trying again", { detail: String(error) });
  stack.use(loop({ look, onFailed, restMs: EXPIRY_LOOK_MS }));
};

/** Counts the obligations by state, for a metric. */
const startCounting = ({ views, metrics, logger, now, stack }: Parts): void => {
  let counted: Awaited<ReturnType<typeof countObligations>>;
  metrics.watch.obligations(
    async () => counted && [...counted].map(([state, value]) => ({ labels: { state }, value })),
  );
  stack.use(
    loop({
      look: async (signal) => {
        counted = (await countObligations({ views, now, pause, signal })) ?? counted;
      },
      onFailed: (error) => logger.debug("obligations were not counted", { detail: String(error) }),
      restMs: COUNT_OBLIGATIONS_MS,
    }),
  );
};

const startReconciling = (parts: Parts): void => {
  const { metrics, logger, now: clock, stack } = parts;
  const { look } = createReconciler({ ...parts, clock, onHour: balanceMetrics(metrics) });
  const onFailed = (error: unknown): void =>
    logger.warn("an hour could not be reconciled, trying again", { detail: String(error) });
  stack.use(loop({ look, onFailed, restMs: RECONCILE_LOOK_MS }));
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
  const alarms = BALANCE_STATES.filter((state) => isAlarm({ state }));
  countFromZero(reconciliationAlarms, "state", alarms);
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
