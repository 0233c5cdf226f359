/** The session of a browser: signing in with an API key, who is signed in, signing out. */
import { Type } from "@sinclair/typebox";
import type { Actor } from "../../access/action.ts";
import type { SessionAction } from "../../access/administration/system-events.ts";
import { authenticateById } from "../../access/authenticate.ts";
import { ScopeSchema } from "../../access/scopes.ts";
import { Covers, Person, RoleSchema } from "../../access/seats.ts";
import { isOfProvider, type Session, sealSession, startSession } from "../../access/session.ts";
import type { SignInFailure, SignInSettings, Wish } from "../../access/sign-in-provider.ts";
import { SYSTEM_TENANT, TenantSchema } from "../../access/tenant.ts";
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from "../../limits.ts";
import { searchEvents } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { OWN_SESSION } from "../http/access.ts";
import { give, givePage, invalid, isRefusal, type Refusal, refuse, respond } from "../http/answers.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { Dependencies, SignIn } from "../http/dependencies.ts";
import { INVALID_CURSOR } from "../http/lists.ts";
import { allOf, choiceOrNone, integer, readQuery, tenant as tenantAsked, text } from "../http/parameters.ts";
import { refusedChange } from "../http/refused-change.ts";
import { contextOf, type RequestContext, requestUrl } from "../http/request-context.ts";
import { hidden, type Route } from "../http/route.ts";
import { str, Time, time } from "../http/schemas.ts";
import {
  endedCookies,
  endedSignInCookie,
  providerSessionCookie,
  sessionCookie,
  signInCookie,
  signInCookieOf,
} from "../http/session-cookie.ts";
import { CONSOLE_PATHS } from "./pages.ts";

const SESSION = { tag: "Keys", access: OWN_SESSION } as const;

export const sessionRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, now } = dependencies;
  return [
    route({
      ...SESSION,
      on: "POST /v1/session",
      whileBehind: true,
      id: "startSession",
      summary: "Sign in: a cookie for this key",
      description: `Browsers send the cookie instead of the key, so they store no key. It is HttpOnly and SameSite=Strict; on plain HTTP it works on loopback only. The session ends with its key, after ${SESSION_IDLE_MS_MAX / 60_000} minutes without a request to \`GET /v1/session\`, and after ${SESSION_MS_MAX / 3_600_000} hours. The sign-in is written to the log.`,
      query: {
        once: choiceOrNone(
          "once",
          "`true`: the key stops working. A successor that nobody sees replaces it. For links.",
          ["true", "false"],
        ),
      },
      status: 201,
      gives: SessionView,
      problems: ["log_unavailable", "changed_meanwhile", "overloaded", "not_found"],
      answer: (call) => signIn(dependencies, call, call.asked.once === "true"),
    }),
    route({
      ...SESSION,
      on: "GET /v1/session",
      id: "readSession",
      summary: "Who is signed in",
      description: "For a session or the key that is sent. Renews a session's cookie.",
      gives: SessionView,

      // Asking counts as activity.
      answer: (call) =>
        giveSession(dependencies, call, call.session && { ...call.session, usedAt: now().getTime() }),
    }),
    viewsRoute(dependencies),
    route({
      ...SESSION,
      on: "DELETE /v1/session",
      whileBehind: true,
      id: "endSession",
      summary: "Sign out",
      description:
        "Removes the cookie from the browser. A user of a sign-in provider continues at `continue_at`, to sign out there too. To end someone else's session, revoke or rotate its key.",
      gives: Type.Object({
        signed_out: Type.Literal(true),
        continue_at: Type.Optional(
          Type.String({
            format: "uri",
            description:
              "Where to sign out at the provider (OpenID Connect RP-Initiated Logout); absent if that is not needed or not offered.",
            examples: ["https://id.example.com/logout"],
          }),
        ),
      }),
      answer: (call) => signOut(dependencies, call),
    }),
  ];
};

const signIn = async (dependencies: Dependencies, call: Call, isOnce: boolean) => {
  const { now, randomBytes } = dependencies;
  const { principal } = call;
  // A session that could start another would never end.
  if (call.session) return refuse("missing_api_key", NEEDS_KEY);
  const key = isOnce ? await successorOf(dependencies, call) : keyOf(call);
  if (isRefusal(key)) return key;
  // A replaced key has ended.
  const by = { ...actorOf(call), principal: { ...principal, keyId: key.keyId } };
  if (!(await recordSignIn(dependencies, by, { key_id: key.keyId })))
    return refuse("log_unavailable", NOT_RECORDED);
  return giveSession(dependencies, call, startSession(key, now(), randomBytes));
};

type SessionKey = Required<Pick<Session, "keyId" | "apiKey">>;

const keyOf = ({ request, principal }: Call): SessionKey => ({
  keyId: principal.keyId,
  apiKey: request.headers.get("authorization")?.trim().split(/ +/).at(1) ?? "",
});

/** A successor that nobody sees replaces the key, so that its link stops working. */
const successorOf = async ({ keys }: Dependencies, call: Call): Promise<SessionKey | Refusal> => {
  const id = call.principal.keyId;
  const rotated = await keys.rotate({ by: actorOf(call), id, request: { grace_seconds: 0 } });
  return rotated.kind === "rotated"
    ? { keyId: rotated.key.id, apiKey: rotated.apiKey }
    : refusedChange(rotated);
};

