/** The session of a browser: signing in with an API key, who is signed in, signing out. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ActionRecorder } from "../../access/action.ts";
import type { SessionAction } from "../../access/administration/system-events.ts";
import type { RandomBytes } from "../../access/api-key.ts";
import type { KeyStore } from "../../access/key-store.ts";
import type { Keys } from "../../access/keys.ts";
import { ScopeSchema } from "../../access/scopes.ts";
import { Covers, Person, RoleSchema } from "../../access/seats.ts";
import { isOfProvider, type Session, sealSession, startSession } from "../../access/session.ts";
import { SYSTEM_TENANT, TenantSchema } from "../../access/tenant.ts";
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from "../../limits.ts";
import { searchEvents } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { OWN_SESSION } from "../http/access.ts";
import { actorOf, type Call } from "../http/call.ts";
import { type Guard, insufficientScope } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation, type Parameter } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { type Query, readQuery } from "../http/query.ts";
import { invalidCursor, MIN_SEQUENCE, parameter, reading } from "../http/reading.ts";
import { refusedChange } from "../http/refused-change.ts";
import { dataOf, listOf } from "../http/schemas.ts";
import { endedCookies, sessionCookie } from "../http/session-cookie.ts";
import { success, successList } from "../http/success.ts";
import { withoutQuery } from "../http/without-query.ts";
import { consoleOf, type SignIn } from "./sign-in.ts";

interface Dependencies {
  readonly keys: Pick<Keys, "rotate">;
  readonly keyStore: Pick<KeyStore, "get" | "admin">;
  readonly signIn: SignIn | undefined;
  readonly recorder: ActionRecorder<SessionAction>;
  readonly views: ViewStore;
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
}

export const sessionRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" })
    .post(
      "/session",
      guard(OWN_SESSION, (call) => signIn(dependencies, call), { whileBehind: true }),
      { parse: "none", detail: describe(SIGN_IN) },
    )
    .get(
      "/session",
      guard(
        OWN_SESSION,
        withoutQuery(async (call) => readSession(dependencies, call)),
      ),
      { detail: describe(READ) },
    )
    .get(
      "/session/views",
      guard(
        OWN_SESSION,
        reading(dependencies.views, {
          view: EVENTS_VIEW,
          ask: (query) => ({
            limit: query.integer("limit", { min: 1, max: PAGE_ROWS_MAX }) ?? PAGE_ROWS_DEFAULT,
            cursor: query.text("cursor"),
          }),
          answer: (page, call) => listViews(dependencies.views, page, call),
        }),
      ),
      { detail: describe(VIEWS) },
    )
    .delete(
      "/session",
      guard(
        OWN_SESSION,
        withoutQuery((call) => signOut(dependencies, call)),
        { whileBehind: true },
      ),
      { parse: "none", detail: describe(SIGN_OUT) },
    );

const readOnce = (query: Query): boolean => query.oneOf("once", ["true", "false"]) === "true";

const signIn = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const { recorder, now, randomBytes } = dependencies;
  const { context, principal, request } = call;
  const query = readQuery(request.url);
  const isOnce = readOnce(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  // A session that could make the next one would have no end.
  if (call.session) return problem(context, "missing_api_key", { detail: NEEDS_KEY });
  const key = isOnce ? await successorOf(dependencies, call) : keyOf(call);
  if (key instanceof Response) return key;
  const recorded = await recorder.carryOut({
    by: actorOf({ ...call, isStillAllowed: () => true }),
    action: { type: "system.session_started", tenant: principal.tenant, details: { key_id: key.keyId } },
    work: async () => ({ kind: "written" }),
  });
  if (recorded.kind !== "written") return problem(context, "log_unavailable", { detail: NOT_RECORDED });
  return answerSession(dependencies, call, startSession(key, now(), randomBytes));
};

type SessionKey = Required<Pick<Session, "keyId" | "apiKey">>;

const keyOf = ({ request, principal }: Call): SessionKey => ({
  keyId: principal.keyId,
  apiKey: request.headers.get("authorization")?.trim().split(/ +/).at(1) ?? "",
});

/** The key gives way to a successor that nobody sees, so that the link with it opens nothing more. */
const successorOf = async ({ keys }: Dependencies, call: Call): Promise<SessionKey | Response> => {
  const { context, principal } = call;
  const { keyId: id, scopes } = principal;
  const by = { ...actorOf(call), principal: { ...principal, scopes: [...scopes, "keys:manage" as const] } };
  const rotated = await keys.rotate({ by, id, request: { grace_seconds: 0 } });
  if (rotated.kind === "rotated") return { keyId: rotated.key.id, apiKey: rotated.apiKey };
  if (rotated.kind === "insufficient_scope") return insufficientScope(context, rotated.scope);
  return refusedChange(context, rotated, {
    name: "key",
    changed: "this key",
    unavailable: "The key could not be changed",
  });
};

