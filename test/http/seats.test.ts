/** Seats on the server: what each role may, what an auditor's seat covers, what it looked at, and how its session ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { settingsFor, startTestBroker } from "../support/broker.ts";
import { type Operation, operationsOf } from "../support/operations.ts";
import {
  type Answer,
  type CallOptions,
  event,
  fact,
  MADE,
  startTestService,
  type TestService,
} from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;

/** Those that need a key, in the order of the document. */
let routes: readonly Operation[] = [];

const TENANT = "acme";
const IN_JUNE = "2026-06-10T10:00:00Z";
const IN_JULY = "2026-07-10T10:00:00Z";

const makeSeat = async (seat: object, tenant = TENANT): Promise<string> => {
  const { status, json, text } = await service.call("/v1/keys", { body: { tenant, ...seat } });
  if (status !== 201) throw new Error(text);
  return json.data.api_key;
};

const auditor = (covers?: object, more: object = {}): Promise<string> =>
  makeSeat({ role: "auditor", ...(covers && { covers }), ...more });

interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
}

const signIn = async (key: string, at: TestService = service, cookie = ""): Promise<SignedIn> => {
  const { status, headers, json, text } = await at.call("/v1/session", {
    method: "POST",
    key,
    headers: { origin: at.url, cookie },
  });
  if (status !== 201) throw new Error(text);
  return { cookie: headers.get("set-cookie")?.split(";")[0] ?? "", csrf: json.data.csrf_token };
};

const asking = (
  path: string,
  { cookie, csrf }: SignedIn,
  options: CallOptions = {},
  at: TestService = service,
): Promise<Answer> =>
  at.call(path, { ...options, key: null, headers: { ...options.headers, cookie, "x-csrf-token": csrf } });

beforeAll(async () => {
  service = await startTestService({ CHECKPOINT_INTERVAL: "300ms" });
  routes = (await operationsOf(service)).filter(({ needsKey }) => needsKey);
  const key = await makeSeat({ role: "officer" });
  const decided = (id: string, asset_id: string, timestamp: string, more: object = {}) =>
    fact(id, MADE, { decision_id: id.replace("evt", "dec") }, { asset_id, timestamp, ...more });
  const review = { event_type: "decision.human_review_triggered" };
  const sent = [
    decided("evt_1", "credit_model", IN_JUNE, { correlation_id: "case-1" }),
    decided("evt_late", "credit_model", IN_JULY, { correlation_id: "case_late" }),
    decided("evt_foreign", "hidden_model", IN_JUNE, { correlation_id: "case_foreign" }),
    decided("evt_both", "credit_model", IN_JUNE, { correlation_id: "case_both" }),
    // It belongs to the decision above, and is about another system.
    fact(
      "evt_beside",
      "decision.human_review_completed",
      { decision_id: "dec_both", reviewer_id: "hidden_model clerk" },
      { asset_id: "hidden_model", timestamp: IN_JUNE, correlation_id: "case_both" },
    ),
    fact(
      "evt_review",
      MADE,
      { decision_id: "dec_1" },
      { ...review, timestamp: IN_JUNE, correlation_id: "case-1" },
    ),
  ];
  let sequence = 0;
  for (const body of sent) sequence = (await service.call("/v1/events", { key, body })).json.data.sequence;
  await Promise.all(
    [
      "events?",
      "cases/case-1?",
      "assets?",
      "coverage?",
      "activity?",
      "models?",
      "events/evt_1/proof?wait=20&",
    ].map((path) => service.call(`/v1/${path}min_sequence=${sequence}`, { key })),
  );
});
afterAll(() => service[Symbol.asyncDispose]());

const CALLERS = [
  "nobody",
  "unknown key",
  "other tenant",
  "admin",
  "officer",
  "auditor",
  "elsewhere",
  "developer",
  "sender",
] as const;

