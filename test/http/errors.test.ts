import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { PROBLEM_CODES, PROBLEMS } from "../../src/api/http/problem.ts";
import { ProblemBody } from "../../src/api/http/schemas.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { brokerPid, standStill } from "../support/process.ts";
import { openRaw } from "../support/raw-connection.ts";
import { type Answer, event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

const isProblem = TypeCompiler.Compile(ProblemBody);
const seen = new Set<string>();

/** Every refusal has this form, whatever its reason. */
const expectProblem = (answer: Answer, code: (typeof PROBLEM_CODES)[number]): void => {
  expect([answer.status, answer.json?.code]).toEqual([PROBLEMS[code].status, code]);
  expect(isProblem.Check(answer.json)).toBe(true);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.headers.get("x-request-id")).toBe(answer.json.request_id);
  expect(answer.json).toMatchObject({
    type: `urn:prooftrail:problem:${code}`,
    status: PROBLEMS[code].status,
  });
  if (code === "invalid_request") expect(answer.json.errors).not.toBeEmpty();
  expect(answer.text).not.toContain("hunter2");
  seen.add(code);
};

const post = (body: string | Uint8Array<ArrayBuffer> | object, headers: Record<string, string> = {}) =>
  service.call("/v1/events", { body, headers });

describe("400", () => {
  test.each([["{"], [""], ["hunter2"], ['{"event_id":"hunter2",}'], ["'{}'"], ["[".repeat(200_000)]])(
    "a body that is not JSON: %p",
    async (body) => {
      expectProblem(await post(body), "invalid_json");
      expectProblem(await service.call("/v1/events/batch", { body }), "invalid_json");
    },
  );

  test("a body that is not UTF-8", async () => {
    const bytes = Uint8Array.from([...new TextEncoder().encode('{"event_id":"hunter2'), 0xff, 0x22, 0x7d]);
    expectProblem(await post(bytes), "invalid_utf8");
    expectProblem(await service.call("/v1/events/batch", { body: bytes }), "invalid_utf8");
  });

  test("a schema violation names every field, and never repeats what was sent", async () => {
    const answer = await post(
      event({ event_type: "hunter2", timestamp: "hunter2", tags: { hunter: null }, metadata: 7 }),
    );
    expectProblem(answer, "invalid_request");
    expect(answer.json.errors.map(({ path, code }: { path: string; code: string }) => [path, code])).toEqual([
      ["/timestamp", "invalid_value"],
      ["/event_type", "unknown_event_type"],
      ["/tags/hunter", "invalid_value"],
      ["/metadata", "invalid_type"],
    ]);
  });

  test("a member that appears twice is refused, not guessed", async () => {
    const answer = await post('{"event_id":"evt_d","event_id":"evt_e","timestamp":"2026-11-20T10:00:00Z"}');
    expectProblem(answer, "invalid_request");
    expect(answer.json.errors).toMatchObject([
      { path: "/event_id", code: "duplicate_member" },
      { path: "/asset_id", code: "required" },
      { path: "/event_type", code: "required" },
    ]);
    expect(answer.json.detail).toBe("The request has 3 problems.");
  });

  test("of thousands of unknown parameters the first are named and all are counted", async () => {
    const names = Array.from({ length: 2000 }, (_, index) => `x${index}`);
    const answer = await service.call(`/v1/events?${names.join("&")}`);
    expectProblem(answer, "invalid_request");
    expect(answer.json.detail).toBe("The request has 2000 problems; the first 50 are listed.");
    expect(answer.json.errors.map(({ path }: { path: string }) => path)).toEqual(
      names.slice(0, 50).map((name) => `query:${name}`),
    );
  });

  test("in a batch, an event with a member that appears twice is named by its event_id, unless event_id is that member", async () => {
    const twice = (member: string) =>
      JSON.stringify(event({ event_id: "evt_twice" })).replace("{", `{${member},`);
    const answer = await service.call("/v1/events/batch", {
      body: `{"events":[${twice('"asset_id":"a"')},${twice('"event_id":"evt_e"')}]}`,
    });
    expect(answer.json.data.errors.map(({ event_id }: { event_id?: string }) => event_id)).toEqual([
      "evt_twice",
      undefined,
    ]);
  });

  test.each([
    [
      "17 tags",
      event({ tags: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 1])) }),
      "/tags",
    ],
    ["no event at all", null, ""],
    ["an array", [event()], ""],
  ])("%s", async (_, body, path) => {
    const answer = await post(JSON.stringify(body));
    expectProblem(answer, "invalid_request");
    expect(answer.json.errors).toMatchObject([{ path }]);
  });

  test.each([
    ["1001 events", { events: Array.from({ length: 1001 }, () => 0) }, "/events", "too_many"],
    ["no events", {}, "/events", "required"],
    ["events that is no array", { events: {} }, "/events", "invalid_type"],
    ["a list instead of an object", [], "", "invalid_type"],
  ])("a batch with %s", async (_, body, path, code) => {
    const answer = await service.call("/v1/events/batch", { body });
    expectProblem(answer, "invalid_request");
    expect(answer.json.errors).toMatchObject([{ path, code }]);
  });

  test.each(["", "a b", "x".repeat(256), "ü"])("an Idempotency-Key of %p", async (key) => {
    for (const path of ["/v1/events", "/v1/events/batch"]) {
      // Written by hand, because fetch trims or refuses some of these values.
      const answer = await rawRequest(path, `Idempotency-Key: ${key}`, '{"events":[]}');
      expect(answer).toStartWith("HTTP/1.1 400");
      expect(answer).toContain('"path":"header:Idempotency-Key"');
    }
  });

  test.each([
    ["limit=1e2", "query:limit"],
    ["limit=0x10", "query:limit"],
    ["limit=01", "query:limit"],
    ["limit=%2B1", "query:limit"],
    ["limit=%2010", "query:limit"],
    ["min_sequence=00", "query:min_sequence"],
    ["limit=1&limit=2", "query:limit"],
    ["from=2026-11-20", "query:from"],
    ["order=newest", "query:order"],
    ["cursor=hunter2", "query:cursor"],
  ])("a query with %s", async (query, path) => {
    const answer = await service.call(`/v1/events?${query}`);
    expectProblem(answer, "invalid_request");
    expect(answer.json.errors).toMatchObject([{ path }]);
  });

  test.each([
    ["/v1/events/stream?after=00", "query:after"],
    ["/v1/log/consistency?from=01", "query:from"],
  ])("%s, a number with a zero in front", async (path, at) => {
    const answer = await service.call(path);
    expectProblem(answer, "invalid_request");
    expect(answer.json.errors).toMatchObject([{ path: at }]);
  });
});