/** Also renews the cookie: who asks is not idle. */
const readSession = ({ now, ...dependencies }: Dependencies, call: Call): Response =>
  answerSession({ now, ...dependencies }, call, call.session && { ...call.session, usedAt: now().getTime() });

const answerSession = (
  { keyStore, signIn, randomBytes }: Dependencies,
  { request, context, principal }: Call,
  session: Session | undefined,
): Response => {
  const { tenant, scopes } = principal;
  const keyId = session?.keyId ?? principal.keyId;
  const { name, role, person, covers, expires_at: seatEndsAt } = keyStore.get(keyId) ?? {};
  const keys = { get: keyStore.get, admin: keyStore.admin, signInSecret: signIn?.settings.clientSecret };
  const sealed = session && sealSession(session, keys, randomBytes);
  if (session && sealed === undefined) return problem(context, "session_ended");
  const answer = success({
    status: request.method === "POST" ? 201 : 200,
    requestId: context.requestId,
    data: {
      tenant,
      key_id: keyId,
      ...(name !== undefined && { key_name: name }),
      scopes,
      ...(role && { role }),
      ...(person !== undefined && { person }),
      ...(covers && { covers }),
      ...(seatEndsAt !== undefined && { seat_ends_at: seatEndsAt }),
      ...(session && {
        csrf_token: session.csrfToken,
        expires_at: new Date(session.startedAt + SESSION_MS_MAX).toISOString(),
      }),
    },
  });
  if (sealed !== undefined) answer.headers.append("set-cookie", sessionCookie(request, sealed));
  return answer;
};

/** The events of the system tenant that say what this key opened: nobody else's. */
const listViews = async (
  views: ViewStore,
  page: { readonly limit: number; readonly cursor: string | undefined },
  call: Call,
): Promise<Response> => {
  const { context, principal } = call;
  const found = await searchEvents(views, SYSTEM_TENANT, {
    ...page,
    eventType: "system.viewed",
    tags: [{ key: "actor", value: principal.keyId }],
    timeField: "timestamp",
    order: "desc",
  });
  if (found.kind === "invalid_cursor") return invalidCursor(call);
  const rowTexts = found.rows.map(({ eventText }) => {
    const { timestamp, metadata } = JSON.parse(eventText);
    const { route, path, filters } = metadata;
    return JSON.stringify({ viewed_at: timestamp, route, path, filters });
  });
  return successList({ context, rowTexts, nextCursor: found.nextCursor });
};

const signOut = async ({ signIn }: Dependencies, { context, session }: Call): Promise<Response> => {
  const back =
    signIn && session && isOfProvider(session) ? new URL("sign-in", consoleOf(signIn.settings)) : undefined;
  const address = back && (await signIn?.provider.signOutAddress(back));
  const answer = success({
    requestId: context.requestId,
    data: { signed_out: true, ...(address && { continue_at: address.href }) },
  });
  for (const cookie of endedCookies) answer.headers.append("set-cookie", cookie);
  return answer;
};

const NEEDS_KEY =
  "Signing in needs the key itself: `Authorization: Bearer <key>`. A session cannot start another one.";
const NOT_RECORDED =
  "The log did not take the record of this sign-in, and without it there is none. Try again.";

const SessionView = Type.Object({
  tenant: TenantSchema,
  key_id: Type.String({ description: "The key behind the session; `admin` for the admin key." }),
  key_name: Type.Optional(Type.String()),
  scopes: Type.Array(ScopeSchema),
  role: Type.Optional(RoleSchema),
  person: Type.Optional(Person),
  covers: Type.Optional(Covers),
  seat_ends_at: Type.Optional(
    Type.String({ format: "date-time", description: "When the key ends, and its sessions with it." }),
  ),
  csrf_token: Type.Optional(
    Type.String({
      description: "For the header `X-CSRF-Token` of every write with the session. Absent without a session.",
    }),
  ),
  expires_at: Type.Optional(
    Type.String({ format: "date-time", description: "When the session ends at the latest." }),
  ),
});