/** By the callers above. Another tenant's 200 is an empty list, a policy of its own, or its own session; that of a seat elsewhere as well. */
const STATUSES = `
POST /v1/events                                401 401 400 400 400 403 403 400 400
GET /v1/events                                 401 401 200 200 200 200 200 200 403
POST /v1/events/batch                          401 401 400 400 400 403 403 400 400
GET /v1/events/stream                          401 401 200 200 200 200 403 200 403
GET /v1/evidence                               401 401 404 200 200 200 403 403 403
GET /v1/evidence/preview                       401 401 404 200 200 200 403 403 403
GET /v1/evidence/bundles                       401 401 200 200 200 200 403 403 403
GET /v1/events/{event_id}                      401 401 404 200 200 200 404 200 403
GET /v1/assets/{asset_id}/timeline             401 401 404 200 200 200 403 200 403
GET /v1/export                                 401 401 200 200 200 200 200 200 403
GET /v1/assets                                 401 401 200 200 200 200 403 403 403
GET /v1/assets/{asset_id}                      401 401 404 200 200 200 403 403 403
GET /v1/cases/{correlation_id}                 401 401 404 200 200 200 404 403 403
GET /v1/decisions/{decision_id}                401 401 404 200 200 200 404 403 403
GET /v1/log/checkpoint                         401 401 404 200 200 200 200 200 403
GET /v1/log/key                                401 401 200 200 200 200 200 200 403
GET /v1/log/consistency                        401 401 404 200 200 200 200 200 403
GET /v1/log/tile/{level}/{number}              401 401 404 200 200 200 200 200 403
GET /v1/log/tile/{level}/{number}/{width}      401 401 404 200 200 200 200 200 403
GET /v1/events/{event_id}/proof                401 401 404 200 200 200 404 200 403
GET /v1/decisions                              401 401 200 200 200 200 200 403 403
GET /v1/registers/transparency                 401 401 200 200 200 200 200 403 403
GET /v1/registers/objections                   401 401 200 200 200 200 200 403 403
GET /v1/registers/human-reviews                401 401 200 200 200 200 200 403 403
GET /v1/registers/incidents                    401 401 200 200 200 200 200 403 403
GET /v1/registers/assessments                  401 401 200 200 200 200 200 403 403
GET /v1/registers/risk-changes                 401 401 200 200 200 200 200 403 403
GET /v1/registers/models                       401 401 200 200 200 200 200 403 403
GET /v1/sources                                401 401 200 200 200 200 403 200 403
GET /v1/sources/gaps                           401 401 200 200 200 200 403 200 403
GET /v1/coverage                               401 401 200 200 200 200 403 403 403
GET /v1/obligations                            401 401 200 200 200 200 200 403 403
POST /v1/obligations/{obligation_id}/waive     401 401 400 400 400 403 403 403 403
POST /v1/obligations/{obligation_id}/unwaive   401 401 400 400 400 403 403 403 403
GET /v1/obligations.ics                        401 401 200 200 403 403 403 403 403
POST /v1/calendars                             401 401 400 400 400 400 403 403 403
GET /v1/calendars                              401 401 200 200 200 200 403 403 403
DELETE /v1/calendars/{id}                      401 401 404 404 404 404 403 403 403
GET /v1/reconciliation                         401 401 200 200 200 200 403 403 403
GET /v1/activity                               401 401 200 200 200 200 403 200 403
POST /v1/embed-tokens                          401 401 400 400 403 403 403 403 403
POST /v1/classify                              401 401 400 400 400 400 400 400 400
GET /v1/vocabulary                             401 401 200 200 200 200 200 200 200
POST /v1/keys                                  401 401 400 400 403 403 403 403 403
GET /v1/keys                                   401 401 200 200 403 403 403 403 403
DELETE /v1/keys/{id}                           401 401 404 404 403 403 403 403 403
POST /v1/keys/{id}/rotate                      401 401 404 404 403 403 403 403 403
POST /v1/session                               401 401 401 201 201 201 201 201 403
GET /v1/session                                401 401 200 200 200 200 200 200 403
DELETE /v1/session                             401 401 200 200 200 200 200 200 403
GET /v1/session/views                          401 401 200 200 200 200 200 200 403
GET /v1/retention                              401 401 200 200 403 403 403 403 403
PUT /v1/retention                              401 401 200 200 403 403 403 403 403
POST /v1/holds                                 401 401 400 400 403 403 403 403 403
GET /v1/holds                                  401 401 200 200 403 403 403 403 403
DELETE /v1/holds/{id}                          401 401 404 404 403 403 403 403 403
POST /v1/holds/{id}/release                    401 401 400 400 403 403 403 403 403
GET /v1/retention/expiring                     401 401 200 200 403 403 403 403 403
POST /v1/restore/accept                        401 401 400 400 403 403 403 403 403
`;

