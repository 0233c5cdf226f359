/** Calendar feeds of obligations: the feed, and the keys in their addresses. */

import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import type { Principal } from "../../access/authenticate.ts";
import { CALENDARS_PER_KEY_MAX, CalendarRequest, checkCalendarRequest } from "../../access/calendars.ts";
import { type BoundFilter, KeyView } from "../../access/key-record.ts";
import { PART_ROWS_MAX } from "../../limits.ts";
import { CALENDAR_FEED, CALENDARS } from "../http/access.ts";
import { type Answer, give, invalid, send } from "../http/answers.ts";
import { actorOf, type Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import type { Entry } from "../http/downloads.ts";
import { keptSource, listRoute } from "../http/lists.ts";
import { choice, filterErrors, queryOf, text } from "../http/parameters.ts";
import { refusedChange } from "../http/refused-change.ts";
import { requestUrl } from "../http/request-context.ts";
import type { Route } from "../http/route.ts";
import { LABELS, type Label } from "../vocabulary/labels.ts";
import { CHANGED } from "./keys.ts";
import { obligationSource } from "./obligations.ts";

/** About 1 MB, which calendar programs read again and again. */
const OBLIGATIONS_MAX = 2000;
/** What still needs somebody, unless the filter asks for other states. */
const STATES = "open,extended,due_soon,overdue";
const OF_KEYS = { tag: "Keys", access: CALENDARS } as const;

export const calendarRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, calendars } = dependencies;
  const source = obligationSource(dependencies);
  return [
    feedRoute(dependencies, source),
    route({
      ...OF_KEYS,
      on: "POST /v1/calendars",
      id: "createCalendar",
      summary: "Make a calendar feed",
      description: `Makes a key that can read the feed of obligations and nothing else, bound to \`filter\`: parameters of \`GET /v1/obligations\` such as \`law\`, \`asset_id\`, \`rule\` and \`state\`. \`path\` is the address of the feed below the service's own, and is shown only now; add \`&lang=ko\` for Korean. Like every key it counts among those of the tenant; a key makes at most ${CALENDARS_PER_KEY_MAX}.`,
      body: {
        schema: CalendarRequest,
        example: { name: "Calendar of the data protection officer", filter: { law: "pipa_37_2_kr" } },
        check: checkCalendarRequest,
      },
      status: 201,
      gives: Type.Object({ ...KeyView.properties, path: Type.String() }),
      problems: ["log_unavailable"],
      answer: async (call) => {
        const errors = filterErrors(call.body.filter ?? {}, source.query);
        if (errors.length > 0) return invalid(errors);
        const made = await calendars.create({ by: actorOf(call), request: call.body });
        if (made.kind !== "created") return refusedChange(made);
        return give({ ...made.key, path: `/v1/obligations.ics?token=${made.apiKey}` });
      },
    }),
    listRoute(
      dependencies,
      keptSource({
        name: "calendars",
        members: KeyView.properties,
        scope: ({ keyId }) => keyId,
        rows: (principal) => calendars.list(principal),
      }),
      {
        ...OF_KEYS,
        on: "GET /v1/calendars",
        id: "listCalendars",
        summary: "List calendar feeds",
        description: "Those that this key made, oldest first, revoked ones included.",
      },
    ),
    route({
      ...OF_KEYS,
      on: "DELETE /v1/calendars/:id",
      id: "revokeCalendar",
      summary: "Revoke a calendar feed",
      description:
        "One that this key made; `DELETE /v1/keys/{id}` revokes any. Its address is answered with 401 from then on. Revoking a revoked feed changes nothing.",
      gives: KeyView,
      problems: CHANGED,
      answer: async (call) => {
        const revoked = await calendars.revoke({ by: actorOf(call), id: call.params.id ?? "" });
        return revoked.kind === "revoked" ? give(revoked.key) : refusedChange(revoked);
      },
    }),
  ];
};

type Source = ReturnType<typeof obligationSource>;