describe("401 and 403", () => {
  test("no key", async () => {
    const answer = await service.call("/v1/events", { key: null, body: event() });
    expectProblem(answer, "missing_api_key");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("a wrong key of any shape gets no further explanation", async () => {
    const key = await service.makeKey("wrong-keys");
    const wrong = [`${key}x`, key.slice(0, -1), key.replace("ptk_", "pak_"), "ptk_hunter2", "Basic hunter2"];
    for (const text of wrong)
      expectProblem(await service.call("/v1/events", { key: text, body: event() }), "invalid_api_key");
  });

  test("for a key without Bearer or with another scheme, the answer says where to put it", async () => {
    for (const authorization of ["Basic hunter2", service.adminKey, "hunter2", `Token ${service.adminKey}`]) {
      const answer = await service.call("/v1/events", { key: null, headers: { authorization } });
      expectProblem(answer, "missing_api_key");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.json.detail).toContain("put them before the key, `Authorization: Bearer <key>`");
    }
  });

  test("two Authorization headers are reported as two, whatever they contain", async () => {
    const { adminKey } = service;
    for (const [one, other] of [
      [`Bearer ${adminKey}`, `Bearer ${adminKey}`],
      [`Bearer ${adminKey}`, "Basic aHVudGVyMg=="],
      ["Basic aHVudGVyMg==", `bearer ${adminKey}`],
    ] as const) {
      const headers = new Headers({ authorization: one });
      headers.append("authorization", other);
      const answer = await service.call("/v1/events", { key: null, headers: Object.fromEntries(headers) });
      expectProblem(answer, "invalid_api_key");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.json.detail).toBe(
        "There is more than one Authorization header: send one, `Authorization: Bearer <key>`.",
      );
    }
  });

  test("a session: one that has ended, and a write without its token", async () => {
    const ended = { cookie: "prooftrail-loopback=k3Yb0Qz81mNd.x" };
    const answer = await service.call("/v1/events", { key: null, headers: ended });
    expectProblem(answer, "session_ended");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    const { headers } = await service.call("/v1/session", {
      method: "POST",
      headers: { origin: service.url },
    });
    const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    const written = await service.call("/v1/events", { key: null, headers: { cookie }, body: event() });
    expectProblem(written, "csrf_token_required");
  });

  test("a key without the scope gets an answer with the missing scope", async () => {
    const key = await service.makeKey("readers", ["events:read"]);
    const answer = await service.call("/v1/events", { key, body: event() });
    expectProblem(answer, "insufficient_scope");
    for (const [seat, path, code] of [
      [{ role: "developer" }, "/v1/decisions", "outside_role"],
      [{ role: "auditor", covers: { asset_ids: ["a"] } }, "/v1/sources", "outside_seat"],
    ] as const) {
      const { json } = await service.call("/v1/keys", { body: seat });
      expectProblem(await service.call(path, { key: json.data.api_key }), code);
    }
    expect(answer.json.detail).toContain("events:write");
  });
});

