/** Wraps every route that needs a key: header → principal → scope → rate → handler. */
import type { ActionRecorder } from "../../access/action.ts";
import type { ViewAction } from "../../access/administration/system-events.ts";
import {
  type Authentication,
  type Authorization,
  authenticateById,
  authenticate as authenticateIn,
  authorize,
  createAuthenticator,
  type OtherTenant,
  type Principal,
} from "../../access/authenticate.ts";
import type { KeyLimiter } from "../../access/key-limiter.ts";
import type { KeyStore } from "../../access/key-store.ts";
import type { RateDecision } from "../../access/rate-limit.ts";
import type { Scope } from "../../access/scopes.ts";
import { isOfProvider, isOver, openSession, type Session } from "../../access/session.ts";
import type { MadeViews } from "../../views/kit/made-views.ts";
import { type Access, ANY_SCOPE, rolesOf } from "./access.ts";
import type { Call } from "./call.ts";
import { problem, rateLimited } from "./problem.ts";
import { contextOf, type RequestContext } from "./request-context.ts";
import { withinSeat } from "./seat-limit.ts";
import { createSeatViews } from "./seat-views.ts";
import { CSRF_HEADER, sessionCookieOf } from "./session-cookie.ts";

interface GuardOptions {
  /** Set for a change that is possible while the log lacks its end. */
  readonly whileBehind?: true;
  /** For clients that cannot send the header: what they send in its place. */
  readonly authorizationOf?: (request: Request) => string | null;
  /** For a route that takes something else than a key; then a session does not count either. */
  readonly authenticate?: (authorization: string | null, now: Date) => Authentication;
}

export type Guard = (
  access: Access,
  handle: (call: Call) => Promise<Response> | Response,
  options?: GuardOptions,
) => (route: { request: Request; params?: Record<string, string | null> }) => Promise<Response> | Response;

/** RFC 6750 §3. */
const CHALLENGE = { "www-authenticate": "Bearer" };

/** The answer for every invalid key, also for one that ends during its request. */
export const INVALID_KEY = { code: "invalid_api_key", headers: CHALLENGE } as const;

export const invalidKey = (context: RequestContext): Response =>
  problem(context, INVALID_KEY.code, INVALID_KEY);

