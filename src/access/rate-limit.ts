/**
 * Rate limits over all front ends, as sliding windows of two buckets: what was counted in this window, and the part of the window before
 * that the last `windowSeconds` still reach into. A front end leases a tenth of a second's rate from the shared counter and serves requests
 * from that, so most requests need no call; what is left of a lease at the end of its second is lost. If the counter does not answer, each
 * front end has the whole rate for that second.
 */
import { BATCH_EVENTS_MAX, RATE_SHARES_MAX } from "../limits.ts";
import type { ApiKeyRecord } from "./key-record.ts";

export type RateUnit = "requests" | "events";

export interface RateLimit {
  /** Whose counter it is: a key, a tenant or a client without a key. One token of a subject. */
  readonly holder: string;
  readonly unit: RateUnit;
  readonly quota: number;
  readonly windowSeconds: number;
}

export type RateDecision =
  | { readonly kind: "allowed" }
  | {
      readonly kind: "limited";
      readonly limit: RateLimit;
      /** Whole seconds until one more is allowed, at least 1. */
      readonly retryAfterSeconds: number;
    };

/** A window of events holds one full batch, so that a batch passes at any rate and is paid for within the window. */
export const perSecondLimit = (holder: string, unit: RateUnit, perSecond: number): RateLimit => {
  const windowSeconds = unit === "events" ? Math.ceil(BATCH_EVENTS_MAX / perSecond) : 1;
  return { holder, unit, quota: perSecond * windowSeconds, windowSeconds };
};

export interface RateCounter {
  /** Adds to one counter and gives its new value; undefined if no answer came. `window`: its first second since 1970. */
  add(
    counter: Pick<RateLimit, "holder" | "unit"> & { readonly window: number },
    count: number,
  ): Promise<number | undefined>;
}

export interface RateLimiter {
  /** Passes if any of the limit is left, and counts in full. */
  take(limit: RateLimit, count: number): Promise<RateDecision>;
}

/** This front end's state of one limit in the current second. */
interface Lease {
  left: number;
  /** The count of the previous window. */
  before: number | undefined;
  refusedUntilMs: number;
  asking: Promise<RateDecision> | undefined;
}

const LEASES_PER_SECOND = 10;

export const createRateLimiter = ({
  counter,
  nowMs,
}: {
  readonly counter: RateCounter;
  readonly nowMs: () => number;
}): RateLimiter => {
  let second = Number.NaN;
  let leases = new Map<string, Lease>();
  const leaseOf = ({ unit, holder }: RateLimit): Lease => {
    const now = Math.floor(nowMs() / 1000);
    if (now !== second) [second, leases] = [now, new Map()];
    const name = `${unit} ${holder}`;
    const lease = leases.get(name) ?? { left: 0, before: undefined, refusedUntilMs: 0, asking: undefined };
    leases.set(name, lease);
    return lease;
  };

  const ask = async (limit: RateLimit, count: number, lease: Lease): Promise<RateDecision> => {
    const { holder, unit, quota, windowSeconds } = limit;
    const asked = nowMs() / 1000;
    const window = Math.floor(asked / windowSeconds) * windowSeconds;
    const leased = Math.ceil(quota / windowSeconds / LEASES_PER_SECOND);
    const wanted = Math.max(count, leased);
    const [value, before] = await Promise.all([
      counter.add({ holder, unit, window }, wanted),
      // Adding 0 returns the current value.
      lease.before ?? counter.add({ holder, unit, window: window - windowSeconds }, 0),
    ]);
    if (value === undefined || before === undefined) {
      lease.left = Math.max(0, quota / windowSeconds - count);
      lease.refusedUntilMs = (second + 1) * 1000;
      return ALLOWED;
    }
    lease.before = before;
    const used = value - wanted;
    const free = quota - used - before * (1 - (asked - window) / windowSeconds);
    const isAllowed = free > 0 || lease.left > 0;
    const given = isAllowed ? Math.max(count - lease.left, Math.min(wanted, Math.floor(free))) : 0;
    if (given < wanted) void counter.add({ holder, unit, window }, given - wanted);
    lease.left += given;
    if (isAllowed) {
      lease.left -= count;
      return ALLOWED;
    }
    // A little less than what is free then: where the count only just reaches the quota, nothing passes.
    const room = quota - leased + 0.999;
    lease.refusedUntilMs = 1000 * (window + windowSeconds * partUntilFree({ used, before, room }));
    return limited(limit, lease.refusedUntilMs - nowMs());
  };

  const take = async (limit: RateLimit, count: number): Promise<RateDecision> => {
    for (;;) {
      const lease = leaseOf(limit);
      if (lease.left >= count) {
        lease.left -= count;
        return ALLOWED;
      }
      const waitMs = lease.refusedUntilMs - nowMs();
      if (waitMs > 0) return limited(limit, waitMs);
      if (lease.asking === undefined) {
        lease.asking = ask(limit, count, lease);
        const decision = await lease.asking;
        lease.asking = undefined;
        return decision;
      }
      // One call at a time: later callers wait for its answer and look again.
      await lease.asking;
    }
  };
  return { take };
};