describe("404 and 405", () => {
  test.each([
    "/v2/events",
    "/v1/event",
    "/v1/events/x/y",
    "/docs/assets/../../package.json",
    "/docs/assets/none",
  ])("%s", async (path) => expectProblem(await service.call(path), "not_found"));

  test("an event of another tenant is not found, with the same answer as for one that does not exist", async () => {
    const other = await service.makeKey("outsiders");
    const sent = await post(event({ event_id: "evt_private" }));
    const sequence = sent.json.data.sequence;
    const foreign = await service.call(`/v1/events/evt_private?min_sequence=${sequence}`, { key: other });
    const missing = await service.call(`/v1/events/evt_nothing?min_sequence=${sequence}`, { key: other });
    expectProblem(foreign, "not_found");
    expect({ ...foreign.json, request_id: "" }).toEqual({ ...missing.json, request_id: "" });
  });

  test("a known path with another method is answered with its methods", async () => {
    const answer = await service.call("/v1/keys/x/rotate", { method: "PATCH", body: {} });
    expectProblem(answer, "method_not_allowed");
    expect(answer.headers.get("allow")).toBe("OPTIONS, POST");
    const options = await service.call("/v1/events", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS, POST"]);
  });
});

test("409 and 422 have the same form (details in the tests of ingestion)", async () => {
  const headers = { "idempotency-key": "conflict" };
  await post(event({ event_id: "evt_conflict" }));
  await post(event({ event_id: "evt_other" }), headers);
  expectProblem(await post(event({ event_id: "evt_conflict", asset_id: "hunter2" })), "event_id_conflict");
  expectProblem(await post(event({ event_id: "evt_third" }), headers), "idempotency_key_reused");
});

describe("413", () => {
  const large = (bytes: number): string => JSON.stringify(event({ metadata: { text: "x".repeat(bytes) } }));

  test("an event above 256 KiB, and the answer names the event", async () => {
    const answer = await post(large(256 * 1024));
    expectProblem(answer, "payload_too_large");
    expect(answer.json.detail).toBe("The event is larger than 262144 bytes.");
  });
});

test.each([
  ["text/plain", {}],
  ["application/x-www-form-urlencoded", {}],
  ["application/cloudevents+json", {}],
  ["application/json; charset=latin1", {}],
  ["application/json", { "content-encoding": "br" }],
])("415: %s %o", async (type, headers) => {
  expectProblem(
    await post(JSON.stringify(event()), { "content-type": type, ...headers }),
    "unsupported_media_type",
  );
});

test.each([
  "APPLICATION/JSON",
  'application/json; charset="UTF-8"',
  "application/json;charset=utf-8",
  "application/json; foo=bar",
])("%s counts as JSON", async (type) => {
  const answer = await post(JSON.stringify(event({ event_id: `evt_${type}` })), { "content-type": type });
  expect(answer.status).toBe(202);
});

test("429: a key with its own limit is told when to retry", async () => {
  const limits = { requests_per_second: 5 };
  const made = await service.call("/v1/keys", {
    body: { tenant: "limited", scopes: ["events:read"], rate_limit: limits },
  });
  const key = made.json.data.api_key;
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.call("/v1/events", { key })));
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThanOrEqual(10);
  for (const answer of limited) expectProblem(answer, "rate_limited");
  expect(limited[0]?.headers.get("retry-after")).toBe("1");
  expect(limited[0]?.headers.get("ratelimit-policy")).toBe('"requests";q=5;w=1');
  expect(limited[0]?.headers.get("ratelimit")).toBe('"requests";r=0;t=1');
});

