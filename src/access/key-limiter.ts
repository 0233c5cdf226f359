/** Limits by the key that is used: its own, those of the keys that it comes from, and that of its tenant. */
import type { Principal } from "./authenticate.ts";
import type { RateDecision, RateUnit } from "./rate-limit.ts";
import { NO_SHARES, type RateShare } from "./rate-shares.ts";
import type { SharedRateLimiter } from "./shared-rate-limit.ts";

export type TenantRateLimit = Readonly<Partial<Record<RateUnit, number>>>;

export interface KeyLimiter {
  /** Answers at once while leases last. */
  take(principal: Principal, unit: RateUnit, count: number): RateDecision | Promise<RateDecision>;
}

export const createKeyLimiter = ({
  shared,
  tenantLimit,
}: {
  readonly shared: SharedRateLimiter;
  readonly tenantLimit: TenantRateLimit;
}): KeyLimiter => {
  /** From the narrowest to the widest: what a narrow limit refuses uses up nothing of the wider ones, which others share. */
  const takeFrom = (
    shares: readonly RateShare[],
    request: { readonly principal: Principal; readonly unit: RateUnit; readonly count: number },
  ): RateDecision | Promise<RateDecision> => {
    const { principal, unit, count } = request;
    for (const [index, { holder, perSecond }] of shares.entries()) {
      const decision = shared.take({ keyId: holder, unit, perSecond, count });
      if (decision instanceof Promise)
        return decision.then((later) =>
          later.kind === "limited"
            ? shown(later, holder, principal)
            : takeFrom(shares.slice(index + 1), request),
        );
      if (decision.kind === "limited") return shown(decision, holder, principal);
    }
    return ALLOWED;
  };
  return {
    take: (principal, unit, count) => {
      // The operator's own key is not the tenant's.
      const perSecond = principal.isAdmin ? undefined : tenantLimit[unit];
      const own = (principal.rateShares ?? NO_SHARES)[unit];
      const shares =
        perSecond === undefined ? own : [...own, { holder: tenantHolder(principal.tenant), perSecond }];
      return shares.length === 0 ? ALLOWED : takeFrom(shares, { principal, unit, count });
    },
  };
};

const ALLOWED: RateDecision = { kind: "allowed" };

/** No id of a key has a hyphen. */
const tenantHolder = (tenant: string): string => `tenant-${tenant}`;

const shown = (
  decision: Extract<RateDecision, { readonly kind: "limited" }>,
  holder: string,
  { keyId, tenant }: Principal,
): RateDecision => {
  if (holder === keyId) return decision;
  return { ...decision, sharedBy: holder === tenantHolder(tenant) ? "tenant" : "keys" };
};
