/** What `<prooftrail-events>` needs: tokens for a customer's pages, and the events that such a token shows. */
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { RandomBytes } from "../../access/api-key.ts";
import { authenticateEmbedToken, openEmbedToken, sealEmbedToken } from "../../access/embed-token.ts";
import { BoundFilter } from "../../access/key-record.ts";
import type { KeyStore } from "../../access/key-store.ts";
import { createRequestCheck } from "../../event/request/check.ts";
import { type EventPage, searchEvents } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { EMBEDDING } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import { filterErrors, queryOf } from "../http/bound-filter.ts";
import type { Call } from "../http/call.ts";
import { readEventFilter } from "../http/event-filter.ts";
import type { Guard } from "../http/guard.ts";
import { readJson } from "../http/json-body.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { invalidCursor, type ReadDependencies } from "../http/reading.ts";
import { contextOf } from "../http/request-context.ts";
import { dataOf } from "../http/schemas.ts";
import { success, successList } from "../http/success.ts";
import { withoutQuery } from "../http/without-query.ts";
import { LABELS, type Label } from "../vocabulary/labels.ts";

interface Dependencies extends ReadDependencies {
  readonly keyStore: Pick<KeyStore, "get" | "admin">;
  readonly bodies: BodyReader;
  readonly randomBytes: RandomBytes;
}

const SECONDS_DEFAULT = 15 * 60;
const SECONDS_MAX = 12 * 60 * 60;
const ORIGINS_MAX = 8;
const ROWS_DEFAULT = 20;
const ROWS_MAX = 100;

export const embedRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) => {
  const { keyStore } = dependencies;
  const create = withoutQuery((call) => postToken(dependencies, call));
  const read = guard(EMBEDDING, (call) => getEvents(dependencies, call), {
    authenticate: (authorization, now) => authenticateEmbedToken(authorization, keyStore, now),
  });
  const hidden = { detail: { hide: true } };
  return new Elysia({ prefix: "/v1" })
    .post("/embed-tokens", guard(EMBEDDING, create, { whileBehind: true }), {
      parse: "none",
      detail: describe(CREATE),
    })
    .get("/embed/events", async (given) => forOrigin(await read(given), given.request, keyStore), hidden)
    .options("/embed/events", ({ request }) => preflight(request), hidden);
};

const EmbedTokenRequest = Type.Object(
  {
    filter: Type.Optional(BoundFilter),
    origins: Type.Array(
      Type.String({
        pattern: "^https?://[^/?#@\\\\\\s]+$",
        "x-expects": "an origin such as https://www.example.com",
      }),
      {
        minItems: 1,
        maxItems: ORIGINS_MAX,
        uniqueItems: true,
        description: "Of the pages that may read with the token.",
      },
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: SECONDS_MAX,
        default: SECONDS_DEFAULT,
        description: "Seconds for which the token is valid. It ends with its key in any case.",
      }),
    ),
  },
  { additionalProperties: false },
);

const checkRequest = createRequestCheck(EmbedTokenRequest);

const postToken = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const { keyStore, bodies, now, randomBytes } = dependencies;
  const { context, principal } = call;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  const checked = checkRequest(body.value);
  if (checked.kind === "invalid") return problem(context, "invalid_request", { errors: checked.problems });
  const { filter = {}, origins, expires_in: seconds = SECONDS_DEFAULT } = checked.request;
  const errors = [...filterErrors(filter, readEventFilter), ...originErrors(checked.request)];
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const endsAt = now().getTime() + seconds * 1000;
  const token = sealEmbedToken({ keyId: principal.keyId, filter, origins, endsAt }, keyStore, randomBytes);
  if (token === undefined) return problem(context, "invalid_api_key");
  const data = { token, expires_at: new Date(endsAt).toISOString(), filter, origins };
  return success({ status: 201, requestId: context.requestId, data });
};

/** As browsers write it: in lower case, and without the port that the scheme has anyway (RFC 6454 §6.2). */
const originErrors = ({ origins }: Static<typeof EmbedTokenRequest>) =>
  origins.flatMap((origin, index) => {
    const written = URL.canParse(origin) ? new URL(origin).origin : undefined;
    if (written === origin) return [];
    const message = `Browsers never send this origin: send ${written ?? "one such as https://www.example.com"}.`;
    return [{ path: `/origins/${index}`, code: "invalid_value", message }];
  });