const giveSession = (
  { keyStore, signIn: provider, randomBytes }: Dependencies,
  { request, principal }: Call,
  session: Session | undefined,
) => {
  const { tenant, scopes } = principal;
  const keyId = session?.keyId ?? principal.keyId;
  const { name, role, person, covers, expires_at: seatEndsAt } = keyStore.get(keyId) ?? {};
  const keys = { get: keyStore.get, admin: keyStore.admin, signInSecret: provider?.settings.clientSecret };
  const sealed = session && sealSession(session, keys, randomBytes);
  if (session && sealed === undefined) return refuse("session_ended");
  // JSON leaves out what is undefined.
  const data = {
    tenant,
    key_id: keyId,
    key_name: name,
    scopes,
    role,
    person,
    covers,
    seat_ends_at: seatEndsAt,
    csrf_token: session?.csrfToken,
    expires_at: session && new Date(session.startedAt + SESSION_MS_MAX).toISOString(),
  };
  return sealed === undefined ? give(data) : give(data, { "set-cookie": sessionCookie(request, sealed) });
};

/** The system tenant's events about what this key opened, nobody else's. */
const viewsRoute = ({ route, views }: Dependencies): Route =>
  route({
    ...SESSION,
    on: "GET /v1/session/views",
    id: "listViews",
    summary: "What this seat has looked at",
    description:
      "What an auditor's seat opened, newest first: once for each query and session. Empty for other keys, for which this is not recorded.",
    views: [EVENTS_VIEW],
    query: {
      limit: integer("limit", "Rows at most.", { min: 1, max: PAGE_ROWS_MAX }),
      cursor: text("cursor", "`next_cursor` of the previous page."),
    },
    isList: true,
    gives: Type.Object({
      viewed_at: Time,
      route: Type.String(),
      path: Type.String(),
      filters: Type.Record(Type.String(), Type.Array(Type.String())),
    }),
    answer: async ({ principal, asked: { limit = PAGE_ROWS_DEFAULT, cursor } }) => {
      const found = await searchEvents(views, SYSTEM_TENANT, {
        limit,
        cursor,
        eventType: "system.viewed",
        tags: [{ key: "actor", value: principal.keyId }],
        timeField: "timestamp",
        order: "desc",
      });
      if (found.kind === "invalid_cursor") return INVALID_CURSOR;
      const texts = found.rows.map(({ eventText }) => {
        const { timestamp, metadata } = JSON.parse(eventText);
        const { route: pattern, path, filters } = metadata;
        return JSON.stringify({ viewed_at: timestamp, route: pattern, path, filters });
      });
      return givePage(texts, found.nextCursor);
    },
  });

const signOut = async ({ signIn: provider }: Dependencies, { context, session }: Call): Promise<Response> => {
  const back =
    provider && session && isOfProvider(session)
      ? new URL("sign-in", consoleOf(provider.settings))
      : undefined;
  const address = back && (await provider?.provider.signOutAddress(back));
  const response = respond(
    context,
    give({ signed_out: true, ...(address && { continue_at: address.href }) }),
  );
  for (const cookie of endedCookies) response.headers.append("set-cookie", cookie);
  return response;
};

const NEEDS_KEY =
  "Signing in needs the key itself: `Authorization: Bearer <key>`. A session cannot start another.";
const NOT_RECORDED = "The sign-in could not be recorded in the log, so it was refused. Try again.";

const SessionView = Type.Object({
  tenant: TenantSchema,
  key_id: str("The key behind the session; `admin` for the admin key."),
  key_name: Type.Optional(Type.String()),
  scopes: Type.Array(ScopeSchema),
  role: Type.Optional(RoleSchema),
  person: Type.Optional(Person),
  covers: Type.Optional(Covers),
  seat_ends_at: Type.Optional(time("When the key and its sessions end.")),
  csrf_token: Type.Optional(
    str("For the `X-CSRF-Token` header of every write in the session. Absent without a session."),
  ),
  expires_at: Type.Optional(time("When the session ends at the latest.")),
});

const START_PATH = "/v1/session/oidc";
export const CALLBACK_PATH = `${START_PATH}/callback`;

type Asked = SignIn &
  Omit<Dependencies, "signIn"> & { readonly request: Request; readonly context: RequestContext };

/**
 * Signing in with OpenID Connect. Both addresses are for browsers, so every answer leads to a page of the console, which says what went wrong.
 * The session's cookie is Strict, so the redirect from the provider does not send it; the page's own requests do.
 */
export const signInRoutes = ({ signIn: provider, ...dependencies }: Dependencies): readonly Route[] => {
  const route = (path: string, answer: (asked: Asked) => Promise<Response>): Route =>
    hidden(path, ({ request }) => {
      const context = contextOf(request);
      return provider === undefined
        ? respond(context, refuse("not_found", NOT_SET_UP))
        : answer({ ...dependencies, ...provider, request, context });
    });
  return [route(START_PATH, start), route(CALLBACK_PATH, finish)];
};

