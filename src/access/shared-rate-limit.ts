/**
 * A key's own limits over all front ends. Each front end leases a part of the current second's rate from a shared counter and serves
 * requests from that, so most requests ask nobody. What is leased and not used in its second is lost, a tenth of the rate at most. Seconds
 * are those of the front ends' clocks. While the counter does not answer, each front end uses a bucket of its own.
 */
import { RATES_AGE_MS_MAX } from "../limits.ts";
import type { RateDecision, RateLimiter, RateRequest, RateUnit } from "./rate-limit.ts";

export interface RateCounter {
  /** Adds to one counter and gives its new value; undefined if no answer came. `holder` is the id of a key. */
  add(
    counter: { readonly holder: string; readonly unit: RateUnit; readonly window: number },
    count: number,
  ): Promise<number | undefined>;
}

export interface SharedRateLimiter {
  /** Answers at once while a lease lasts. */
  take(request: RateRequest): RateDecision | Promise<RateDecision>;
}

/** The part of one key's rate that this front end holds. */
interface Lease {
  /** The second that the lease is for. */
  window: number;
  left: number;
  /** Nothing of this second's rate is left to lease. */
  isExhausted: boolean;
  /** The wait was already computed in this second (`lookAhead`). */
  hasLookedAhead: boolean;
  /** Last second in which a batch larger than the rest is paid for, whichever front end let it through. */
  paidUntil: number;
  /** Resolves with whether the counter answered. */
  asking: Promise<boolean> | undefined;
}

/** Leases of a tenth of the rate: few questions, and little is lost when a front end gets no more requests. */
const LEASES_PER_SECOND = 10;

/** A counter expires after this time: later debts are cancelled. */
const SECONDS_AHEAD_MAX = RATES_AGE_MS_MAX / 1000 - 1;

export const createSharedRateLimiter = (dependencies: {
  readonly counter: RateCounter;
  readonly fallback: RateLimiter;
  readonly nowMs: () => number;
}): SharedRateLimiter => {
  const { counter, fallback, nowMs } = dependencies;
  const leases = new Map<string, Lease>();

  const take = (request: RateRequest): RateDecision | Promise<RateDecision> => {
    const { keyId, unit, perSecond, count } = request;
    if (perSecond === undefined) return { kind: "allowed" };
    const window = Math.floor(nowMs() / 1000);
    const lease = leaseFor(leases, `${unit} ${keyId}`, window);
    if (window <= lease.paidUntil) return limited(request, lease.paidUntil + 1 - window);
    if (lease.left >= count) {
      lease.left -= count;
      return { kind: "allowed" };
    }
    if (lease.isExhausted && (lease.left > 0 || lease.hasLookedAhead)) return limited(request, 1);
    // One question at a time. Requests that come meanwhile wait for its answer and look again. If no answer came, they do not ask in turn:
    // each would wait as long.
    if (lease.asking)
      return lease.asking.then((isAnswered) => (isAnswered ? take(request) : fallback.take(request)));
    const asking = (lease.isExhausted ? lookAhead : askForMore)(request, perSecond, lease);
    lease.asking = asking.then((decision) => {
      lease.asking = undefined;
      return decision !== undefined;
    });
    return asking.then((decision) => decision ?? fallback.take(request));
  };

  /** Undefined if no answer came. */
  const askForMore = async (
    request: RateRequest,
    perSecond: number,
    lease: Lease,
  ): Promise<RateDecision | undefined> => {
    const { keyId, unit, count } = request;
    const { window } = lease;
    // All of it, whatever is in hand: others may have taken that when the answer comes, and what is missing then is no debt.
    const wanted = Math.max(count, Math.ceil(perSecond / LEASES_PER_SECOND));
    const value = await counter.add({ holder: keyId, unit, window }, wanted);
    if (value === undefined) return undefined;
    const granted = Math.min(wanted, leftOf(perSecond, value - wanted));
    const isCurrent = lease.window === window;
    const has = isCurrent ? lease.left + granted : granted;
    if (isCurrent) [lease.left, lease.isExhausted] = [has, granted < wanted];
    if (has < 1) return isCurrent ? lookAhead(request, perSecond, lease) : limited(request, 1);
    // The rest of a second that has ended is lost.
    if (isCurrent) lease.left = Math.max(0, has - count);
    if (has < count) await payLater({ request, perSecond, window, debt: count - has, lease });
    return { kind: "allowed" };
  };

  /**
   * Refuses with the time to wait. Another front end may have let a batch through that is still being paid for; from then on this one knows
   * it too.
   */
  const lookAhead = async (request: RateRequest, perSecond: number, lease: Lease): Promise<RateDecision> => {
    const { keyId, unit } = request;
    const { window } = lease;
    lease.hasLookedAhead = true;
    const full = await fullSecondsAhead(async (ahead) => {
      // Adding 0 returns the current value.
      const value = await counter.add({ holder: keyId, unit, window: window + ahead }, 0);
      return value === undefined ? undefined : value >= perSecond;
    });
    if (full > 0) lease.paidUntil = window + full;
    return limited(request, full + 1);
  };

  /**
   * Counts the rest of a batch that is larger than what was left against the next seconds, for every front end. If other debts are in a
   * second already, only its free part is paid there and the rest goes on, so debts that are made together are paid one after another. What
   * is added to a full second changes nothing, because that second gives nothing anyway.
   */
  const payLater = async (debt: {
    request: RateRequest;
    perSecond: number;
    window: number;
    debt: number;
    lease: Lease;
  }): Promise<void> => {
    const { request, perSecond, window, lease } = debt;
    const { keyId, unit } = request;
    const pay = async (part: number, second: number): Promise<number> => {
      const value = await counter.add({ holder: keyId, unit, window: second }, part);
      // Without an answer the part counts as paid: asking on would make the batch wait as long again.
      return value === undefined ? part : Math.min(part, leftOf(perSecond, value - part));
    };
    let owed = debt.debt;
    let end = window;
    while (owed > 0 && end < window + SECONDS_AHEAD_MAX) {
      const parts = partsOf(owed, perSecond).slice(0, window + SECONDS_AHEAD_MAX - end);
      const start = end + 1;
      end += parts.length;
      // Set before the answers, so that requests that come meanwhile are refused.
      lease.paidUntil = end;
      const paid = await Promise.all(parts.map((part, index) => pay(part, start + index)));
      owed -= paid.reduce((sum, each) => sum + each, 0);
    }
  };

  return { take };
};

