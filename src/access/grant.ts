/** Nobody grants more than they have. The arithmetic of that rule, for keys.ts and calendars.ts. */
import { type OtherTenant, type Principal, reaches } from "./authenticate.ts";
import { type ApiKeyRecord, EXPIRY_EXPECTED } from "./key-record.ts";
import type { KeyProblem } from "./key-request.ts";
import type { Scope } from "./scopes.ts";
import { instantOf } from "./utc-time.ts";

export type Limits = Pick<ApiKeyRecord, "expires_at" | "rate_limit">;

type Excess =
  | { readonly kind: "insufficient_scope"; readonly scope: Scope }
  | OtherTenant
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] };

/** How the grant exceeds the principal's own rights; undefined if it does not. The admin key is never exceeded. */
export const excessOver = (
  principal: Principal,
  grant: Limits & Pick<ApiKeyRecord, "tenant" | "scopes">,
): Excess | undefined => {
  if (principal.isAdmin) return undefined;
  const scope = grant.scopes.find((candidate) => !principal.scopes.includes(candidate));
  if (scope !== undefined) return { kind: "insufficient_scope", scope };
  if (!reaches(principal, grant.tenant)) return { kind: "other_tenant", path: "/tenant" };
  const problems: KeyProblem[] = [];
  const beyond = (path: string, message: string): unknown =>
    problems.push({ path, code: "exceeds_own", message });
  if (isAbove(timeOf(grant.expires_at), timeOf(principal.expiresAt)))
    beyond(
      "/expires_at",
      `The key would outlive the key that makes it: send a time up to ${principal.expiresAt}.`,
    );
  for (const name of ["requests_per_second", "events_per_second"] as const) {
    const own = principal.rateLimit?.[name];
    if (isAbove(grant.rate_limit?.[name], own))
      beyond(`/rate_limit/${name}`, `The limit is above that of the key that makes it: send at most ${own}.`);
  }
  return problems.length === 0 ? undefined : { kind: "invalid", problems };
};

/** Undefined means no bound, which is above every number. */
const isAbove = (value: number | undefined, bound: number | undefined): boolean =>
  bound !== undefined && (value === undefined || value > bound);

const timeOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time);

/** The requested limits; for those left out, the principal's own. */
export const grantedLimits = (
  principal: Principal,
  asked: Limits,
  now: Date,
):
  | { readonly kind: "ok"; readonly limits: Limits }
  | { readonly kind: "invalid"; readonly problems: readonly KeyProblem[] } => {
  const sent = asked.expires_at;
  const instant = sent === undefined ? undefined : instantOf(sent);
  if (sent !== undefined && (instant === undefined || Date.parse(instant) <= now.getTime())) {
    const message = `expires_at is not valid: send ${EXPIRY_EXPECTED}.`;
    return { kind: "invalid", problems: [{ path: "/expires_at", code: "invalid_value", message }] };
  }
  const expiresAt = instant ?? principal.expiresAt;
  const rateLimit = { ...principal.rateLimit, ...asked.rate_limit };
  const limits = {
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(Object.keys(rateLimit).length > 0 && { rate_limit: rateLimit }),
  };
  return { kind: "ok", limits };
};