/** What the reader of a page may choose. */
const CHOICES: readonly string[] = ["limit", "cursor", "lang"];

const getEvents = async ({ views, keyStore }: Dependencies, call: Call): Promise<Response> => {
  const { request, context, principal } = call;
  const token = openEmbedToken(request.headers.get("authorization"), keyStore);
  if (token === undefined) return problem(context, "invalid_api_key");
  const origin = request.headers.get("origin");
  if (origin !== null && !token.origins.includes(origin))
    return problem(context, "embed_token_exceeded", {
      detail: "The token names other origins than that of this page. Nothing was read.",
    });
  const wider = [...new URL(request.url).searchParams].find(
    ([name, value]) => !CHOICES.includes(name) && token.filter[name] !== value,
  );
  if (wider !== undefined)
    return problem(context, "embed_token_exceeded", {
      errors: [{ path: `query:${wider[0]}`, code: "exceeds_own", message: BOUND }],
    });
  const query = readQuery(request.url);
  readEventFilter(query);
  const language = query.choice("lang", ["en", "ko"], "en");
  const page: EventPage = {
    limit: query.integer("limit", { min: 1, max: ROWS_MAX }) ?? ROWS_DEFAULT,
    cursor: query.text("cursor"),
  };
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  await call.madeViews.check([EVENTS_VIEW]);
  const conditions = readEventFilter(queryOf(token.filter));
  const found = await searchEvents(views, principal.tenant, { ...conditions, ...page, order: "desc" });
  if (found.kind === "invalid_cursor") return invalidCursor(call);
  return successList({
    context,
    rowTexts: found.rows.map(({ eventText }) => shownOf(eventText, language)),
    nextCursor: found.nextCursor,
  });
};

const BOUND =
  "The token is bound to its filter, and may not be widened or changed: leave this out, or make another token.";

/** Neither metadata nor the person: a page shows this to anybody. */
const shownOf = (eventText: string, language: keyof Label): string => {
  const { event_id, timestamp, event_type, asset_id } = JSON.parse(eventText);
  const labels: Readonly<Record<string, Label>> = LABELS.event_types;
  const label = Object.hasOwn(labels, event_type) ? labels[event_type]?.[language] : undefined;
  return JSON.stringify({ event_id, timestamp, event_type, label: label ?? event_type, asset_id });
};

/** Another origin may read the answer if the token names it, also the answer that the token has ended. Never with cookies. */
const forOrigin = (answer: Response, request: Request, keys: Dependencies["keyStore"]): Response => {
  const origin = request.headers.get("origin");
  const token = openEmbedToken(request.headers.get("authorization"), keys);
  answer.headers.append("vary", "Origin");
  if (origin !== null && token?.origins.includes(origin))
    answer.headers.set("access-control-allow-origin", origin);
  return answer;
};

/** A browser asks before it sends `Authorization` to another origin, and without it: so this can check no token, and tells nothing. */
const preflight = (request: Request): Response =>
  new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET",
      "access-control-allow-headers": "authorization",
      "access-control-max-age": "600",
      allow: "GET, HEAD, OPTIONS",
      "x-request-id": contextOf(request).requestId,
    },
  });

const EXAMPLE = { filter: { asset_id: "credit_model" }, origins: ["https://www.example.com"] };

const CREATE: Operation = {
  id: "createEmbedToken",
  tag: "Keys",
  summary: "Make a token for a web page",
  description:
    "For `<prooftrail-events>` on a page of your own: whoever has the token sees time, type and system of the events of `filter`, which takes the parameters of `GET /v1/events`, and nothing else. Make one for each visit, on your server. It is not stored; it ends at `expires_at`, and with the key that made it.",
  access: EMBEDDING,
  body: { schema: EmbedTokenRequest, example: { ...EXAMPLE, expires_in: SECONDS_DEFAULT } },
  answer: {
    status: 201,
    description: "The token.",
    schema: dataOf(
      Type.Object({
        token: Type.String(),
        expires_at: Type.String({ format: "date-time" }),
        filter: BoundFilter,
        origins: EmbedTokenRequest.properties.origins,
      }),
    ),
    example: {
      data: { token: "k3Yb0Qz81mNd.…", expires_at: "2026-11-20T10:15:00.000Z", ...EXAMPLE },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: [],
};
