/** Wraps every route that needs a key: header → principal → scope → rate → answer. */
import type { ActionRecorder } from "../../access/action.ts";
import type { ViewAction } from "../../access/administration/system-events.ts";
import {
  type Authentication,
  type Authorization,
  authenticateById,
  authenticate as authenticateIn,
  authorize,
  createAuthenticator,
  OK,
  type Principal,
} from "../../access/authenticate.ts";
import type { KeyStore } from "../../access/key-store.ts";
import type { KeyLimiter } from "../../access/rate-limit.ts";
import type { Scope } from "../../access/scopes.ts";
import { isOfProvider, isOver, openSession, type Session } from "../../access/session.ts";
import type { ViewReadiness } from "../../views/kit/view-readiness.ts";
import { type Access, ANY_SCOPE, rolesOf } from "./access.ts";
import { type Answered, type Refusal, refuse, respond, responseOf } from "./answers.ts";
import type { Call } from "./call.ts";
import { limitedRate, problem } from "./problem.ts";
import { contextOf } from "./request-context.ts";
import { createSeatViews, withinSeat } from "./seat-limit.ts";
import { CSRF_HEADER, sessionCookieOf } from "./session-cookie.ts";

interface GuardOptions {
  /** Set for a change that is allowed while the log lacks its end. */
  readonly whileBehind?: true;
  /** What clients that cannot send the header send instead. */
  readonly authorizationOf?: (request: Request) => string | null;
  /** For a route that takes something other than a key; sessions do not count either. */
  readonly authenticate?: (authorization: string | null, now: Date) => Authentication;
  /** Of an answer that is given as data. */
  readonly status?: number;
}

type Handle = (call: Call) => Promise<Response> | Response;

export type Guard = (
  access: Access,
  answer: (call: Call) => Promise<Answered> | Answered,
  options?: GuardOptions,
) => (route: { request: Request; params?: Record<string, string | null> }) => Promise<Response> | Response;

const CHALLENGE = { "www-authenticate": "Bearer" };

/** The answer to an invalid key, and to a key that ends while its request runs. */
export const KEY_ENDED = refuse("invalid_api_key", { headers: CHALLENGE });

