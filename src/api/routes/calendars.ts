/** Calendar feeds of obligations: the feed, and the keys in their addresses. */
import { hash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Principal } from "../../access/authenticate.ts";
import {
  CALENDARS_PER_KEY_MAX,
  CalendarRequest,
  type Calendars,
  checkCalendarRequest,
} from "../../access/calendars.ts";
import { type BoundFilter, KeyView } from "../../access/key-record.ts";
import type { KeyStore } from "../../access/key-store.ts";
import { PART_ROWS_MAX } from "../../limits.ts";
import { CALENDAR_FEED, CALENDARS } from "../http/access.ts";
import type { BodyReader } from "../http/body.ts";
import { filterErrors, queryOf } from "../http/bound-filter.ts";
import { actorOf, type Call } from "../http/call.ts";
import { type Entry, fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import { type CalendarEntry, calendarText } from "../http/icalendar.ts";
import { readJson } from "../http/json-body.ts";
import { answerKeptList, KEPT_PARAMETERS, type ListDependencies, readKeptForm } from "../http/list-answer.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { MIN_SEQUENCE, parameter, pathParameter, reading } from "../http/reading.ts";
import { requestUrl } from "../http/request-url.ts";
import { dataOf, listOf } from "../http/schemas.ts";
import { success } from "../http/success.ts";
import { timeRangeParameters } from "../http/time-range.ts";
import { withoutQuery } from "../http/without-query.ts";
import { LABELS, type Label } from "../vocabulary/labels.ts";
import { refusedKey } from "./keys.ts";
import { obligationSource } from "./obligations.ts";

type Dependencies = ListDependencies &
  Parameters<typeof obligationSource>[0] & {
    readonly calendars: Calendars;
    readonly keyStore: Pick<KeyStore, "get">;
    readonly bodies: BodyReader;
  };

export const calendarRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) => {
  const { views, calendars } = dependencies;
  const create = withoutQuery((call) => postCalendar(dependencies, call));
  const revoke = withoutQuery(async (call) => {
    const asked = { by: actorOf(call), id: call.params.id ?? "" };
    const answer = await calendars.revoke(asked);
    if (answer.kind !== "revoked") return refusedKey(call.context, answer);
    return success({ requestId: call.context.requestId, data: answer.key });
  });
  const feed = reading(views, {
    view: obligationSource(dependencies).views,
    ask: (query) => {
      query.text("token");
      return query.choice("lang", ["en", "ko"], "en");
    },
    answer: (language, call) => getFeed(dependencies, call, language),
  });
  return new Elysia({ prefix: "/v1" })
    .get("/obligations.ics", guard(CALENDAR_FEED, feed, { authorizationOf: tokenOf }), {
      detail: describe(FEED),
    })
    .post("/calendars", guard(CALENDARS, create), { parse: "none", detail: describe(CREATE) })
    .get(
      "/calendars",
      guard(CALENDARS, (call) => getCalendars(dependencies, call)),
      { detail: describe(LIST) },
    )
    .delete("/calendars/:id", guard(CALENDARS, revoke), { parse: "none", detail: describe(REVOKE) });
};

/** Calendar programs send no header. */
const tokenOf = (request: Request): string | null => {
  const token = requestUrl(request.url).searchParams.get("token");
  return token === null ? null : `Bearer ${token}`;
};

const postCalendar = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const { calendars, bodies } = dependencies;
  const { context } = call;
  const body = await readJson(bodies, call);
  if (body instanceof Response) return body;
  const checked = checkCalendarRequest(body.value);
  if (checked.kind === "invalid") return problem(context, "invalid_request", { errors: checked.problems });
  const errors = filterErrors(checked.request.filter ?? {}, obligationSource(dependencies).ask);
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const answer = await calendars.create({ by: actorOf(call), request: checked.request });
  if (answer.kind !== "created") return refusedKey(context, answer);
  return success({
    status: 201,
    requestId: context.requestId,
    data: { ...answer.key, path: `/v1/obligations.ics?token=${answer.apiKey}` },
  });
};

