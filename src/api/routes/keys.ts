import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { CALENDARS_PER_KEY_MAX, CalendarRequest } from "../../access/calendars.ts";
import {
  type BoundFilter,
  CreateKeyRequest,
  KeyView,
  NewKeyView,
  RotateKeyRequest,
} from "../../access/key-record.ts";
import { KEYS_PER_TENANT_MAX } from "../../limits.ts";
import { CALENDAR_FEED, CALENDARS, MANAGING } from "../http/access.ts";
import { give, invalid, send } from "../http/answers.ts";
import { actorOf } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import type { Entry } from "../http/downloads.ts";
import { allPages, keptSource, listRoute } from "../http/lists.ts";
import { choice, filterErrors, queryOf, tenant, text } from "../http/parameters.ts";
import { refusedChange } from "../http/refused-change.ts";
import { requestUrl } from "../http/request-context.ts";
import { bodyFor, bodyOf, type Route } from "../http/route.ts";
import { type Label, labelOf } from "../vocabulary/labels.ts";
import { obligationSource } from "./obligations.ts";

const KEYS = { access: MANAGING, tag: "Keys" } as const;
const ID = { id: { description: "Id of the key." } };
export const CHANGED = ["changed_meanwhile", "overloaded"] as const;

export const keyRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route, keys } = dependencies;
  return [
    route({
      ...KEYS,
      on: "POST /v1/keys",
      id: "createKey",
      summary: "Create a key",
      description:
        "The whole key is shown only in this answer. The admin key creates keys for any tenant, which creates the tenant; any other key only for its own tenant, with no more rights than it has. For the tenant `prooftrail-system`, which records what administrators did, only the admin key creates keys, with only `events:read`. A key with a `role` is a seat: the role sets its scopes, so omit `scopes`. " +
        `A tenant has at most ${KEYS_PER_TENANT_MAX} keys, including expired and revoked ones, as none is ever removed; rotation works past that.`,
      body: bodyFor(CreateKeyRequest, {
        tenant: "acme",
        name: "acme production",
        scopes: ["events:write", "events:read"],
      }),
      status: 201,
      gives: NewKeyView,
      answer: async (call) => {
        const made = await keys.create({ by: actorOf(call), request: call.body });
        return made.kind === "created" ? give({ ...made.key, api_key: made.apiKey }) : refusedChange(made);
      },
    }),
    listRoute(
      dependencies,
      keptSource({
        name: "keys",
        members: KeyView.properties,
        tenant: tenant("Only this tenant's keys. Any key but the admin key may only name its own."),
        rows: (principal, of) => {
          const listed = keys.list({ principal, ...(of !== undefined && { tenant: of }) });
          return listed.kind === "listed" ? listed.keys : refusedChange(listed);
        },
      }),
      {
        ...KEYS,
        on: "GET /v1/keys",
        id: "listKeys",
        summary: "List keys",
        description:
          "Oldest first by `created_at`, then by `id`, so that pages neither shift nor repeat; includes revoked ones. The admin key sees every tenant's.",
      },
    ),
    route({
      ...KEYS,
      on: "DELETE /v1/keys/:id",
      id: "revokeKey",
      summary: "Revoke a key",
      description:
        "Refused everywhere within a second, including requests still sending their body or waiting for something, such as other changes of the same key. Revoking a revoked key changes nothing.",
      inPath: ID,
      gives: KeyView,
      problems: CHANGED,
      answer: async (call) => {
        const revoked = await keys.revoke({ by: actorOf(call), id: call.params.id ?? "" });
        return revoked.kind === "revoked" ? give(revoked.key) : refusedChange(revoked);
      },
    }),
    rotateRoute(dependencies),
  ];
};

const rotateRoute = ({ route, keys }: Dependencies): Route =>
  route({
    ...KEYS,
    on: "POST /v1/keys/:id/rotate",
    id: "rotateKey",
    summary: "Rotate a key",
    description:
      "Creates a successor with the same rights. The old key still works for `grace_seconds`, so that nothing stops meanwhile. Keys that it creates then end with it at the latest; if the answer was lost, it can rotate again and gets another successor. If a key may have leaked, rotate it with `grace_seconds` 0, or revoke it.",
    inPath: ID,
    body: { ...bodyFor(RotateKeyRequest, { grace_seconds: 86_400 }), isOptional: true },
    status: 201,
    gives: Type.Object({ ...NewKeyView.properties, previous: KeyView }),
    problems: CHANGED,
    answer: async (call) => {
      const { params, body: request } = call;
      const rotated = await keys.rotate({ by: actorOf(call), id: params.id ?? "", request });
      if (rotated.kind !== "rotated") return refusedChange(rotated);
      return give({ ...rotated.key, api_key: rotated.apiKey, previous: rotated.previous });
    },
  });