const EXAMPLE = {
  tenant: "acme",
  key_id: "k3Yb0Qz81mNd",
  key_name: "Console of J. Kim",
  scopes: ["events:read"],
  role: "auditor",
  person: "j.kim@audit.example",
  covers: { asset_ids: ["credit_model"], from: "2026-07-01T00:00:00.000Z" },
  seat_ends_at: "2026-12-31T23:59:59.000Z",
  csrf_token: "l9b1Tq0mE3uK7xw2ZyVfXn5a",
  expires_at: "2026-11-20T22:00:00.000Z",
};
const SESSION_ANSWER = {
  schema: dataOf(SessionView),
  example: { data: EXAMPLE, request_id: EXAMPLE_REQUEST_ID },
};

const ONCE: Parameter = {
  name: "once",
  in: "query",
  description:
    "`true`: the key works no more afterwards. A successor that nobody sees takes its place. For links.",
  schema: { type: "string", enum: ["true", "false"] },
};

const SIGN_IN: Operation = {
  id: "startSession",
  tag: "Keys",
  summary: "Sign in: a cookie for this key",
  description: `Browsers send the cookie instead of the key, so no key stays in them. It is HttpOnly and SameSite=Strict; on plain HTTP it works on loopback only. The session ends with its key, after ${SESSION_IDLE_MS_MAX / 60_000} minutes without a request to \`GET /v1/session\`, and after ${SESSION_MS_MAX / 3_600_000} hours. The sign-in is written to the log.`,
  access: OWN_SESSION,
  parameters: [ONCE],
  answer: { status: 201, description: "The session. `Set-Cookie` has its cookie.", ...SESSION_ANSWER },
  problems: ["invalid_request", "log_unavailable", "changed_meanwhile", "overloaded", "not_found"],
};

const READ: Operation = {
  id: "readSession",
  tag: "Keys",
  summary: "Who is signed in",
  description: "Of a session, or of the key that is sent. A session's cookie is renewed.",
  access: OWN_SESSION,
  answer: { status: 200, description: "The key, and its session.", ...SESSION_ANSWER },
  problems: ["invalid_request"],
};

const VIEWS: Operation = {
  id: "listViews",
  tag: "Keys",
  summary: "What this seat has looked at",
  description:
    "What the log holds about what the seat of an auditor opened, newest first: once for each question and session. Empty for other keys, of which that is not recorded.",
  access: OWN_SESSION,
  parameters: [
    parameter("limit", "Rows at most.", { type: "integer", minimum: 1, maximum: PAGE_ROWS_MAX }),
    parameter("cursor", "`next_cursor` of the page before."),
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(
      Type.Object({
        viewed_at: Type.String({ format: "date-time" }),
        route: Type.String(),
        path: Type.String(),
        filters: Type.Record(Type.String(), Type.Array(Type.String())),
      }),
    ),
    example: {
      data: [
        {
          viewed_at: "2026-11-20T10:00:00.000Z",
          route: "/v1/decisions/:decision_id",
          path: "/v1/decisions/dec_1",
          filters: {},
        },
      ],
      next_cursor: null,
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: ["invalid_request", "view_behind"],
};

const SIGN_OUT: Operation = {
  id: "endSession",
  tag: "Keys",
  summary: "Sign out",
  description:
    "Removes the cookie from the browser. Who signed in with a provider is sent on to `continue_at`, to sign out there as well. To end a session that somebody else holds, revoke or rotate its key.",
  access: OWN_SESSION,
  answer: {
    status: 200,
    description: "The cookie is removed.",
    schema: dataOf(
      Type.Object({
        signed_out: Type.Literal(true),
        continue_at: Type.Optional(
          Type.String({
            format: "uri",
            description:
              "Where to sign out at the provider (OpenID Connect RP-Initiated Logout); absent if that is not needed or not offered.",
          }),
        ),
      }),
    ),
    example: { data: { signed_out: true }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["invalid_request"],
};