const getCalendars = async (dependencies: Dependencies, call: Call): Promise<Response> => {
  const { request, context, principal } = call;
  const query = readQuery(request.url);
  const form = readKeptForm(query);
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const rows = dependencies.calendars.list(principal);
  return answerKeptList(dependencies, call, {
    name: `calendars of ${principal.keyId}`,
    columns: COLUMNS,
    rows,
    tenant: undefined,
    form,
  });
};

/** About 1 MB, which calendar programs read again and again. */
const OBLIGATIONS_MAX = 2000;

type Language = keyof Label;

/** What still needs somebody, unless the filter asks for other states. */
const STATES = "open,extended,due_soon,overdue";

const getFeed = async (
  dependencies: Dependencies,
  { context, principal }: Call,
  language: Language,
): Promise<Response> => {
  const filter: BoundFilter = dependencies.keyStore.get(principal.keyId)?.calendar_filter ?? {};
  const { entries, isWhole } = await obligationsOf(dependencies, principal, filter);
  const words = WORDS[language];
  const text = calendarText({
    name: `${words.name}: ${principal.tenant}`,
    description: isWhole ? words.description : words.notAll,
    now: dependencies.now(),
    entries: entries.map((entry) => calendarEntry(entry, { ...principal, language })),
  });
  return new Response(text, {
    headers: {
      "content-type": "text/calendar; charset=utf-8",
      "content-disposition": 'inline; filename="obligations.ics"',
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": context.requestId,
    },
  });
};

/** In the order in which they fall due. */
const obligationsOf = async (dependencies: Dependencies, { tenant }: Principal, filter: BoundFilter) => {
  const source = obligationSource(dependencies);
  const asked = source.ask(queryOf({ state: STATES, ...filter }));
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.page(asked, tenant, { order: "asc", limit: PART_ROWS_MAX, cursor });
    if (page.kind !== "page") throw new Error("a list takes its own cursor");
    entries.push(...page.entries);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && entries.length < OBLIGATIONS_MAX);
  return { entries, isWhole: cursor === undefined };
};

const calendarEntry = (
  entry: Entry,
  { tenant, language }: { readonly tenant: string; readonly language: Language },
): CalendarEntry => {
  const text = (name: string): string => String(entry[name] ?? "");
  const label = (labels: Readonly<Record<string, Label>>, name: string): string =>
    (Object.hasOwn(labels, name) ? labels[name]?.[language] : undefined) ?? name;
  const words = WORDS[language];
  const lines: readonly (readonly [title: string, said: string])[] = [
    [words.state, label(LABELS.obligation_states, text("state"))],
    [words.system, text("asset_id")],
    [words.law, `${label(LABELS.laws, text("law"))}, ${text("clause")}`],
    [words.decision, text("decision_id")],
    [words.objection, text("objection_id")],
    [words.incident, text("incident_id")],
    [words.rule, `${text("rule")} (${text("ruleset_version")})`],
  ];
  return {
    // An obligation_id may have more characters than calendar programs expect.
    uid: `${hash("sha256", `${tenant} ${text("obligation_id")}`, "hex")}@prooftrail`,
    at: text("due_at"),
    summary: `${label(LABELS.rules, text("rule"))} · ${text("asset_id")}`,
    description: lines.flatMap(([title, said]) => (said === "" ? [] : `${title}: ${said}`)).join("\n"),
  };
};

const NOT_ALL = String(OBLIGATIONS_MAX);
const WORDS = {
  en: {
    name: "Obligations",
    description: "When obligations of AI systems fall due. Not legal advice.",
    notAll: `Only the first ${NOT_ALL} obligations are in this calendar: make a feed with a narrower filter.`,
    state: "State",
    system: "System",
    law: "Law",
    decision: "Decision",
    objection: "Objection",
    incident: "Incident",
    rule: "Rule",
  },
  ko: {
    name: "의무",
    description: "AI 시스템에 관한 의무의 기한입니다. 법률 자문이 아닙니다.",
    notAll: `의무 ${NOT_ALL}건까지만 표시됩니다. 조건을 좁힌 피드를 만드세요.`,
    state: "상태",
    system: "시스템",
    law: "법령",
    decision: "결정",
    objection: "이의 제기",
    incident: "사고",
    rule: "규칙",
  },
} as const;