export const createGuard = (dependencies: {
  readonly keyStore: Pick<KeyStore, "get" | "admin" | "lost">;
  readonly signInSecret: string | undefined;
  readonly limiter: KeyLimiter;
  readonly viewReadiness: Pick<ViewReadiness, "check">;
  /** Whether the log is known to lack its end: nothing may be written. */
  readonly isLogBehind: () => boolean;
  readonly recorder: ActionRecorder<ViewAction>;
  readonly now: () => Date;
}): Guard => {
  const { keyStore, signInSecret, limiter, viewReadiness, isLogBehind, recorder, now } = dependencies;
  const views = createSeatViews(recorder);
  const authenticateKey = createAuthenticator(keyStore);
  /** The header says who asks; a cookie counts only without one, because browsers add it by themselves. */
  const sessionOf = (request: Request): Session | "ended" | undefined => {
    const sealed = sessionCookieOf(request.headers);
    if (sealed === undefined) return undefined;
    const openWith = ({ get, admin }: Pick<KeyStore, "get" | "admin">) =>
      openSession(sealed, { get, admin, signInSecret }, now());
    return openWith(keyStore) ?? openWith(keyStore.lost) ?? "ended";
  };
  /** Whether the key may be right but is lost: a client takes 401 as final, so such a key gets 503. */
  const isLost = (authorization: string | null, seatId?: string): boolean =>
    keyStore.admin() === undefined ||
    (seatId !== undefined && keyStore.lost.get(seatId) !== undefined) ||
    authenticateIn({ authorization, keys: keyStore.lost, now: now() }).kind === "principal";
  const inSeat = (access: Access, call: Call, handleAll: Handle): Promise<Response> | Response => {
    const { role, covers } = call.principal;
    const handle = covers ? withinSeat(access.seat, covers, handleAll) : handleAll;
    return role === "auditor" && access.isRecorded ? views.recorded(call, handle) : handle(call);
  };
  return (access, answer, options = {}) =>
    // The framework gives no parameters where the path has none.
    async ({ request, params = {} }) => {
      const context = contextOf(request);
      const { authenticate = authenticateKey } = options;
      const sent = options.authorizationOf?.(request) ?? request.headers.get("authorization");
      const session = sent === null && !options.authenticate ? sessionOf(request) : undefined;
      if (session === "ended") return problem(context, "session_ended", { headers: CHALLENGE });
      const seatId = session && isOfProvider(session) ? session.keyId : undefined;
      const authorization = session?.apiKey ? `Bearer ${session.apiKey}` : sent;
      const authenticateNow = (): Authentication =>
        seatId === undefined ? authenticate(authorization, now()) : authenticateById(seatId, keyStore, now());
      const authentication = authenticateNow();
      if (authentication.kind === "invalid" && isLost(authorization, seatId))
        return respond(context, KEYS_LOST);
      if (authentication.kind !== "principal") return respond(context, UNKNOWN[authentication.kind]);
      const { principal } = authentication;
      context.principal = principal;
      const isRead = READS.has(request.method);
      const isBehind = isLogBehind() && !isRead && !options.whileBehind;
      const refusal =
        refusalOf(principal, access) ?? (isRead ? undefined : tokenMissing(request, session, access));
      if (refusal || isBehind) return respond(context, refusal ?? refuse("log_behind"));
      const taken = limiter.take(principal, "requests", 1);
      const decision = taken instanceof Promise ? await taken : taken;
      if (decision.kind === "limited")
        return problem(context, "rate_limited", limitedRate(decision, principal.keyId));
      const isStillAllowed = (): boolean => {
        const again = authenticateNow();
        if (session && isOver(session, now())) return false;
        return again.kind === "principal" && permissionOf(again.principal, access).kind === "ok";
      };
      const call = { request, context, principal, params, isStillAllowed, viewReadiness };
      const asked = session ? { ...call, session } : call;
      const answered = await (principal.role === undefined && !principal.covers
        ? answer(asked)
        : inSeat(access, asked, async (each) => responseOf(context, await answer(each), options.status)));
      const made = responseOf(context, answered, options.status);
      const given = made instanceof Promise ? await made : made;
      // Its body may have been slow, or it waited. A change is done, so its result is sent all the same.
      const mustBeAllowed = isRead || access.scope === ANY_SCOPE || !given.ok;
      const hasEnded = mustBeAllowed && !isStillAllowed();
      // A handler answers 401 where the key ended meanwhile.
      const instead =
        (hasEnded || given.status === 401) && isLost(request.headers.get("authorization"))
          ? KEYS_LOST
          : hasEnded
            ? KEY_ENDED
            : undefined;
      if (instead === undefined) return given;
      // The unused body holds memory, or a place among the open streams.
      given.body?.cancel().catch(() => {});
      return respond(context, instead);
    };
};

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

const permissionOf = (principal: Principal, { scope }: Access): Authorization =>
  scope === ANY_SCOPE ? OK : authorize(principal, scope);

const refusalOf = (principal: Principal, access: Access): Refusal | undefined => {
  const permission = permissionOf(principal, access);
  if (permission.kind !== "ok") return insufficientScope(permission.scope);
  return principal.role === "developer" && !access.isForDevelopers
    ? refuse(
        "outside_role",
        `The key is a seat of the role developer, which may not do this. Roles that may: ${rolesOf(access).join(", ")}.`,
      )
    : undefined;
};

/** A classification, the one POST of any key, changes nothing. */
const tokenMissing = (
  { headers }: Request,
  session: Session | undefined,
  { scope }: Access,
): Refusal | undefined =>
  session && scope !== ANY_SCOPE && headers.get(CSRF_HEADER) !== session.csrfToken
    ? refuse("csrf_token_required")
    : undefined;

const NO_KEYS = "The keys are not loaded, so this key cannot be checked.";
const KEYS_LOST = refuse("not_ready", { detail: `${NO_KEYS} Retry.`, reasons: [NO_KEYS] });

const UNKNOWN: Readonly<Record<Exclude<Authentication["kind"], "principal">, Refusal>> = {
  missing: refuse("missing_api_key", { headers: CHALLENGE }),
  not_bearer: refuse("missing_api_key", {
    detail:
      "The Authorization header does not begin with `Bearer` and a space: put them before the key, `Authorization: Bearer <key>`.",
    headers: CHALLENGE,
  }),
  several: refuse("invalid_api_key", {
    detail: "There is more than one Authorization header: send one, `Authorization: Bearer <key>`.",
    headers: CHALLENGE,
  }),
  invalid: KEY_ENDED,
};

export const insufficientScope = (scope: Scope, detail = `The key lacks the scope ${scope}.`): Refusal =>
  refuse("insufficient_scope", {
    detail,
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
  });