test("429: events are counted one by one, also in a batch", async () => {
  const rate_limit = { events_per_second: 10 };
  const made = await service.call("/v1/keys", {
    body: { tenant: "counted", scopes: ["events:write"], rate_limit },
  });
  const key = made.json.data.api_key;
  const events = Array.from({ length: 1000 }, (_, index) => event({ event_id: `evt_counted_${index}` }));
  expect((await service.call("/v1/events/batch", { key, body: { events } })).status).toBe(202);
  const answer = await service.call("/v1/events", { key, body: event({ event_id: "evt_counted_1000" }) });
  expectProblem(answer, "rate_limited");
  // The window of 100 s holds one full batch.
  expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 101);
  expect(answer.headers.get("ratelimit-policy")).toBe('"events";q=1000;w=100');
});

test("a head of more than 16 KiB is refused before it is read", async () => {
  const statusOf = async (length: number) =>
    (await service.call("/health/live", { headers: { "x-filler": "a".repeat(length) } })).status;
  expect([await statusOf(15 * 1024), await statusOf(16 * 1024)]).toEqual([200, 431]);
});

test("so is a head of more headers than the document says", async () => {
  const { json } = await service.call("/docs/json");
  const headersMax = Number(/16 KiB or (\d+) headers/.exec(json.info.description)?.[1]);
  const statusLineOf = async (headers: number) => {
    const fillers = Array.from({ length: headers - 2 }, (_, index) => `X-${index}: a\r\n`).join("");
    const answer = await rawExchange(
      `GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fillers}\r\n`,
    );
    return answer.slice(0, "HTTP/1.1 200".length);
  };
  expect([await statusLineOf(headersMax), await statusLineOf(headersMax + 1)]).toEqual([
    "HTTP/1.1 200",
    "HTTP/1.1 431",
  ]);
});

describe("503", () => {
  test("load above the limit is refused at once, nothing is stored, and the client can retry safely", async () => {
    const batch = (name: string) => ({
      body: {
        events: Array.from({ length: 1000 }, (_, index) => event({ event_id: `evt_${name}_${index}` })),
      },
    });
    // The broker is paused, so that requests in flight stay in flight.
    const pid = brokerPid(service.dataDir);
    await standStill(pid);
    let isRefused = false;
    const calls = Array.from({ length: 8 }, async (_, index) => {
      const answer = await service.call("/v1/events/batch", batch(`over${index}`));
      isRefused ||= answer.status === 503;
      return answer;
    });
    await until("a batch is refused", () => isRefused);
    process.kill(pid, "SIGCONT");
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectProblem(answer, "overloaded");
      expect(answer.headers.get("retry-after")).toBe("1");
    }
    const retried = await service.call(
      "/v1/events/batch",
      batch(`over${answers.findIndex(({ status }) => status === 503)}`),
    );
    expect(retried.json.data).toMatchObject({ accepted: 1000, duplicates: 0 });
    // The next test asks for a sequence behind all these.
    await callUntilSeen(service.call, `/v1/events?limit=1&min_sequence=${retried.json.data.sequence}`);
  });

  test("without the broker no event is acknowledged; when it is back, the retry is stored once", async () => {
    const pid = brokerPid(service.dataDir);
    process.kill(pid, "SIGKILL");
    const body = event({ event_id: "evt_outage" });
    let attempts = 0;
    const during = await until("an event is refused", async () => {
      const answer = await post(event({ event_id: `evt_outage_${attempts++}` }));
      return answer.status === 503 ? answer : undefined;
    });
    expectProblem(during, "log_unavailable");
    expect(during.headers.get("retry-after")).toBe("1");
    const notReady = await service.call("/health/ready");
    expectProblem(notReady, "not_ready");
    expect(notReady.json.reasons).toEqual(["The broker is not connected."]);
    expectProblem(await service.call("/health/ready?without=views"), "not_ready");
    for (const query of ["without=view", "without=", "with=views"])
      expectProblem(await service.call(`/health/ready?${query}`), "invalid_request");
    const after = await until("the retry is accepted", async () => {
      const answer = await post(body);
      return answer.status === 202 ? answer : undefined;
    });
    const read = await service.call(`/v1/events/evt_outage?min_sequence=${after.json.data.sequence}`);
    expect(read.json.data).toMatchObject({ sequence: after.json.data.sequence, event: body });
    await until(
      "the instance is ready again",
      async () => (await service.call("/health/ready")).status === 200,
    );
  });
});