const COLUMNS = Object.keys(KeyView.properties);
const EXAMPLE = {
  id: "k3Yb0Qz81mNd",
  tenant: "acme",
  name: "Calendar of the data protection officer",
  scopes: ["obligations:calendar"],
  created_at: "2026-11-20T10:00:00.000Z",
  created_by: "q9Xa2Lw47bTe",
  calendar_filter: { law: "pipa_37_2_kr" },
};
const EXAMPLE_PATH = "/v1/obligations.ics?token=ptk_k3Yb0Qz81mNd_…";

const FEED: Operation = {
  id: "readCalendarFeed",
  tag: "Registers",
  summary: "Obligations as a calendar",
  description: `For calendar programs, which subscribe to the address that \`POST /v1/calendars\` answers. Each obligation is an event at the last second that is in time. Without a \`state\` in the filter the feed has what is not met: \`${STATES}\`. At most ${OBLIGATIONS_MAX}; if there are more, its description says so.`,
  access: CALENDAR_FEED,
  parameters: [
    parameter("token", "The key of the feed, in place of the header `Authorization`.", { type: "string" }),
    parameter("lang", "Language of the labels.", { type: "string", enum: ["en", "ko"], default: "en" }),
    MIN_SEQUENCE,
  ],
  answer: {
    status: 200,
    description: "A calendar (RFC 5545).",
    mediaType: "text/calendar",
    schema: Type.String(),
    example: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n…",
  },
  problems: ["invalid_request", "view_behind"],
};

const CREATE: Operation = {
  id: "createCalendar",
  tag: "Keys",
  summary: "Make a calendar feed",
  description: `Makes a key that can read the feed of obligations and nothing else, bound to \`filter\`: parameters of \`GET /v1/obligations\` such as \`law\`, \`asset_id\`, \`rule\` and \`state\`. \`path\` is the address of the feed below the service's own, and is shown only now; add \`&lang=ko\` for Korean. Like every key it counts among those of the tenant; a key makes at most ${CALENDARS_PER_KEY_MAX}.`,
  access: CALENDARS,
  body: { schema: CalendarRequest, example: { name: EXAMPLE.name, filter: EXAMPLE.calendar_filter } },
  answer: {
    status: 201,
    description: "The feed.",
    schema: dataOf(Type.Object({ ...KeyView.properties, path: Type.String() })),
    example: { data: { ...EXAMPLE, path: EXAMPLE_PATH }, request_id: EXAMPLE_REQUEST_ID },
  },
  problems: ["log_behind", "log_unavailable"],
};

const LIST: Operation = {
  id: "listCalendars",
  tag: "Keys",
  summary: "List calendar feeds",
  description: "Those that this key made, oldest first, revoked ones included.",
  access: CALENDARS,
  parameters: [...timeRangeParameters("What counts is `created_at`."), ...KEPT_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(KeyView),
    example: { data: [EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(COLUMNS, EXAMPLE),
  },
  problems: ["invalid_request", "overloaded", "log_unavailable"],
};

const REVOKE: Operation = {
  id: "revokeCalendar",
  tag: "Keys",
  summary: "Revoke a calendar feed",
  description:
    "One that this key made; `DELETE /v1/keys/{id}` revokes any. Its address is answered with 401 from then on. Revoking a revoked feed changes nothing.",
  access: CALENDARS,
  parameters: [pathParameter("id", EXAMPLE.id)],
  answer: {
    status: 200,
    description: "The revoked feed.",
    schema: dataOf(KeyView),
    example: {
      data: { ...EXAMPLE, revoked_at: "2026-12-01T10:00:00.000Z" },
      request_id: EXAMPLE_REQUEST_ID,
    },
  },
  problems: [
    "invalid_request",
    "not_found",
    "changed_meanwhile",
    "log_behind",
    "log_unavailable",
    "overloaded",
  ],
};