const WISH = allOf({ next: text("next", ""), tenant: tenantAsked("") });

const start = async (asked: Asked): Promise<Response> => {
  const { context, request, provider, settings } = asked;
  const query = readQuery(request.url);
  const { next, tenant } = WISH.read(query);
  const errors = query.errors();
  if (errors.length > 0) return respond(context, invalid(errors));
  const wish = { next: screenOf(next, consoleOf(settings)), ...(tenant !== undefined && { tenant }) };
  const begun = await provider.begin(wish);
  if (begun.kind === "failed") return refuseSignIn(asked, begun, wish);
  return redirect(context, begun.address, [signInCookie(settings.redirectUri, begun.kept)]);
};

const finish = async (asked: Asked): Promise<Response> => {
  const { context, request, provider, settings, findSeat } = asked;
  const { redirectUri } = settings;
  const kept = signInCookieOf(redirectUri, request.headers);
  const person = await provider.finish(kept, requestUrl(request.url).searchParams);
  if (person.kind === "failed") return refuseSignIn(asked, person, person.wish);
  const seat = await findSeat(person, context.requestId);
  const cookie = seat.kind === "failed" ? seat : await sessionOf(asked, seat.keyId);
  if (typeof cookie !== "string") return refuseSignIn(asked, cookie, person.wish);
  const cookies = [providerSessionCookie(redirectUri, cookie), endedSignInCookie(redirectUri)];
  return redirect(context, new URL(person.wish.next, consoleOf(settings)), cookies);
};

/** The value of the cookie, once the log has the sign-in. */
const sessionOf = async (asked: Asked, keyId: string): Promise<string | SignInFailure> => {
  const { context, settings, keyStore, now, randomBytes } = asked;
  const seat = authenticateById(keyId, keyStore, now());
  if (seat.kind !== "principal") return SEAT_ENDED;
  const { principal } = seat;
  context.principal = principal;
  const by = { principal, requestId: context.requestId };
  if (!(await recordSignIn(asked, by, { key_id: keyId, issuer: settings.issuer.href })))
    return { kind: "failed", problem: "not_recorded", detail: "the log did not accept its record" };
  const keys = { get: keyStore.get, admin: keyStore.admin, signInSecret: settings.clientSecret };
  return sealSession(startSession({ keyId }, now(), randomBytes), keys, randomBytes) ?? SEAT_ENDED;
};

/** False: the log did not accept it, so nobody is signed in. */
const recordSignIn = async (
  { recorder }: Pick<Dependencies, "recorder">,
  by: Actor,
  details: SessionAction["details"],
): Promise<boolean> => {
  const action = { type: "system.session_started", tenant: by.principal.tenant, details } as const;
  const recorded = await recorder.carryOut({ by, action, work: async () => ({ kind: "written" }) });
  return recorded.kind === "written";
};

const SEAT_ENDED: SignInFailure = {
  kind: "failed",
  problem: "seat_ended",
  detail: "the seat ended during the sign-in",
};

/** To the sign-in page. A sign-in counts once, whatever its result. */
const refuseSignIn = (
  { context, settings, logger }: Asked,
  { problem: reason, detail }: SignInFailure,
  wish: Wish | undefined,
): Response => {
  logger.warn("a sign-in was refused", { request_id: context.requestId, code: reason, detail });
  const page = new URL("sign-in", consoleOf(settings));
  page.searchParams.set("problem", reason);
  if (wish?.next) page.searchParams.set("next", `./${wish.next}`);
  return redirect(context, page, [endedSignInCookie(settings.redirectUri)]);
};

const redirect = ({ requestId }: RequestContext, location: URL, cookies: readonly string[]): Response =>
  new Response(null, {
    status: 303,
    headers: [
      ["location", location.href],
      ["cache-control", "no-store"],
      ["referrer-policy", "no-referrer"],
      ["x-request-id", requestId],
      ...cookies.map((cookie): [string, string] => ["set-cookie", cookie]),
    ],
  });

/** The address of the console as browsers see it, with a slash at its end. */
export const consoleOf = ({ redirectUri }: SignInSettings): URL =>
  new URL(redirectUri.href.slice(0, 1 - CALLBACK_PATH.length));

/** It travels in a cookie, which browsers limit to 4096 bytes (RFC 6265 §6.1). */
const NEXT_CHARACTERS_MAX = 2000;

/** A screen of this console with its parameters; the overview for any other address. Relative to the console. */
const screenOf = (next: string | undefined, root: URL): string => {
  if (next === undefined || next.length > NEXT_CHARACTERS_MAX || !URL.canParse(next, root.href)) return "";
  const { origin, pathname, search } = new URL(next, root);
  const screen = pathname.slice(root.pathname.length);
  const isOurs = origin === root.origin && pathname.startsWith(root.pathname) && screen !== "sign-in";
  return isOurs && CONSOLE_PATHS.some((path) => path === `/${screen}`) ? screen + search : "";
};

const NOT_SET_UP =
  "Signing in with OpenID Connect is not set up here: the operator sets OIDC_ISSUER and related settings. Sign in with an API key.";
