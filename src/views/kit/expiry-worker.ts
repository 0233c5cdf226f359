/**
 * Lets events expire in the views, and cases with the last of their events; the log is never touched. Runs every hour and at the start, in small
 * transactions, each of which is kept only if nothing that it is based on has changed. So a pass may end and continue anywhere. Policies and holds
 * are read before each transaction, so that a hold counts at once.
 */
import type { Sequence } from "../../log/outcome.ts";
import { isWalkDue } from "../cases/expiry.ts";
import { EXPIRY_RUNS } from "../events/tables.ts";
import { rowInteger, rowText } from "../store/tables.ts";
import { haveSeen } from "./expiry-holds.ts";
import { EXPIRY_RUN_KEY } from "./expiry-lease.ts";
import { type ExpiryDependencies, type ExpiryPass, expireAll } from "./expiry-run.ts";
import { EXPIRY_INTERVAL_MS, EXPIRY_LOOK_MS } from "./limits.ts";
import { lookAgain } from "./look-again.ts";

/** The result of one look. */
export type ExpiryLook =
  | ExpiryPass
  /** Done within the last hour. */
  | { readonly kind: "not_due" }
  /** The views have not seen all of the log: a record that they have yet to take could bring an event back, or belong to a case on hold. */
  | { readonly kind: "behind" };

export interface ExpiryWorker {
  look(signal: AbortSignal): Promise<ExpiryLook>;
  /** Looks repeatedly until the signal is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export const createExpiryWorker = (dependencies: ExpiryDependencies): ExpiryWorker => {
  const { logger, pause, log } = dependencies;
  let isFirst = true;
  /** What the views must have seen before it begins. */
  let target: Sequence | undefined;

  const look = async (signal: AbortSignal): Promise<ExpiryLook> => {
    const lease = await readLease(dependencies, isFirst);
    if (lease.kind !== "free") return lease;
    target ??= await log.lastSequence();
    if (!(await haveSeen(dependencies, target))) return { kind: "behind" };
    const pass = await expireAll(dependencies, { ...lease, target, signal });
    // Also if the pass ended because the views are behind: the next one begins when they have seen the log as it is by then.
    target = undefined;
    if (pass.kind === "finished") isFirst = false;
    return pass;
  };

  const onFailed = (error: unknown): void =>
    logger.warn("events could not expire, trying again", { detail: String(error) });
  const run = (signal: AbortSignal): Promise<void> =>
    lookAgain({ look: () => look(signal), onFailed, restMs: EXPIRY_LOOK_MS, pause, signal });
  return { look, run };
};

const readLease = async ({ views, clock, holder }: ExpiryDependencies, isForced: boolean) => {
  const [row] = await views.load(EXPIRY_RUNS, [EXPIRY_RUN_KEY]);
  const nowMs = clock().getTime();
  const finishedAt = row ? rowInteger(row, "finished_at") : 0;
  if (row && rowText(row, "holder") !== holder && rowInteger(row, "held_until") > nowMs)
    return { kind: "busy" } as const;
  // A time in the future was written by a clock that was ahead; without this check nothing would expire before that time.
  if (!isForced && Math.abs(nowMs - finishedAt) < EXPIRY_INTERVAL_MS && !(await isWalkDue(views, nowMs)))
    return { kind: "not_due" } as const;
  return { kind: "free", row, finishedAt } as const;
};
