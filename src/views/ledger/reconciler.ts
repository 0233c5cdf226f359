/**
 * Reconciles every hour once, soon after it ended, for every tenant with an acknowledged event in it, so that a difference is noticed when it arises
 * and not only when somebody asks. The last reconciled hour is stored with the views, so that hours that end while no projector runs are reconciled by
 * the next one. Two of several projectors may reconcile the same hour.
 */
import { RECONCILED_HOURS_FIRST, RECONCILED_HOURS_MAX } from "../../limits.ts";
import { type AcceptedCounts, beginOfHour, HOUR_MS, type Hour, hourAt } from "../../log/accepted-counts.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { LogFields, Logger } from "../../telemetry/logger.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import { RECONCILE_AFTER_MS } from "../kit/limits.ts";
import { rowText } from "../store/tables.ts";
import { type HourBalance, isAlarm, type ReconciliationDependencies, reconcile } from "./reconcile.ts";
import { LEDGER_VIEW, RECONCILED_HOURS, RECONCILIATION } from "./tables.ts";

export interface TenantBalance extends HourBalance {
  readonly tenant: string;
}

export interface Reconciler {
  /** Reconciles the hours that have ended, unless that was done before or the views have not seen all of the log. */
  look(signal: AbortSignal): Promise<"reconciled" | "nothing_new" | "behind">;
}

export const createReconciler = (
  dependencies: ReconciliationDependencies & {
    readonly accepted: Pick<AcceptedCounts, "read" | "tenants">;
    readonly clock: () => Date;
    readonly onHour: (balances: readonly TenantBalance[]) => void;
    readonly logger: Logger;
  },
): Reconciler => {
  const { accepted, views, log, clock, onHour, logger } = dependencies;
  /** What the views must have seen: the end of the log when the hour was first looked at. */
  let target: { readonly hour: Hour; readonly sequence: Sequence } | undefined;

  const look: Reconciler["look"] = async (signal) => {
    const hour = hourAt(clock().getTime() - RECONCILE_AFTER_MS - HOUR_MS);
    await views.open(RECONCILIATION);
    const [last] = await views.load(RECONCILED_HOURS, [LAST]);
    const hours = hoursSince(last && rowText(last, "hour"), hour);
    if (hours.length === 0) return "nothing_new";
    if (target?.hour !== hour) target = { hour, sequence: await log.lastSequence() };
    for (const view of [EVENTS_VIEW, LEDGER_VIEW])
      if ((await views.position(view)) < target.sequence) return "behind";
    for (const each of hours) {
      if (signal.aborted) break;
      const balances: TenantBalance[] = [];
      for (const tenant of await accepted.tenants(each))
        for (const balance of await reconcile(dependencies, tenant, [each]))
          balances.push({ tenant, ...balance });
      // Reported only when nothing of the hour can fail any more: it would be counted twice.
      const row = { ...LAST, hour: each };
      const writes = [{ kind: "upsert", table: RECONCILED_HOURS, row }] as const;
      await views.revise({ views: [RECONCILIATION], expected: [], writes });
      onHour(balances);
      for (const balance of balances)
        if (isAlarm(balance)) logger.error("an hour does not balance", alarmOf(balance));
    }
    return "reconciled";
  };
  return { look };
};

const LAST = { name: "last" };

/** The hours after `done`, up to `last`: several if views were behind, the log was away, or no projector ran for longer than an hour. */
const hoursSince = (done: Hour | undefined, last: Hour): readonly Hour[] => {
  const lastMs = beginOfHour(last);
  // The clocks of two projectors may differ a little; a clock that was further ahead noted hours that are yet to come.
  const isKnown = done !== undefined && done <= hourAt(lastMs + HOUR_MS);
  const hoursMax = isKnown ? RECONCILED_HOURS_MAX : RECONCILED_HOURS_FIRST;
  const hours: Hour[] = [];
  for (let ms = lastMs; hours.length < hoursMax; ms -= HOUR_MS) {
    const hour = hourAt(ms);
    if (isKnown && hour <= done) break;
    hours.unshift(hour);
  }
  return hours;
};

const alarmOf = (balance: TenantBalance): LogFields => {
  const { tenant, hour, state, accepted, stored, projected, differing } = balance;
  const counts = `${state}, hour ${hour}: accepted ${accepted ?? "unknown"}, stored ${stored}, projected ${projected}`;
  const named = differing.map(({ eventId, sequence }) => eventId ?? `sequence ${sequence}`).join(", ");
  return { tenant, count: differing.length, detail: named === "" ? counts : `${counts}; ${named}` };
};