test("every route answers everybody with exactly this status", async () => {
  const elsewhere = {
    asset_ids: ["another_model"],
    from: "2020-01-01T00:00:00Z",
    to: "2020-02-01T00:00:00Z",
  };
  const other = await signIn(await makeSeat({ role: "admin" }, "other"));
  const keys: Partial<Record<(typeof CALLERS)[number], string>> = {
    "unknown key": "ptk_k3Yb0Qz81mNd_unknown",
    admin: await makeSeat({ role: "admin" }),
    officer: await makeSeat({ role: "officer" }),
    auditor: await auditor(),
    elsewhere: await auditor(elsewhere),
    developer: await makeSeat({ role: "developer" }),
    sender: await service.makeKey(TENANT, ["events:write"]),
  };
  const found: string[] = [];
  for (const { name, method, path, takesBody } of routes) {
    // A stream has no end.
    const options = { method: path.endsWith("/stream") ? "HEAD" : method, ...(takesBody && { body: {} }) };
    const statuses: number[] = [];
    for (const caller of CALLERS) {
      const answer =
        caller === "other tenant"
          ? await asking(path, other, options)
          : await service.call(path, { ...options, key: keys[caller] ?? null });
      statuses.push(answer.status);
      if (caller === "other tenant" || caller === "elsewhere")
        expect([name, caller, /evt_(late|foreign|review|both)|hidden_model/.exec(answer.text)]).toEqual([
          name,
          caller,
          null,
        ]);
    }
    found.push(`${name.padEnd(46)} ${statuses.join(" ")}`);
  }
  expect(found.join("\n")).toBe(STATUSES.trim());
});