/** After which part of the window, above 1 in the one that follows, less than `room` counts. */
const partUntilFree = ({ used, before, room }: { used: number; before: number; room: number }): number =>
  used < room ? 1 - (room - used) / before : 1 + Math.max(0, 1 - room / used);

const ALLOWED: RateDecision = { kind: "allowed" };

const limited = (limit: RateLimit, waitMs: number): RateDecision => ({
  kind: "limited",
  limit,
  retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
});

/** From the narrowest to the widest. Empty: not limited. */
export type RateShares = Readonly<Record<RateUnit, readonly RateLimit[]>>;

export type TenantRateLimit = Readonly<Partial<Record<RateUnit, number>>>;

/** The part of a principal that limits it. */
interface Limited {
  readonly tenant: string;
  readonly isAdmin: boolean;
  readonly rateShares?: RateShares;
}

export interface KeyLimiter {
  /** Answers at once where nothing limits the key. */
  take(principal: Limited, unit: RateUnit, count: number): RateDecision | Promise<RateDecision>;
}

export const createKeyLimiter = ({
  limiter,
  tenantLimit,
}: {
  readonly limiter: RateLimiter;
  readonly tenantLimit: TenantRateLimit;
}): KeyLimiter => {
  /** What a narrow limit refuses uses nothing of the wider, shared ones. */
  const takeAll = async (shares: readonly RateLimit[], count: number): Promise<RateDecision> => {
    for (const share of shares) {
      const decision = await limiter.take(share, count);
      if (decision.kind === "limited") return decision;
    }
    return ALLOWED;
  };
  return {
    take: ({ rateShares, isAdmin, tenant }, unit, count) => {
      const own = rateShares?.[unit] ?? NONE;
      // The operator's own key is not the tenant's.
      const perSecond = isAdmin ? undefined : tenantLimit[unit];
      const shares =
        perSecond === undefined ? own : [...own, perSecondLimit(TENANT_HOLDER + tenant, unit, perSecond)];
      return shares.length === 0 ? ALLOWED : takeAll(shares, count);
    },
  };
};

const NONE: readonly RateLimit[] = [];

/** No id of a key has a hyphen. */
const TENANT_HOLDER = "tenant-";

export const isOfTenant = (holder: string): boolean => holder.startsWith(TENANT_HOLDER);

/** `get`: a key as it is stored, revoked ones included. Limits never change, so what is found holds as long as the key exists. */
export const rateSharesOf = (
  record: ApiKeyRecord,
  get: (id: string) => ApiKeyRecord | undefined,
): RateShares => {
  const lineage = new Set<ApiKeyRecord>();
  // The key, what it was rotated from, that one's creator, and so on.
  for (let next: ApiKeyRecord | undefined = record; next !== undefined && !lineage.has(next); ) {
    lineage.add(next);
    next = get(next.rotated_from ?? next.created_by);
  }
  return { requests: sharesOf(lineage, "requests"), events: sharesOf(lineage, "events") };
};

const sharesOf = (lineage: Iterable<ApiKeyRecord>, unit: RateUnit): readonly RateLimit[] => {
  const shares: RateLimit[] = [];
  for (const { id, rate_limit: limit } of lineage) {
    const perSecond = limit?.[`${unit}_per_second`];
    // Nobody grants more than they have, so there is no limit above a key without one.
    if (perSecond === undefined) break;
    const share = perSecondLimit(id, unit, perSecond);
    // Of keys with the same limit, the one the others derive from counts.
    if (isSameRate(share, shares.at(-1))) shares.pop();
    shares.push(share);
  }
  // Each request uses all their counters. In a longer line the widest stands for those omitted.
  return shares.length <= RATE_SHARES_MAX
    ? shares
    : [...shares.slice(0, RATE_SHARES_MAX - 1), ...shares.slice(-1)];
};

const isSameRate = (one: RateLimit, other: RateLimit | undefined): boolean =>
  one.quota === other?.quota && one.windowSeconds === other.windowSeconds;
