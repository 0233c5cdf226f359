/** The door of every route that needs a key: header → principal → scope → handler. */
import type { Actor } from "../access/action.ts";
import {
  type Authentication,
  authenticate as authenticateIn,
  authorize,
  createAuthenticator,
  type OtherTenant,
  type Principal,
} from "../access/authenticate.ts";
import type { KeyStore } from "../access/key-store.ts";
import type { RateDecision } from "../access/rate-limit.ts";
import type { Scope } from "../access/scopes.ts";
import type { SharedRateLimiter } from "../access/shared-rate-limit.ts";
import type { MadeViews } from "../projections/made-views.ts";
import { problem, rateLimited } from "./problem.ts";
import { contextOf, type RequestContext } from "./request-context.ts";

/** What a handler is given. */
export interface Call {
  readonly request: Request;
  readonly context: RequestContext;
  readonly principal: Principal;
  /** Path parameters, decoded; null where the encoding is broken. */
  readonly params: Readonly<Record<string, string | null>>;
  /**
   * Whether the key would still open this: it may be revoked or expire while a body comes, a view is waited for, or a long answer is taken. Looks into
   * memory only, 0.1 to 0.4 µs (measured).
   */
  readonly isStillAllowed: () => boolean;
  readonly madeViews: Pick<MadeViews, "check">;
}

/** Who carries out what the call asks for, as the log tells it. */
export const actorOf = ({ principal, context, isStillAllowed }: Call): Actor => ({
  principal,
  requestId: context.requestId,
  isStillAllowed,
});

export type Guard = (
  scope: Scope,
  handle: (call: Call) => Promise<Response> | Response,
) => (route: { request: Request; params: Record<string, string | null> }) => Promise<Response> | Response;

/** RFC 6750 §3. */
const CHALLENGE = { "www-authenticate": "Bearer" };

/** Told of every key that opens nothing, also of one that ends while its request is under way. */
export const INVALID_KEY = { code: "invalid_api_key", headers: CHALLENGE } as const;

export const invalidKey = (context: RequestContext): Response =>
  problem(context, INVALID_KEY.code, INVALID_KEY);

export const createGuard = (dependencies: {
  readonly keyStore: Pick<KeyStore, "get" | "admin" | "lost">;
  readonly limiter: SharedRateLimiter;
  readonly madeViews: Pick<MadeViews, "check">;
  readonly now: () => Date;
}): Guard => {
  const { keyStore, limiter, madeViews, now } = dependencies;
  const authenticate = createAuthenticator(keyStore);
  return (scope, handle) => {
    const answer = (decision: RateDecision, call: Call): Promise<Response> | Response =>
      decision.kind === "limited" ? rateLimited(call.context, decision) : handled(handle(call), call, isLost);
    /** A client takes 401 for the last word on its key. */
    const isLost = (authorization: string | null): boolean =>
      keyStore.admin() === undefined ||
      authenticateIn({ authorization, keys: keyStore.lost, now: now() }).kind === "principal";
    return ({ request, params }) => {
      const context = contextOf(request);
      const authorization = request.headers.get("authorization");
      const authentication = authenticate(authorization, now());
      if (authentication.kind === "invalid" && isLost(authorization)) return keysLost(context);
      if (authentication.kind !== "principal") return unauthenticated(context, authentication.kind);
      const { principal } = authentication;
      context.principal = principal;
      const permission = authorize(principal, scope);
      if (permission.kind !== "ok") return insufficientScope(context, permission.scope);
      const isStillAllowed = (): boolean => {
        const again = authenticate(authorization, now());
        return again.kind === "principal" && authorize(again.principal, scope).kind === "ok";
      };
      const { keyId, rateLimit } = principal;
      const rate = limiter.take({
        keyId,
        unit: "requests",
        perSecond: rateLimit?.requests_per_second,
        count: 1,
      });
      const call = { request, context, principal, params, isStillAllowed, madeViews };
      return rate instanceof Promise ? rate.then((decision) => answer(decision, call)) : answer(rate, call);
    };
  };
};

/**
 * A read may have waited half a minute for what it gives, `min_sequence` and `wait`: who may not have it any more gets none of it. What is changed is not
 * looked at here: it is done, and who asked for it is told. Behind the door 401 says that the key ended meanwhile, and nothing else.
 */
const handled = (
  response: Promise<Response> | Response,
  call: Call,
  isLost: (authorization: string | null) => boolean,
): Promise<Response> | Response => {
  if (!(response instanceof Promise)) return response;
  const { request, context } = call;
  const isRead = READS.has(request.method);
  return response.then((given) => {
    const answer = isRead && !call.isStillAllowed() ? instead(given, call) : given;
    return answer.status === 401 && isLost(request.headers.get("authorization")) ? keysLost(context) : answer;
  });
};

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** A body that is not taken holds memory, or a place among those that are open. */
const instead = (given: Response, { context }: Call): Response => {
  given.body?.cancel().catch(() => {});
  return invalidKey(context);
};

const unauthenticated = (
  context: RequestContext,
  kind: Exclude<Authentication["kind"], "principal">,
): Response => {
  switch (kind) {
    case "missing":
      return problem(context, "missing_api_key", { headers: CHALLENGE });
    case "not_bearer":
      return problem(context, "missing_api_key", { detail: NOT_BEARER, headers: CHALLENGE });
    case "several":
      return problem(context, "invalid_api_key", { detail: SEVERAL, headers: CHALLENGE });
    case "invalid":
      return invalidKey(context);
  }
};

const keysLost = (context: RequestContext): Response =>
  problem(context, "not_ready", { detail: `${NO_KEYS} Ask again.`, reasons: [NO_KEYS] });

/** For whoever asked. What the operator is to do is told by readiness. */
const NO_KEYS = "The keys are not there, so nobody knows whether this one is right.";

const NOT_BEARER =
  "The Authorization header does not begin with `Bearer` and a space: put them before the key, `Authorization: Bearer <key>`.";

const SEVERAL = "There is more than one Authorization header: send one, `Authorization: Bearer <key>`.";

export const insufficientScope = (context: RequestContext, scope: Scope): Response =>
  problem(context, "insufficient_scope", {
    detail: `The key lacks the scope ${scope}.`,
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
  });

export const otherTenant = (context: RequestContext, { path }: OtherTenant): Response =>
  problem(context, "insufficient_scope", {
    detail: "The key reaches its own tenant alone: only the admin key reaches other tenants.",
    errors: [
      {
        path,
        code: "exceeds_own",
        message: "The tenant is not that of the key: send its own or none, or use the admin key.",
      },
    ],
    headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
  });