describe("an auditor's seat", () => {
  const BY_SYSTEM = { asset_ids: ["credit_model"] };
  const BY_TIME = { from: "2026-06-01T00:00:00Z", to: "2026-07-01T00:00:00Z" };

  /** Every GET of the document, and what could be asked to see more. */
  const everything = (): readonly string[] => [
    ...routes
      .filter(({ method, path }) => method === "GET" && !path.endsWith("/stream"))
      .map(({ path }) => path),
    ...["evt_late", "evt_foreign", "evt_both", "evt_beside"].flatMap((id) => [
      `/v1/events/${id}`,
      `/v1/events/${id}/proof`,
    ]),
    ...["dec_late", "dec_foreign", "dec_both"].map((id) => `/v1/decisions/${id}`),
    ...["case_late", "case_foreign", "case_both"].map((id) => `/v1/cases/${id}`),
    "/v1/assets/hidden_model",
    "/v1/assets/hidden_model/timeline",
    "/v1/assets/credit_model/timeline",
    "/v1/events?q=hidden_model",
    "/v1/events?asset_id=credit_model,hidden_model",
    "/v1/events?asset_id=credit_model&asset_id=hidden_model",
    "/v1/events?time_field=received_at&from=2026-01-01T00:00:00Z",
    "/v1/events?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z",
    "/v1/events?correlation_id=case_late",
    "/v1/decisions?format=csv",
    "/v1/decisions?from=2026-07-01T00:00:00Z",
    "/v1/obligations?count=true&format=ndjson",
    "/v1/export?format=csv&from=2000-01-01T00:00:00Z",
    "/v1/activity?group_by=start,asset_id",
    "/v1/evidence?decision_id=dec_both",
    "/v1/evidence?correlation_id=case_foreign",
    "/v1/evidence?asset_id=hidden_model",
  ];

  test.each([
    ["by system", BY_SYSTEM, /evt_foreign|evt_beside|dec_foreign|hidden_model/],
    ["by time", BY_TIME, /evt_late|dec_late|case_late|2026-07-10/],
    [
      "by both",
      { ...BY_SYSTEM, ...BY_TIME },
      /evt_(late|foreign|beside)|dec_(late|foreign)|hidden_model|2026-07-10/,
    ],
  ] as const)("%s shows nothing outside, whatever is asked", async (_, covers, outside) => {
    const key = await auditor(covers);
    for (const path of everything()) {
      const { status, text } = await service.call(path, { key });
      expect([path, status < 500]).toEqual([path, true]);
      // What was asked stands in the list of what was looked at.
      if (!path.startsWith("/v1/session")) expect([path, outside.exec(text)?.[0]]).toEqual([path, undefined]);
    }
  });

  test("shows what is inside", async () => {
    const key = await auditor({ ...BY_SYSTEM, ...BY_TIME });
    const ids = async (path: string, name: string) =>
      (await service.call(path, { key })).json.data
        .map((row: Record<string, unknown>) => Object(row.event ?? row)[name])
        .sort();
    expect(await ids("/v1/events", "event_id")).toEqual(["evt_1", "evt_both", "evt_review"]);
    expect(await ids("/v1/events?from=2026-06-10T00:00:00Z&asset_id=credit_model", "event_id")).toHaveLength(
      3,
    );
    expect(await ids("/v1/decisions", "decision_id")).toEqual(["dec_1", "dec_both"]);
    for (const path of [
      "events/evt_1",
      "events/evt_1/proof",
      "decisions/dec_1",
      "cases/case-1",
      "log/checkpoint",
    ])
      expect([path, (await service.call(`/v1/${path}`, { key })).status]).toEqual([path, 200]);
    const bySystem = await auditor(BY_SYSTEM);
    for (const path of ["assets/credit_model", "coverage", "evidence", "activity"])
      expect([path, (await service.call(`/v1/${path}`, { key: bySystem })).status]).toEqual([path, 200]);
  });

  test("gets bundles that say nothing of other systems, not even beside a decision", async () => {
    const key = await auditor(BY_SYSTEM);
    const url = `${service.url}/v1/evidence?wait=20`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const files = Object.entries(unzipSync(new Uint8Array(await answer.arrayBuffer())));
    const texts = files.map(([name, bytes]) => [name, new TextDecoder().decode(bytes)] as const);
    expect(texts.filter(([, text]) => text.includes("evt_both")).length).toBeGreaterThan(1);
    expect(
      texts.flatMap(([name, text]) => (/evt_(foreign|beside)|hidden_model/.test(text) ? [name] : [])),
    ).toEqual([]);
  });

  test("says why it refuses, and answers what is outside as what does not exist", async () => {
    const key = await auditor({ ...BY_SYSTEM, ...BY_TIME });
    for (const [path, status, code, detail] of [
      ["events?asset_id=hidden_model", 403, "outside_seat", "It covers other systems: credit_model."],
      ["events?asset_id=never_seen", 403, "outside_seat", "It covers other systems"],
      ["assets/hidden_model/timeline", 403, "outside_seat", "It covers other systems"],
      ["events?from=2026-08-01T00:00:00Z", 403, "outside_seat", "another time range"],
      ["events?time_field=received_at", 403, "outside_seat", "omit time_field"],
      ["coverage", 403, "outside_seat", "a time range"],
      ["sources", 403, "outside_seat", "cannot be limited"],
      ["decisions/dec_both", 403, "outside_seat", "Some of its events lie outside"],
      ["cases/case_both", 403, "outside_seat", "Some of its events lie outside"],
      ["decisions/dec_late", 404, "not_found", "Nothing like this"],
      ["events/evt_foreign", 404, "not_found", "Nothing like this"],
      ["events/evt_never", 404, "not_found", "Nothing like this"],
      ["events/evt_foreign/proof", 404, "not_found", "no such event"],
      ["events?from=yesterday", 400, "invalid_request", ""],
      ["events?colour=red", 400, "invalid_request", ""],
    ] as const) {
      const answer = await service.call(`/v1/${path}`, { key });
      expect([path, answer.status, answer.json.code]).toEqual([path, status, code]);
      expect([path, answer.json.detail]).toEqual([path, expect.stringContaining(detail)]);
    }
    const bySystem = await auditor(BY_SYSTEM);
    const bundle = await service.call("/v1/evidence?decision_id=dec_1", { key: bySystem });
    expect([bundle.status, bundle.json.detail]).toEqual([403, expect.stringContaining("ask by asset_id")]);
  });

  test("takes systems whose ids have commas and backslashes", async () => {
    const asset_id = "a,b\\c\\,d";
    const key = await makeSeat({ role: "officer" });
    const body = event({ event_id: "evt_comma", asset_id });
    const { sequence } = (await service.call("/v1/events", { key, body })).json.data;
    const seat = await auditor({ asset_ids: [asset_id] });
    const { json } = await service.call(`/v1/events?min_sequence=${sequence}`, { key: seat });
    expect(json.data.map((row: { event: { event_id: string } }) => row.event.event_id)).toEqual([
      "evt_comma",
    ]);
  });

  test("sees what it looked at, once for each question and session, and nobody else's", async () => {
    const [key, other] = [await auditor(), await auditor()];
    const [first, second] = [await signIn(key), await signIn(key)];
    await asking("/v1/decisions?asset_id=credit_model&limit=1", first);
    await asking("/v1/decisions?limit=2&asset_id=credit_model", first);
    await asking("/v1/decisions?asset_id=credit_model", second);
    await asking("/v1/decisions/dec_1", first);
    await asking("/v1/decisions/dec_never", first);
    await asking("/v1/vocabulary", first);
    await asking("/v1/export", first);
    await service.call("/v1/registers/transparency", { key: other });
    const decisions = {
      route: "/v1/decisions",
      path: "/v1/decisions",
      filters: { asset_id: ["credit_model"] },
    };
    const one = { route: "/v1/decisions/:decision_id", path: "/v1/decisions/dec_1", filters: {} };
    const rows = await until("the views are listed", async () => {
      const { json } = await asking("/v1/session/views", first);
      return json.data.length >= 3 ? json.data : undefined;
    });
    expect(rows).toEqual(
      [one, decisions, decisions].map((row) => ({ viewed_at: expect.any(String), ...row })),
    );
    const page = await asking("/v1/session/views?limit=1", first);
    const rest = await asking(`/v1/session/views?limit=5&cursor=${page.json.next_cursor}`, first);
    expect([...page.json.data, ...rest.json.data]).toEqual(rows);
    const others = await until("the other's views are listed", async () => {
      const { json } = await service.call("/v1/session/views", { key: other });
      return json.data.length > 0 ? json.data : undefined;
    });
    expect(others).toHaveLength(1);
  });
});