/** What a second can still give at this value of its counter. */
const leftOf = (perSecond: number, value: number): number => Math.max(0, perSecond - value);

/** Splits a debt into parts of one second each. */
const partsOf = (debt: number, perSecond: number): readonly number[] =>
  Array.from({ length: Math.ceil(debt / perSecond) }, (_, index) =>
    Math.min(perSecond, debt - index * perSecond),
  );

/**
 * How many of the next seconds are full. Debts fill them without a gap, so a search by doubling and halving finds the last one: one
 * question if there is no debt, twice ten for the longest. If an answer is missing, the result so far.
 */
const fullSecondsAhead = async (isFull: (ahead: number) => Promise<boolean | undefined>): Promise<number> => {
  let full = 0;
  let free = SECONDS_AHEAD_MAX + 1;
  while (free - full > 1) {
    const doubled = Math.min(Math.max(1, full * 2), SECONDS_AHEAD_MAX);
    const ahead = free > SECONDS_AHEAD_MAX ? doubled : Math.floor((full + free) / 2);
    const answer = await isFull(ahead);
    if (answer === undefined) return full;
    if (answer) full = ahead;
    else free = ahead;
  }
  return full;
};

const leaseFor = (leases: Map<string, Lease>, name: string, window: number): Lease => {
  const found = leases.get(name);
  if (found) {
    // After a clock was set back the seconds are other ones. The counters tell what is owed in them.
    if (window < found.window) found.paidUntil = -1;
    if (found.window !== window)
      Object.assign(found, { window, left: 0, isExhausted: false, hasLookedAhead: false });
    return found;
  }
  const lease: Lease = {
    window,
    left: 0,
    isExhausted: false,
    hasLookedAhead: false,
    paidUntil: -1,
    asking: undefined,
  };
  leases.set(name, lease);
  return lease;
};

const limited = ({ unit, perSecond = 0 }: RateRequest, retryAfterSeconds: number): RateDecision => ({
  kind: "limited",
  unit,
  perSecond,
  retryAfterSeconds,
});
