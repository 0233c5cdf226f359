/** Nobody grants more than they have. The arithmetic of that rule, for keys.ts. */
import { RATE_SHARES_MAX } from "../limits.ts";
import { type OtherTenant, type Principal, reaches } from "./authenticate.ts";
import { type ApiKeyRecord, EXPIRY_EXPECTED } from "./key-record.ts";
import type { KeyProblem } from "./key-request.ts";
import { isTooDeep } from "./rate-shares.ts";
import type { Scope } from "./scopes.ts";
import { instantOf } from "./utc-time.ts";

type RateLimit = NonNullable<ApiKeyRecord["rate_limit"]>;

export interface Limits {
  readonly expiresAt: string | undefined;
  readonly rateLimit: RateLimit | undefined;
}

interface Grant extends Limits {
  readonly tenant: string;
  readonly scopes: readonly Scope[];
}

type Excess =
  | { readonly kind: "insufficient_scope"; readonly scope: Scope }
  | OtherTenant
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] };

/** How the grant exceeds the principal's own rights; undefined if it does not. The admin key is never exceeded. */
export const excessOver = (principal: Principal, grant: Grant): Excess | undefined => {
  if (principal.isAdmin) return undefined;
  const scope = grant.scopes.find((candidate) => !principal.scopes.includes(candidate));
  if (scope !== undefined) return { kind: "insufficient_scope", scope };
  if (!reaches(principal, grant.tenant)) return { kind: "other_tenant", path: "/tenant" };
  const problems: KeyProblem[] = [];
  if (isAbove(timeOf(grant.expiresAt), timeOf(principal.expiresAt))) {
    problems.push(
      beyond(
        "/expires_at",
        `The key would outlive the key that makes it: send a time up to ${principal.expiresAt}.`,
      ),
    );
  }
  for (const name of RATES) {
    if (isAbove(grant.rateLimit?.[name], principal.rateLimit?.[name])) {
      problems.push(
        beyond(
          `/rate_limit/${name}`,
          `The limit is above that of the key that makes it: send at most ${principal.rateLimit?.[name]}.`,
        ),
      );
    }
  }
  return problems.length === 0 ? undefined : { kind: "invalid", problems };
};

/** Why the principal may make no key with one more limit of its own: each request of it would ask too many counters. */
export const depthOver = (principal: Principal, { rateLimit }: Limits): Excess | undefined => {
  const problems = UNITS.filter((unit) =>
    isTooDeep(principal.rateShares?.[unit] ?? [], rateLimit?.[`${unit}_per_second`]),
  ).map(
    (unit): KeyProblem => ({
      path: `/rate_limit/${unit}_per_second`,
      code: "too_many",
      message: `The key that makes it comes from keys with ${RATE_SHARES_MAX} different limits, which is the most: leave this out, or use another key.`,
    }),
  );
  return problems.length === 0 ? undefined : { kind: "invalid", problems };
};

const UNITS = ["requests", "events"] as const;

/** The requested limits; for those left out, the principal's own. */
export const grantedLimits = (principal: Principal, asked: Limits): Limits => {
  const rateLimit = { ...principal.rateLimit, ...asked.rateLimit };
  return {
    expiresAt: asked.expiresAt ?? principal.expiresAt,
    rateLimit: Object.keys(rateLimit).length === 0 ? undefined : rateLimit,
  };
};

/** The requested time in the spelling of the record, or why it is not valid. */
export const expiryOf = (
  asked: string | undefined,
  now: Date,
):
  | { readonly kind: "ok"; readonly expiresAt: string | undefined }
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] } => {
  if (asked === undefined) return { kind: "ok", expiresAt: undefined };
  const expiresAt = instantOf(asked);
  return expiresAt === undefined || Date.parse(expiresAt) <= now.getTime()
    ? invalidExpiry()
    : { kind: "ok", expiresAt };
};

const invalidExpiry = () => {
  const message = `expires_at is not valid: send ${EXPIRY_EXPECTED}.`;
  return { kind: "invalid", problems: [{ path: "/expires_at", code: "invalid_value", message }] } as const;
};

const RATES = ["requests_per_second", "events_per_second"] as const;

/** Undefined means no bound, which is above every number. */
const isAbove = (value: number | undefined, bound: number | undefined): boolean =>
  bound !== undefined && (value === undefined || value > bound);

const timeOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time);

const beyond = (path: string, message: string): KeyProblem => ({ path, code: "exceeds_own", message });