describe("the session of a seat", () => {
  test("says role, person, covers and the end of the seat", async () => {
    const covers = { asset_ids: ["credit_model"], from: "2026-06-01T00:00:00.000Z" };
    const expires_at = "2099-01-01T00:00:00.000Z";
    const key = await auditor(covers, { person: "j.kim@audit.example", expires_at });
    const { json } = await asking("/v1/session", await signIn(key));
    expect(json.data).toMatchObject({
      role: "auditor",
      person: "j.kim@audit.example",
      covers,
      seat_ends_at: expires_at,
    });
  });

  test("ends when the seat ends, and when it is revoked", async () => {
    const expires_at = new Date(Date.now() + 2_000).toISOString();
    const expiring = await signIn(await auditor(undefined, { expires_at }));
    expect((await asking("/v1/decisions", expiring)).status).toBe(200);
    const key = await auditor();
    const revoked = await signIn(key);
    await service.call(`/v1/keys/${key.split("_")[1]}`, { method: "DELETE" });
    for (const session of [revoked, expiring]) {
      const ended = await until("the session has ended", async () => {
        const answer = await asking("/v1/decisions", session);
        return answer.status === 401 ? answer : undefined;
      });
      expect(ended.json.code).toBe("invalid_api_key");
      expect((await asking("/v1/session", session)).status).toBe(401);
    }
  });

  test("works at every front end, and ends at every one", async () => {
    await using broker = await startTestBroker();
    await using one = await startTestService({ ...settingsFor(broker) });
    await using two = await startTestService({ ...settingsFor(broker) });
    const seat = { tenant: TENANT, role: "developer" };
    const key = (await one.call("/v1/keys", { body: seat })).json.data.api_key;
    const session = await signIn(key, one);
    const decided = async (at: TestService, status: number): Promise<string> =>
      until(`the other front end answers ${status}`, async () => {
        const answer = await asking("/v1/decisions", session, {}, at);
        return answer.status === status ? answer.json.code : undefined;
      });
    for (const at of [one, two]) expect(await decided(at, 403)).toBe("outside_role");
    const written = await asking("/v1/events", session, { body: event({ event_id: "evt_two" }) }, two);
    expect(written.status).toBe(202);
    await two.call(`/v1/keys/${key.split("_")[1]}`, { method: "DELETE" });
    for (const at of [one, two]) expect(await decided(at, 401)).toBe("invalid_api_key");
  });

  test("does not open another tenant, does not outlive a planted cookie, and writes only with its own token", async () => {
    const officer = await makeSeat({ role: "officer" });
    const [mine, theirs] = [
      await signIn(officer),
      await signIn(await makeSeat({ role: "officer" }, "other")),
    ];
    expect((await asking("/v1/events/evt_1", theirs)).status).toBe(404);
    expect((await signIn(officer, service, theirs.cookie)).cookie).not.toBe(theirs.cookie);
    const body = event({ event_id: "evt_stolen" });
    for (const csrf of ["", theirs.csrf, mine.csrf.slice(1)]) {
      const answer = await asking("/v1/events", { ...mine, csrf }, { body });
      expect([csrf, answer.status, answer.json.code]).toEqual([csrf, 403, "csrf_token_required"]);
    }
    expect((await asking("/v1/events", mine, { body })).status).toBe(202);
    // The id of one key before the sealed part of another.
    const mixed = `${mine.cookie.split(".")[0]}.${theirs.cookie.split(".")[1]}`;
    const answer = await asking("/v1/events/evt_1", { ...mine, cookie: mixed });
    expect([answer.status, answer.json.code]).toEqual([401, "session_ended"]);
  });
});