const feedRoute = (dependencies: Dependencies, source: Source): Route =>
  dependencies.route({
    on: "GET /v1/obligations.ics",
    access: CALENDAR_FEED,
    // Calendar programs send no header.
    authorizationOf: ({ url }) => {
      const token = requestUrl(url).searchParams.get("token");
      return token === null ? null : `Bearer ${token}`;
    },
    id: "readCalendarFeed",
    tag: "Registers",
    summary: "Obligations as a calendar",
    description: `For calendar programs, which subscribe to the address that \`POST /v1/calendars\` answers. Each obligation is an event at the last second that is in time. Without a \`state\` in the filter the feed has what is not met: \`${STATES}\`. At most ${OBLIGATIONS_MAX}; if there are more, its description says so.`,
    ...(source.views && { views: source.views }),
    query: {
      token: text("token", "The key of the feed, in place of the header `Authorization`.", {
        type: "string",
      }),
      language: choice("lang", "Language of the labels.", ["en", "ko"], "en"),
    },
    mediaType: "text/calendar",
    gives: Type.String(),
    example: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n…",
    answer: (call) => answerFeed(dependencies, source, call, call.asked.language),
  });

type Language = keyof Label;

const answerFeed = async (
  { keyStore, now }: Dependencies,
  source: Source,
  { principal }: Call,
  language: Language,
): Promise<Answer> => {
  const filter: BoundFilter = keyStore.get(principal.keyId)?.calendar_filter ?? {};
  const { entries, isWhole } = await obligationsOf(source, principal, filter);
  const words = WORDS[language];
  const calendar = calendarText({
    name: `${words.name}: ${principal.tenant}`,
    description: isWhole ? words.description : words.notAll,
    now: now(),
    entries: entries.map((entry) => calendarEntry(entry, { ...principal, language })),
  });
  return send("text/calendar; charset=utf-8", calendar, {
    "content-disposition": 'inline; filename="obligations.ics"',
    "x-content-type-options": "nosniff",
  });
};

const obligationsOf = async (source: Source, principal: Principal, filter: BoundFilter) => {
  const asked = source.query.read(queryOf({ state: STATES, ...filter }));
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.page(asked, principal, { order: "asc", limit: PART_ROWS_MAX, cursor });
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

interface CalendarEntry {
  /** The same in every answer, for the same thing. */
  readonly uid: string;
  readonly at: string;
  readonly summary: string;
  readonly description: string;
}

export const calendarText = (calendar: {
  readonly name: string;
  readonly description: string;
  readonly now: Date;
  readonly entries: readonly CalendarEntry[];
}): string => {
  const { name, description, now, entries } = calendar;
  const stamp = utcOf(now.toISOString());
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Prooftrail//Obligations//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `NAME:${escaped(name)}`,
    `X-WR-CALNAME:${escaped(name)}`,
    `X-WR-CALDESC:${escaped(description)}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
    ...entries.flatMap((entry) => [
      "BEGIN:VEVENT",
      `UID:${escaped(entry.uid)}`,
      `DTSTAMP:${stamp}`,
      `DTSTART:${utcOf(entry.at)}`,
      `SUMMARY:${escaped(entry.summary)}`,
      `DESCRIPTION:${escaped(entry.description)}`,
      // It takes nobody's time: it is not shown as busy (§3.8.2.7).
      "TRANSP:TRANSPARENT",
      "END:VEVENT",
    ]),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join("");
};

/** §3.3.5, form 2. By text, because a leap second is a time as well. */
const utcOf = (time: string): string => `${time.slice(0, WHOLE_SECONDS).replaceAll(/[-:]/g, "")}Z`;
const WHOLE_SECONDS = "2026-11-29T00:00:00".length;

/** §3.3.11. A control character has no form there. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[\\;,]/g, "\\$&")
    .replaceAll(/\r?\n/g, "\\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
    .replaceAll(/[\u0000-\u001F\u007F]/g, "");

/** §3.1: a line has at most 75 octets; the next one begins with a space, which counts. No character is cut. */
export const folded = (line: string): string => {
  let text = "";
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > LINE_OCTETS_MAX) {
      text += "\r\n ";
      octets = 1;
    }
    text += character;
    octets += size;
  }
  return text;
};

const LINE_OCTETS_MAX = 75;
