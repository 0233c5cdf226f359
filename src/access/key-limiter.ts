/**
 * The limits of a key: its own, those of the keys that it comes from, and that of its tenant. So a key that makes others, or is rotated, gets
 * no more through with them than alone.
 */
import { RATE_SHARES_MAX } from "../limits.ts";
import type { ApiKeyRecord } from "./key-record.ts";
import {
  perSecondLimit,
  type RateDecision,
  type RateLimit,
  type RateLimiter,
  type RateUnit,
} from "./rate-limit.ts";

/** From the narrowest to the widest. Empty: not limited. */
export type RateShares = Readonly<Record<RateUnit, readonly RateLimit[]>>;

export type TenantRateLimit = Readonly<Partial<Record<RateUnit, number>>>;

/** The part of a principal that says what limits it. */
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
  const tenantShares = ({ isAdmin, tenant }: Limited, unit: RateUnit): readonly RateLimit[] => {
    // The operator's own key is not the tenant's.
    const perSecond = isAdmin ? undefined : tenantLimit[unit];
    return perSecond === undefined ? [] : [perSecondLimit(TENANT_HOLDER + tenant, unit, perSecond)];
  };
  /** What a narrow limit refuses uses up nothing of the wider ones, which others share. */
  const takeAll = async (shares: readonly RateLimit[], count: number): Promise<RateDecision> => {
    for (const share of shares) {
      const decision = await limiter.take(share, count);
      if (decision.kind === "limited") return decision;
    }
    return ALLOWED;
  };
  return {
    take: (principal, unit, count) => {
      const shares = [...(principal.rateShares?.[unit] ?? []), ...tenantShares(principal, unit)];
      return shares.length === 0 ? ALLOWED : takeAll(shares, count);
    },
  };
};

const ALLOWED: RateDecision = { kind: "allowed" };

/** No id of a key has a hyphen. */
const TENANT_HOLDER = "tenant-";

export const isOfTenant = (holder: string): boolean => holder.startsWith(TENANT_HOLDER);

/** `get`: a key as it is stored, revoked ones included. Limits never change, so what is found holds as long as the key exists. */
export const rateSharesOf = (
  record: ApiKeyRecord,
  get: (id: string) => ApiKeyRecord | undefined,
): RateShares => {
  const lineage = new Set<ApiKeyRecord>();
  // The key, what it was rotated from, the key that made that, and so on.
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
    // Nobody grants more than they have, so above a key without a limit there is none.
    if (perSecond === undefined) break;
    const share = perSecondLimit(id, unit, perSecond);
    // Of keys with the same limit the one that the others come from counts.
    if (isSameRate(share, shares.at(-1))) shares.pop();
    shares.push(share);
  }
  // Each request asks the counters of all. Of a longer line the widest stands for those that are left out.
  return shares.length <= RATE_SHARES_MAX
    ? shares
    : [...shares.slice(0, RATE_SHARES_MAX - 1), ...shares.slice(-1)];
};

const isSameRate = (one: RateLimit, other: RateLimit | undefined): boolean =>
  one.quota === other?.quota && one.windowSeconds === other.windowSeconds;
