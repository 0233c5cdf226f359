/**
 * A key's own limits, held over all front ends: each leases a part of the current second's rate from a shared counter and serves from that,
 * so that most requests ask nobody. What is leased and not used in its second is lost, a tenth of the rate at most. Seconds are those of the
 * clocks of the front ends. Where the counter does not answer, each front end falls back to a bucket of its own.
 */
import { RATES_AGE_MS_MAX } from "../limits.ts";
import type { RateDecision, RateLimiter, RateRequest, RateUnit } from "./rate-limit.ts";

export interface RateCounter {
  /** Adds to one counter and gives its value after that; undefined where no answer came. `holder` is the id of a key. */
  add(
    counter: { readonly holder: string; readonly unit: RateUnit; readonly window: number },
    count: number,
  ): Promise<number | undefined>;
}

export interface SharedRateLimiter {
  /** Answers at once while a lease lasts. */
  take(request: RateRequest): RateDecision | Promise<RateDecision>;
}

/** What this front end holds of one key's rate. */
interface Lease {
  /** The second that it is for. */
  window: number;
  left: number;
  /** The second's whole rate is given away. */
  isExhausted: boolean;
  /** How long the key must wait was looked for in this second. */
  hasLookedAhead: boolean;
  /** A batch larger than the rest is paid for up to the end of this second, whichever front end let it through. */
  paidUntil: number;
  /** Whether there was an answer. */
  asking: Promise<boolean> | undefined;
}

/** A tenth of the rate at a time: few questions, and little is lost when a front end gets no more requests. */
const LEASES_PER_SECOND = 10;

/** A counter is gone after this time: what would be paid later is let off. */
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
    // One question at a time: who comes meanwhile waits for its answer and looks again. Where there is none, nobody asks in turn: each would wait as long.
    if (lease.asking)
      return lease.asking.then((isAnswered) => (isAnswered ? take(request) : fallback.take(request)));
    const asking = (lease.isExhausted ? lookAhead : askForMore)(request, perSecond, lease);
    lease.asking = asking.then((decision) => {
      lease.asking = undefined;
      return decision !== undefined;
    });
    return asking.then((decision) => decision ?? fallback.take(request));
  };

  /** Undefined where no answer came. */
  const askForMore = async (
    request: RateRequest,
    perSecond: number,
    lease: Lease,
  ): Promise<RateDecision | undefined> => {
    const { keyId, unit, count } = request;
    const { window } = lease;
    const wanted = Math.max(count - lease.left, Math.ceil(perSecond / LEASES_PER_SECOND));
    const value = await counter.add({ holder: keyId, unit, window }, wanted);
    if (value === undefined) return undefined;
    const granted = Math.min(wanted, leftOf(perSecond, value - wanted));
    const isCurrent = lease.window === window;
    const has = isCurrent ? lease.left + granted : granted;
    if (isCurrent) [lease.left, lease.isExhausted] = [has, granted < wanted];
    if (has < 1) return isCurrent ? lookAhead(request, perSecond, lease) : limited(request, 1);
    // What is left of a second that has ended is lost.
    if (isCurrent) lease.left = Math.max(0, has - count);
    if (has < count) await payLater({ request, perSecond, window, debt: count - has, lease });
    return { kind: "allowed" };
  };

  /** Refuses, and says for how long: another front end may have let a batch through that is still paid for. From then on this one knows it too. */
  const lookAhead = async (request: RateRequest, perSecond: number, lease: Lease): Promise<RateDecision> => {
    const { keyId, unit } = request;
    const { window } = lease;
    lease.hasLookedAhead = true;
    const full = await fullSecondsAhead(async (ahead) => {
      // Adding nothing is answered with what stands there.
      const value = await counter.add({ holder: keyId, unit, window: window + ahead }, 0);
      return value === undefined ? undefined : value >= perSecond;
    });
    if (full > 0) lease.paidUntil = window + full;
    return limited(request, full + 1);
  };

  /**
   * The rest of a batch that is larger than what was left is counted against the next seconds, for every front end. Where others' debts stand there
   * already, only what a second still had is paid in it and the rest goes on: debts that are made together are paid one after another. What is added
   * to a full second stays there, and costs nobody anything: it gives nothing as it is.
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
      // Without an answer nobody knows, and asking on would make the batch wait as long again.
      return value === undefined ? part : Math.min(part, leftOf(perSecond, value - part));
    };
    let owed = debt.debt;
    let end = window;
    while (owed > 0 && end < window + SECONDS_AHEAD_MAX) {
      const parts = partsOf(owed, perSecond).slice(0, window + SECONDS_AHEAD_MAX - end);
      const start = end + 1;
      end += parts.length;
      // Before the answers: who comes meanwhile is not let through.
      lease.paidUntil = end;
      const paid = await Promise.all(parts.map((part, index) => pay(part, start + index)));
      owed -= paid.reduce((sum, each) => sum + each, 0);
    }
  };

  return { take };
};

/** What a second still has to give where its counter stands so. */
const leftOf = (perSecond: number, value: number): number => Math.max(0, perSecond - value);

/** A debt by the seconds that it fills. */
const partsOf = (debt: number, perSecond: number): readonly number[] =>
  Array.from({ length: Math.ceil(debt / perSecond) }, (_, index) =>
    Math.min(perSecond, debt - index * perSecond),
  );

/**
 * How many of the next seconds are full. Debts fill them from now on without a gap, so the last is found in few questions: one where there is no debt,
 * twice ten for the longest. Without an answer it is as far as was told.
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
    // Seconds of a clock that was put back are others than those that were paid for. What is owed in them the counters tell.
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
