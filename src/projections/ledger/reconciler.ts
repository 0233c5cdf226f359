/**
 * Reconciles every hour once, soon after it ended, for every tenant of whom something was acknowledged in it: so that a difference is seen when it
 * arises, and not when somebody asks. What is found goes to metrics and, where it is an alarm, to the log lines.
 */
import { RECONCILE_AFTER_MS, RECONCILE_LOOK_MS, RECONCILED_HOURS_MAX } from "../../limits.ts";
import { type AcceptedCounts, type Hour, hourOf } from "../../log/accepted-counts.ts";
import type { Sequence } from "../../log/outcome.ts";
import type { LogFields, Logger } from "../../telemetry/logger.ts";
import { lookAgain } from "../look-again.ts";
import { type HourBalance, isBalanced, type ReconciliationDependencies, reconcile } from "./reconcile.ts";

export interface Reconciler {
  /** Takes the last hour that is over, unless it was taken before or the views have not seen all of the log. */
  look(): Promise<"reconciled" | "nothing_new" | "behind">;
  /** Looks again and again until the signal is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export const createReconciler = (
  dependencies: ReconciliationDependencies & {
    readonly accepted: Pick<AcceptedCounts, "read" | "tenants">;
    readonly clock: () => Date;
    readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
    readonly onBalance: (tenant: string, balance: HourBalance) => void;
    readonly logger: Logger;
  },
): Reconciler => {
  const { accepted, views, log, clock, pause, onBalance, logger } = dependencies;
  let done: Hour | undefined;
  /** What the views must have seen: all that the log held when the hour was first looked at. */
  let target: { readonly hour: Hour; readonly sequence: Sequence } | undefined;

  const look: Reconciler["look"] = async () => {
    const hour = hourOf(new Date(clock().getTime() - RECONCILE_AFTER_MS - HOUR_MS).toISOString());
    if (hour === done) return "nothing_new";
    if (target?.hour !== hour) target = { hour, sequence: await log.lastSequence() };
    for (const view of ["events", "ledger"])
      if ((await views.position(view)) < target.sequence) return "behind";
    for (const each of hoursSince(done, hour)) {
      for (const tenant of await accepted.tenants(each)) {
        for (const balance of await reconcile(dependencies, tenant, [each])) {
          onBalance(tenant, balance);
          if (!isBalanced(balance)) logger.error("an hour does not balance", alarmOf(tenant, balance));
        }
      }
      done = each;
    }
    return "reconciled";
  };

  const onFailed = (error: unknown): void =>
    logger.warn("an hour could not be reconciled, trying again", { detail: String(error) });
  const run = (signal: AbortSignal): Promise<void> =>
    lookAgain({ look, onFailed, restMs: RECONCILE_LOOK_MS, pause, signal });
  return { look, run };
};

const HOUR_MS = 60 * 60 * 1000;

/** The hours behind `done`, up to `last`: several where the views were behind, or the log was away, for longer than one. */
const hoursSince = (done: Hour | undefined, last: Hour): readonly Hour[] => {
  const hours = [last];
  for (let ms = Date.parse(`${last}:00Z`) - HOUR_MS; hours.length < RECONCILED_HOURS_MAX; ms -= HOUR_MS) {
    const hour = hourOf(new Date(ms).toISOString());
    if (done === undefined || hour <= done) break;
    hours.unshift(hour);
  }
  return hours;
};

const alarmOf = (tenant: string, balance: HourBalance): LogFields => {
  const { hour, state, accepted, stored, projected, differing } = balance;
  const counts = `${state}, hour ${hour}: accepted ${accepted ?? "unknown"}, stored ${stored}, projected ${projected}`;
  const named = differing.map(({ eventId, sequence }) => eventId ?? `sequence ${sequence}`).join(", ");
  return { tenant, count: differing.length, detail: named === "" ? counts : `${counts}; ${named}` };
};
