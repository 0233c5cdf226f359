/** What `<prooftrail-events>` needs: tokens for a customer's pages, and the events that such a token shows. */

import { type Static, Type } from "@sinclair/typebox";
import { authenticateEmbedToken, openEmbedToken, sealEmbedToken } from "../../access/embed-token.ts";
import { BoundFilter } from "../../access/key-record.ts";
import { searchEvents } from "../../views/events/queries.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { EMBEDDING } from "../http/access.ts";
import { type Answer, give, givePage, invalid, refuse } from "../http/answers.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { EVENT_FILTER } from "../http/event-filter.ts";
import { KEY_ENDED } from "../http/guard.ts";
import { INVALID_CURSOR } from "../http/lists.ts";
import { choice, filterErrors, integerOr, queryOf, readQuery, text } from "../http/parameters.ts";
import { contextOf, requestUrl } from "../http/request-context.ts";
import { bodyOf, hidden, type Route } from "../http/route.ts";
import { Time } from "../http/schemas.ts";
import { type Label, labelOf } from "../vocabulary/labels.ts";

const SECONDS_DEFAULT = 15 * 60;
const SECONDS_MAX = 12 * 60 * 60;
const ORIGINS_MAX = 8;

export const embedRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, guard, keyStore, now, randomBytes } = dependencies;
  const read = guard(EMBEDDING, (call) => readEvents(dependencies, call), {
    authenticate: (authorization, at) => authenticateEmbedToken(authorization, keyStore, at),
  });
  return [
    route({
      on: "POST /v1/embed-tokens",
      access: EMBEDDING,
      whileBehind: true,
      id: "createEmbedToken",
      tag: "Keys",
      summary: "Create a token for a web page",
      description:
        "For `<prooftrail-events>` on your own page: whoever has the token sees time, type and system of the events that match `filter`, which takes the parameters of `GET /v1/events`, and nothing else. Create one per visit, on your server. It is not stored; it ends at `expires_at` or with the key that created it.",
      body: bodyOf(EmbedTokenRequest, {
        filter: { asset_id: "credit_model" },
        origins: ["https://www.example.com"],
        expires_in: SECONDS_DEFAULT,
      }),
      status: 201,
      gives: Type.Object({
        token: Type.String(),
        expires_at: Time,
        filter: BoundFilter,
        origins: EmbedTokenRequest.properties.origins,
      }),
      answer: ({ principal: { keyId }, body, isStillAllowed }) => {
        const { filter = {}, origins, expires_in: seconds = SECONDS_DEFAULT } = body;
        const errors = [...filterErrors(filter, EVENT_FILTER), ...originErrors(body)];
        if (errors.length > 0) return invalid(errors);
        if (!isStillAllowed()) return KEY_ENDED;
        const endsAt = now().getTime() + seconds * 1000;
        const token = sealEmbedToken({ keyId, filter, origins, endsAt }, keyStore, randomBytes);
        if (token === undefined) return refuse("invalid_api_key");
        return give({ token, expires_at: new Date(endsAt).toISOString(), filter, origins });
      },
    }),
    hidden("/v1/embed/events", async ({ request }) => forOrigin(await read({ request }), request, keyStore)),
    hidden("/v1/embed/events", ({ request }) => preflight(request), "OPTIONS"),
  ];
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
        description: "Origins of the pages that may use the token.",
      },
    ),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: SECONDS_MAX,
        default: SECONDS_DEFAULT,
        description: "Seconds for which the token is valid, at most until its key ends.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** As browsers write it: in lower case, and without the port that the scheme has anyway (RFC 6454 §6.2). */
const originErrors = ({ origins }: Static<typeof EmbedTokenRequest>) =>
  origins.flatMap((origin, index) => {
    const written = URL.canParse(origin) ? new URL(origin).origin : undefined;
    if (written === origin) return [];
    const message = `Browsers never send this origin: send ${written ?? "one such as https://www.example.com"}.`;
    return [{ path: `/origins/${index}`, code: "invalid_value", message }];
  });

const LANGUAGE = choice("lang", "", ["en", "ko"], "en");
const LIMIT = integerOr(20, "limit", "", { min: 1, max: 100 });
const CURSOR = text("cursor", "");
const CHOICES: readonly string[] = ["limit", "cursor", "lang"];

const readEvents = async ({ views, keyStore }: Dependencies, call: Call): Promise<Answer> => {
  const { request, principal } = call;
  const token = openEmbedToken(request.headers.get("authorization"), keyStore);
  if (token === undefined) return refuse("invalid_api_key");
  const origin = request.headers.get("origin");
  if (origin !== null && !token.origins.includes(origin))
    return refuse("embed_token_exceeded", "The token does not include this page's origin. Nothing was read.");
  const wider = [...requestUrl(request.url).searchParams].find(
    ([name, value]) => !CHOICES.includes(name) && token.filter[name] !== value,
  );
  if (wider !== undefined)
    return refuse("embed_token_exceeded", {
      errors: [{ path: `query:${wider[0]}`, code: "exceeds_own", message: BOUND }],
    });
  const query = readQuery(request.url);
  EVENT_FILTER.read(query);
  const [language, limit, cursor] = [LANGUAGE.read(query), LIMIT.read(query), CURSOR.read(query)];
  const errors = query.errors();
  if (errors.length > 0) return invalid(errors);
  await call.viewReadiness.check([EVENTS_VIEW]);
  const conditions = EVENT_FILTER.read(queryOf(token.filter));
  const found = await searchEvents(views, principal.tenant, { ...conditions, limit, cursor, order: "desc" });
  if (found.kind === "invalid_cursor") return INVALID_CURSOR;
  return givePage(
    found.rows.map(({ eventText }) => shownOf(eventText, language)),
    found.nextCursor,
  );
};

const BOUND =
  "The token is bound to its filter, which cannot be widened or changed: omit this, or create another token.";

/** Neither metadata nor the person: a page shows this to anybody. */
const shownOf = (eventText: string, language: keyof Label): string => {
  const { event_id, timestamp, event_type, asset_id } = JSON.parse(eventText);
  const label = labelOf("event_types", event_type, language);
  return JSON.stringify({ event_id, timestamp, event_type, label, asset_id });
};

/** Another origin may read the answer if the token names it, even that the token has ended. Never with cookies. */
const forOrigin = (answer: Response, request: Request, keys: Dependencies["keyStore"]): Response => {
  const origin = request.headers.get("origin");
  const token = openEmbedToken(request.headers.get("authorization"), keys);
  answer.headers.append("vary", "Origin");
  if (origin !== null && token?.origins.includes(origin))
    answer.headers.set("access-control-allow-origin", origin);
  return answer;
};

/** A browser's preflight carries no `Authorization`, so this cannot check a token and reveals nothing. */
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