test("a request may send its own id if it is a UUIDv7, and gets it back as written", async () => {
  const own = "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10";
  for (const id of [own, own.toUpperCase()]) {
    const kept = await service.call("/v1/events", {
      body: event({ event_id: `evt_${id}` }),
      headers: { "x-request-id": id },
    });
    expect([kept.headers.get("x-request-id"), kept.json.request_id]).toEqual([id, id]);
    const read = await service.call(`/v1/events/evt_${id}?min_sequence=${kept.json.data.sequence}`);
    expect(read.status).toBe(200);
  }
  const replaced = await service.call("/v1/nothing", { headers: { "x-request-id": "hunter2\\n" } });
  expect(replaced.json.request_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

test("a path that the router does not know gets 404, and 405 only for a method that OPTIONS does not list", async () => {
  for (const [method, path, status] of [
    ["GET", "/health/live#top", 404],
    ["HEAD", "/health/live#top", 404],
    ["POST", "/v1/events#top", 404],
    ["DELETE", "/v1/events#top", 405],
    ["OPTIONS", "/v1/events#top", 204],
  ]) {
    const answer = await rawExchange(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([method, path, answer.slice(9, 12)]).toEqual([method, path, `${status}`]);
  }
});

test("no_api: any request to a process without the role api", async () => {
  await using projector = await startTestService({ ROLES: "projector" });
  for (const path of ["/v1/events", "/v1/sandbox/ping", "/docs", "/v1/nothing"])
    expectProblem(await projector.call(path), "no_api");
});

test("an optional body may be empty, however its length is given; a body that is present must have the right type", async () => {
  const made = await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"] } });
  const rotate = (headers: string, body: string): Promise<string> =>
    rawExchange(
      `POST /v1/keys/${made.json.data.id}/rotate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${service.adminKey}\r\n${headers}\r\n${body}`,
    );
  const chunked = "Transfer-Encoding: chunked\r\n";
  const json = "Content-Type: application/json\r\n";
  const text = "Content-Type: text/plain\r\n";
  for (const [headers, body, status] of [
    ["", "", 201],
    ["Content-Length: 0\r\n", "", 201],
    [chunked, "0\r\n\r\n", 201],
    [chunked + json, "0\r\n\r\n", 201],
    [chunked + json, "2\r\n{}\r\n0\r\n\r\n", 201],
    [chunked, "2\r\n{}\r\n0\r\n\r\n", 415],
    [chunked + text, "2\r\n{}\r\n0\r\n\r\n", 415],
    [`Content-Length: 2\r\n${text}`, "{}", 415],
    [chunked + json, "1\r\n \r\n0\r\n\r\n", 400],
  ] as const)
    expect([headers, body, (await rotate(headers, body)).slice(9, 12)]).toEqual([headers, body, `${status}`]);
});

test("every code of the catalogue was seen, except those that have tests of their own (of bodies, cases, embed, evidence, expiry, keys, min-sequence and obligations, and test/slow/restore.slow.ts)", () => {
  expect(PROBLEM_CODES.filter((code) => !seen.has(code)).toSorted()).toEqual([
    "case_expired",
    "case_shared",
    "changed_meanwhile",
    "embed_token_exceeded",
    "event_expired",
    "evidence_too_large",
    "internal_error",
    "log_behind",
    "log_not_behind",
    "not_sealed",
    "obligation_state_conflict",
    "request_timeout",
    "view_behind",
  ]);
});

test("every request wrote one log line without a secret", () => {
  const lines = service.lines.filter(({ message }) => message === "request");
  expect(lines.length).toBeGreaterThan(100);
  for (const line of lines) {
    expect(line).toMatchObject({
      request_id: expect.any(String),
      status: expect.any(Number),
      duration_ms: expect.any(Number),
    });
  }
  const printed = JSON.stringify(service.lines);
  for (const secret of ["hunter2", service.adminKey, "Bearer"]) expect(printed).not.toContain(secret);
});

test.each(["10.0.0.256:8080", "localhost:99999", "[::1", "a:80,b:80", "%zz.com"])(
  "an invalid Host is ignored, as every other Host is: %s",
  async (host) => {
    const ask = (line: string): Promise<string> =>
      rawExchange(
        `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer ${service.adminKey}\r\n\r\n`,
      );
    const lines = ["GET /v1/events?limit=1", "GET /v1/events/evt_none", "GET /nothing", "DELETE /v1/events"];
    const answers = await Promise.all(lines.map(ask));
    expect(answers.map((answer) => answer.slice(0, "HTTP/1.1 200".length))).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 404",
      "HTTP/1.1 404",
      "HTTP/1.1 405",
    ]);
  },
);

/** Sends one request as bytes on a socket. */
const rawRequest = (path: string, header: string, body: string): Promise<string> =>
  rawExchange(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${service.adminKey}\r\n${header}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

const rawExchange = (request: string): Promise<string> => openRaw(service.url, request).answer();