/** About 1 MB, which calendar programs read repeatedly. */
const OBLIGATIONS_MAX = 2000;
/** What still needs action, unless the filter asks for other states. */
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
      summary: "Create a calendar feed",
      description: `Creates a key that can only read the feed of obligations, bound to \`filter\`: parameters of \`GET /v1/obligations\` such as \`law\`, \`asset_id\`, \`rule\` and \`state\`. \`path\` is the feed's address below the service's own, shown only now; add \`&lang=ko\` for Korean. Like every key it counts among the tenant's; a key creates at most ${CALENDARS_PER_KEY_MAX}.`,
      body: bodyOf(CalendarRequest, {
        name: "Calendar of the data protection officer",
        filter: { law: "pipa_37_2_kr" },
      }),
      status: 201,
      gives: Type.Object({ ...KeyView.properties, path: Type.String() }),
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
        description: "Those that this key created, oldest first, including revoked ones.",
      },
    ),
    route({
      ...OF_KEYS,
      on: "DELETE /v1/calendars/:id",
      id: "revokeCalendar",
      summary: "Revoke a calendar feed",
      description:
        "One that this key created; `DELETE /v1/keys/{id}` revokes any. Its address then answers 401. Revoking a revoked feed changes nothing.",
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

const feedRoute = ({ route, keyStore, now }: Dependencies, source: Source): Route =>
  route({
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
    description: `For calendar programs, which subscribe to the address from \`POST /v1/calendars\`. Each obligation is an event at the last second that is in time. Without a \`state\` in the filter the feed has what is unmet: \`${STATES}\`. At most ${OBLIGATIONS_MAX}; if there are more, its description says so.`,
    ...(source.views && { views: source.views }),
    query: {
      token: text("token", "The feed's key, instead of the `Authorization` header.", {
        type: "string",
      }),
      language: choice("lang", "Language of the labels.", ["en", "ko"], "en"),
    },
    mediaType: "text/calendar",
    gives: Type.String(),
    example: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n…",
    answer: async (call) => {
      const { tenant, keyId } = call.principal;
      const { language } = call.asked;
      const filter: BoundFilter = keyStore.get(keyId)?.calendar_filter ?? {};
      const asked = source.query.read(queryOf({ state: STATES, ...filter }));
      const entries: Entry[] = [];
      let isWhole = true;
      for await (const page of allPages(source, asked, call, "asc")) {
        isWhole = entries.length < OBLIGATIONS_MAX;
        if (!isWhole) break;
        entries.push(...page);
      }
      return send(
        "text/calendar; charset=utf-8",
        calendarText({ entries, isWhole, language, tenant, now: now() }),
        {
          "content-disposition": 'inline; filename="obligations.ics"',
          "x-content-type-options": "nosniff",
        },
      );
    },
  });

const WORDS = {
  en: {
    name: "Obligations",
    whole: "When obligations of AI systems fall due. Not legal advice.",
    first: `Only the first ${OBLIGATIONS_MAX} obligations are in this calendar: use a narrower filter.`,
    lines: ["State", "System", "Law", "Decision", "Objection", "Incident", "Rule"],
  },
  ko: {
    name: "의무",
    whole: "AI 시스템에 관한 의무의 기한입니다. 법률 자문이 아닙니다.",
    first: `의무 ${OBLIGATIONS_MAX}건까지만 표시됩니다. 조건을 좁힌 피드를 만드세요.`,
    lines: ["상태", "시스템", "법령", "결정", "이의 제기", "사고", "규칙"],
  },
} as const;

/** iCalendar (RFC 5545), plus what calendar programs read besides. */
export const calendarText = (calendar: {
  readonly entries: readonly Entry[];
  readonly isWhole: boolean;
  readonly language: keyof Label;
  readonly tenant: string;
  readonly now: Date;
}): string => {
  const { entries, isWhole, language, tenant, now } = calendar;
  const words = WORDS[language];
  const name = escaped(`${words.name}: ${tenant}`);
  const stamp = utcOf(now.toISOString());
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Prooftrail//Obligations//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `NAME:${name}`,
    `X-WR-CALNAME:${name}`,
    `X-WR-CALDESC:${escaped(isWhole ? words.whole : words.first)}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
    ...entries.flatMap((entry) => [
      "BEGIN:VEVENT",
      // An obligation_id may have more characters than calendar programs expect.
      `UID:${hash("sha256", `${tenant} ${entry.obligation_id}`, "hex")}@prooftrail`,
      `DTSTAMP:${stamp}`,
      `DTSTART:${utcOf(String(entry.due_at))}`,
      ...saidOf(entry, language),
      // Not shown as busy (§3.8.2.7).
      "TRANSP:TRANSPARENT",
      "END:VEVENT",
    ]),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join("");
};

const saidOf = (entry: Entry, language: keyof Label): readonly string[] => {
  const { rule, state, law, clause, asset_id, decision_id, objection_id, incident_id } = entry;
  const said = [
    labelOf("obligation_states", state, language),
    asset_id,
    `${labelOf("laws", law, language)}, ${clause}`,
    decision_id,
    objection_id,
    incident_id,
    `${rule} (${entry.ruleset_version})`,
  ];
  const titled = WORDS[language].lines.flatMap((title, at) => (said[at] ? `${title}: ${said[at]}` : []));
  return [
    `SUMMARY:${escaped(`${labelOf("rules", rule, language)} · ${asset_id}`)}`,
    `DESCRIPTION:${escaped(titled.join("\n"))}`,
  ];
};

/** §3.3.5, form 2. By text, because a leap second is valid too. */
const utcOf = (time: string): string =>
  `${time.slice(0, "2026-11-29T00:00:00".length).replaceAll(/[-:]/g, "")}Z`;

/** §3.3.11. A control character has no form there. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[\\;,]/g, "\\$&")
    .replaceAll(/\r?\n/g, "\\n")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed.
    .replaceAll(/[\u0000-\u001F\u007F]/g, "");

/** §3.1: a line of more than 75 octets goes on in the next, after a space, which counts. A character has at most four and is never cut. */
const folded = (line: string): string =>
  Buffer.byteLength(line) <= 75 ? line : line.replaceAll(/(?:[ -~]{72}|.{18})(?=.)/gsu, "$&\r\n ");