export const createGuard = (dependencies: {
  readonly keyStore: Pick<KeyStore, "get" | "admin" | "lost">;
  /** See SessionKeys. */
  readonly signInSecret: string | undefined;
  readonly limiter: KeyLimiter;
  readonly madeViews: Pick<MadeViews, "check">;
  /** Whether the log is known to lack its end: nothing may be written. */
  readonly isLogBehind: () => boolean;
  readonly recorder: ActionRecorder<ViewAction>;
  readonly now: () => Date;
}): Guard => {
  const { keyStore, signInSecret, limiter, madeViews, isLogBehind, recorder, now } = dependencies;
  const views = createSeatViews(recorder);
  const authenticateKey = createAuthenticator(keyStore);
  return (access, handleAll, options = {}) => {
    const { scope } = access;
    const { authenticate = authenticateKey } = options;
    const permissionOf = (principal: Principal): Authorization =>
      scope === ANY_SCOPE ? { kind: "ok" } : authorize(principal, scope);
    const answer = (decision: RateDecision, call: Call): Promise<Response> | Response =>
      decision.kind === "limited"
        ? rateLimited(call.context, decision)
        : handled(limitedTo(call), call, isLost);
    const limitedTo = (call: Call): Promise<Response> | Response => {
      const { role, covers } = call.principal;
      const handle = covers ? withinSeat(access.seat, covers, handleAll) : handleAll;
      return role === "auditor" && access.isRecorded ? views.recorded(call, handle) : handle(call);
    };
    /** Whether the key may be right but is lost: a client takes 401 as final, so such a key gets 503. */
    const isLost = (authorization: string | null, seatId?: string): boolean =>
      keyStore.admin() === undefined ||
      (seatId !== undefined && keyStore.lost.get(seatId) !== undefined) ||
      authenticateIn({ authorization, keys: keyStore.lost, now: now() }).kind === "principal";
    /** The header says who asks; a cookie counts only without one, because browsers add it by themselves. */
    const sessionOf = (request: Request, sent: string | null): Session | "ended" | undefined => {
      if (sent !== null || options.authenticate) return undefined;
      const sealed = sessionCookieOf(request.headers);
      if (sealed === undefined) return undefined;
      const openWith = ({ get, admin }: Pick<KeyStore, "get" | "admin">) =>
        openSession(sealed, { get, admin, signInSecret }, now());
      return openWith(keyStore) ?? openWith(keyStore.lost) ?? "ended";
    };
    // The framework gives no parameters where the path has none.
    return ({ request, params = {} }) => {
      const context = contextOf(request);
      const sent = options.authorizationOf?.(request) ?? request.headers.get("authorization");
      const session = sessionOf(request, sent);
      if (session === "ended") return problem(context, "session_ended", { headers: CHALLENGE });
      const seatId = session && isOfProvider(session) ? session.keyId : undefined;
      const authorization = session?.apiKey ? `Bearer ${session.apiKey}` : sent;
      const authenticateNow = (): Authentication =>
        seatId === undefined ? authenticate(authorization, now()) : authenticateById(seatId, keyStore, now());
      const authentication = authenticateNow();
      if (authentication.kind === "invalid" && isLost(authorization, seatId)) return keysLost(context);
      if (authentication.kind !== "principal") return unauthenticated(context, authentication.kind);
      const { principal } = authentication;
      context.principal = principal;
      const permission = permissionOf(principal);
      if (permission.kind !== "ok") return insufficientScope(context, permission.scope);
      if (principal.role === "developer" && !access.isForDevelopers) return outsideRole(context, access);
      // A classification, the one POST of any key, changes nothing.
      if (session && scope !== ANY_SCOPE && !hasToken(request, session))
        return problem(context, "csrf_token_required");
      if (isLogBehind() && !READS.has(request.method) && !options.whileBehind)
        return problem(context, "log_behind");
      const isStillAllowed = (): boolean => {
        const again = authenticateNow();
        if (session && isOver(session, now())) return false;
        return again.kind === "principal" && permissionOf(again.principal).kind === "ok";
      };
      const rate = limiter.take(principal, "requests", 1);
      const call = {
        ...{ request, context, principal, params, isStillAllowed, madeViews },
        ...(session && { session }),
      };
      return rate instanceof Promise ? rate.then((decision) => answer(decision, call)) : answer(rate, call);
    };
  };
};

/**
 * Checks the key again before the result of a read is sent: the read may have waited half a minute (`min_sequence`, `wait`). The result of
 * a change is sent all the same, because it is done. A handler answers 401 only if the key ended meanwhile.
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
    const answer = isRead && !call.isStillAllowed() ? refusedInstead(given, call) : given;
    return answer.status === 401 && isLost(request.headers.get("authorization")) ? keysLost(context) : answer;
  });
};

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

const hasToken = ({ method, headers }: Request, { csrfToken }: Session): boolean =>
  READS.has(method) || headers.get(CSRF_HEADER) === csrfToken;

/** Cancels the unused body, which holds memory or a place among the open streams. */
const refusedInstead = (given: Response, { context }: Call): Response => {
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

/** The text for the client. Readiness has the advice for the operator. */
const NO_KEYS = "The keys are not loaded, so this key cannot be checked.";

const NOT_BEARER =
  "The Authorization header does not begin with `Bearer` and a space: put them before the key, `Authorization: Bearer <key>`.";

const SEVERAL = "There is more than one Authorization header: send one, `Authorization: Bearer <key>`.";

const outsideRole = (context: RequestContext, access: Access): Response =>
  problem(context, "outside_role", {
    detail: `The key is a seat of the role developer, which may not do this. These roles may: ${rolesOf(access).join(", ")}.`,
  });

export const insufficientScope = (
  context: RequestContext,
  scope: Scope,
  detail = `The key lacks the scope ${scope}.`,
): Response =>
  problem(context, "insufficient_scope", {
    detail,
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
