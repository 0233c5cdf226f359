import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { answerSchema } from "../../src/api/http/openapi.ts";
import { batchAccepted, eventAccepted } from "../../src/api/routes/ingestion.ts";
import { type Answer, event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Elysia's registry has the formats `uuid` and `date-time`, which these schemas use. */
const isEventAccepted = TypeCompiler.Compile(answerSchema({ gives: eventAccepted }));
const isBatchAccepted = TypeCompiler.Compile(answerSchema({ gives: batchAccepted }));

const send = (body: string | object, headers: Record<string, string> = {}) =>
  service.call("/v1/events", { body, headers });
const sendBatch = (events: readonly unknown[]) => service.call("/v1/events/batch", { body: { events } });

describe("a single event", () => {
  test("is answered 202 with its place in the log, after it is stored", async () => {
    const answer = await send(event({ event_id: "evt_single", timestamp: new Date().toISOString() }));
    expect(answer.status).toBe(202);
    expect(isEventAccepted.Check(answer.json)).toBe(true);
    // The document must not mark a member as optional that every answer has.
    for (const name of ["event_id", "sequence", "received_at", "duplicate", "leaf_hash"]) {
      const { [name]: _left, ...others } = answer.json.data;
      expect([name, isEventAccepted.Check({ ...answer.json, data: others })]).toEqual([name, false]);
    }
    expect(answer.json.data).toMatchObject({ event_id: "evt_single", duplicate: false });
    expect(answer.json.data.warnings).toBeUndefined();
    expect(answer.headers.get("x-request-id")).toBe(answer.json.request_id);
    expect(answer.headers.get("idempotency-replayed")).toBeNull();
  });

  test("is answered as the first time when it is sent again, and stored once", async () => {
    const first = await send(event({ event_id: "evt_again", metadata: { a: 1, b: [1.0] } }));
    const again = await send(event({ metadata: { b: [1], a: 1 }, event_id: "evt_again" }));
    expect(again.status).toBe(202);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.json.data).toEqual({ ...first.json.data, duplicate: true });
  });

  test("has the same event_id if a UUID is written in upper or lower case", async () => {
    const id = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    const timestamp = new Date().toISOString();
    const first = await send(event({ event_id: id, timestamp }));
    const upper = await send(event({ event_id: id.toUpperCase(), timestamp }));
    const again = { ...first.json.data, duplicate: true };
    expect(upper.json.data).toEqual(again);
    const batch = { events: [event({ event_id: id.toUpperCase(), timestamp })] };
    const { json } = await service.call("/v1/events/batch?receipts=true", { body: batch });
    expect(json.data.receipts).toEqual([{ index: 0, ...again }]);
    const found = await service.call(
      `/v1/events/${id.toUpperCase()}?min_sequence=${first.json.data.sequence}`,
    );
    expect(found.json.data.event.event_id).toBe(id);
    const about = { event_type: "objection.received", metadata: { decision_id: id.toUpperCase() } };
    const { sequence } = (await send(event({ event_id: "evt_objection", ...about }))).json.data;
    for (const path of [`decisions/${id.toUpperCase()}?`, `obligations?decision_id=${id.toUpperCase()}&`]) {
      const read = await service.call(`/v1/${path}min_sequence=${sequence}`);
      expect([read.status, read.text]).toEqual([200, expect.stringContaining(`"decision_id":"${id}"`)]);
    }
  });

  test("is stored once under the same Idempotency-Key; other content gets 422", async () => {
    const headers = { "idempotency-key": "k-1" };
    const first = await send(event({ event_id: "evt_key" }), headers);
    const again = await send(event({ event_id: "evt_key" }), headers);
    const other = await send(event({ event_id: "evt_key_other" }), headers);
    expect(again.json.data).toEqual({ ...first.json.data, duplicate: true });
    expect([other.status, other.json.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("leaves nothing behind if it is refused: the corrected one is accepted under the same names", async () => {
    const headers = { "idempotency-key": "k-refused" };
    const refused = await send(event({ event_id: "evt_refused", risk_tier: "extreme" }), headers);
    const corrected = await send(event({ event_id: "evt_refused", risk_tier: "high" }), headers);
    expect([refused.status, corrected.status, corrected.json.data.duplicate]).toEqual([400, 202, false]);
  });

  test("is independent of an event of another tenant with the same names", async () => {
    const [acme, globex] = await Promise.all([service.makeKey("acme"), service.makeKey("globex")]);
    const body = event({ event_id: "evt_tenants" });
    const headers = { "idempotency-key": "k-tenants" };
    const first = await service.call("/v1/events", { key: acme, body, headers });
    const second = await service.call("/v1/events", {
      key: globex,
      body: { ...body, asset_id: "b" },
      headers,
    });
    expect([first.status, second.status, second.json.data.duplicate]).toEqual([202, 202, false]);
  });

  test("is stored once when it is sent fifty times at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send(event({ event_id: "evt_twins" }))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ json }) => json.data.sequence)).size).toBe(1);
    expect(answers.filter(({ json }) => !json.data.duplicate)).toHaveLength(1);
  });
});

describe("what was probably not intended is answered with a warning, and kept", () => {
  const timestamp = new Date().toISOString();
  const warnedOf = ({ json }: Answer): readonly string[] =>
    json.data.warnings.map(({ path, code, message }: Record<string, string>) => {
      const meant = /did you mean "([^"]+)"/.exec(message ?? "")?.[1];
      return [path, code, ...(meant === undefined ? [] : [meant])].join(" ");
    });

  test("in the answer to one event", async () => {
    const basis = await send(event({ timestamp, event_id: "evt_basis", legal_bases: ["gdpr_art22"] }));
    expect(warnedOf(basis)).toEqual(["/legal_bases/0 unknown_legal_basis gdpr_art_22"]);
    const metadata = { decisionId: "d", outcome: "denied", own_key: 1 };
    const key = await send(event({ timestamp, event_id: "evt_key", metadata }));
    expect(warnedOf(key)).toEqual(["/metadata/decisionId unknown_metadata_key decision_id"]);
    const early = new Date(Date.now() + 3_600_000).toISOString();
    const future = await send(event({ timestamp: early, event_id: "evt_future", asset_id: "Cafe\u0301" }));
    expect(warnedOf(future)).toEqual(["/timestamp timestamp_in_future", "/asset_id asset_id_not_normalised"]);
    const past = await send(event({ timestamp: "2026-01-01T00:00:00Z", event_id: "evt_past" }));
    expect(warnedOf(past)).toEqual(["/timestamp timestamp_long_ago"]);
  });

  test("and again where the event is read, by when it was received", async () => {
    const early = new Date(Date.now() + 3_600_000).toISOString();
    for (const members of [
      { timestamp: early, colour: "red" },
      { timestamp: "2026-01-01T00:00:00Z" },
      { timestamp },
    ]) {
      const sent = await send(
        event({ event_id: `evt_read_${Object.values(members).join("_")}`, ...members }),
      );
      const { event_id, sequence, warnings } = sent.json.data;
      const path = `/v1/events/${encodeURIComponent(event_id)}?warnings=true&min_sequence=${sequence}`;
      const read = await service.call(path);
      expect([members, read.json.data.warnings]).toEqual([members, warnings]);
    }
  });
});

describe("accepted events read back byte for byte", () => {
  const head = '"timestamp":"2026-11-20T10:00:00Z","asset_id":"a","event_type":"asset.created"';
  const bodies: [string, string][] = [
    [
      "numbers beyond doubles",
      `{"event_id":"evt_b1",${head},"metadata":{"n":[12345678901234567890,1e400,1.0,-0,0.1e-7]}}`,
    ],
    ["white space and order", `{ "metadata" : { "z":1,\n\t"a" : 2 } , "event_id":"evt_b2" , ${head} }`],
    [
      "U+0000 and lone surrogates",
      `{"event_id":"evt_b3",${head},"correlation_id":"\\u0000\\ud800","tags":{"\\u0000":"\\udfff"}}`,
    ],
    [
      "every plane, escaped and not",
      `{"event_id":"evt_b4",${head},"metadata":{"é":"\\u00e9😀\\ud83d\\ude00\\/"}}`,
    ],
    ["__proto__ and constructor", `{"event_id":"evt_b5",${head},"__proto__":{"x":1},"constructor":2}`],
    [
      "64 levels",
      `{"event_id":"evt_b6",${head},"metadata":${'{"d":'.repeat(62)}1${"}".repeat(62)}}`.replace(/}}$/, "}}"),
    ],
  ];
  test.each(bodies)("%s", async (_, text) => {
    const sent = await send(text);
    expect([sent.status, sent.text]).toEqual([202, sent.text]);
    const { event_id, sequence } = sent.json.data;
    const read = await service.call(`/v1/events/${event_id}?min_sequence=${sequence}`);
    expect(read.text).toBe(
      `{"data":{"sequence":${sequence},"tenant":"default","received_at":"${sent.json.data.received_at}","event":${text}},"request_id":"${read.json.request_id}"}`,
    );
  });
});

describe("a batch", () => {
  test("of 1000 mixed events gets an exact answer per index, and its events read back byte for byte", async () => {
    const texts = Array.from({ length: 1000 }, (_, index) =>
      index % 3 === 0
        ? JSON.stringify(event({ event_id: `evt_mixed_${index}`, risk_tier: "nope", tags: { a: null } }))
        : `{"n":1.${index}0, "event_id":"evt_mixed_${index}","timestamp":"2026-11-20T10:00:00.${index}Z","asset_id":"mixed","event_type":"incident.detected"}`,
    );
    const answer = await service.call("/v1/events/batch", { body: `{"events":[${texts.join(",\n")}]}` });
    expect(answer.status).toBe(202);
    expect(isBatchAccepted.Check(answer.json)).toBe(true);
    const { data } = answer.json;
    expect([data.accepted, data.rejected, data.duplicates]).toEqual([666, 334, 0]);
    expect(data.errors).toEqual(
      texts.flatMap((_, index) =>
        index % 3 === 0
          ? [
              {
                index,
                event_id: `evt_mixed_${index}`,
                code: "invalid_event",
                message: "The event has 2 problems; see errors.",
                errors: [
                  {
                    path: "/risk_tier",
                    code: "invalid_value",
                    message: 'risk_tier is not valid: send one of "low", "limited", "high", "prohibited".',
                  },
                  {
                    path: "/tags/a",
                    code: "invalid_value",
                    message:
                      "tags/a is not valid: send a text of at most 256 characters, a finite number, or a boolean.",
                  },
                ],
              },
            ]
          : [],
      ),
    );
    const read: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await service.call(
        `/v1/events?asset_id=mixed&order=asc&limit=200&min_sequence=${data.sequence}${cursor && `&cursor=${cursor}`}`,
      );
      read.push(
        ...page.text
          .split('"event":')
          .slice(1)
          .map((part) => part.slice(0, part.indexOf("}") + 1)),
      );
      cursor = page.json.next_cursor;
    }
    expect(read).toEqual(texts.filter((_, index) => index % 3 !== 0));
  });

  test("is accepted whole when it is sent again, as duplicates with the same sequences", async () => {
    const events = Array.from({ length: 20 }, (_, index) => event({ event_id: `evt_retry_${index}` }));
    const first = await sendBatch(events);
    const again = await sendBatch(events);
    expect(again.json.data).toEqual({ ...first.json.data, duplicates: 20 });
  });

  test("with one event_id twice stores it once: the same event is a duplicate, another event a conflict", async () => {
    const one = event({ event_id: "evt_twice" });
    const answer = await sendBatch([one, one, { ...one, asset_id: "other" }]);
    const { accepted, rejected, duplicates, errors } = answer.json.data;
    expect([accepted, rejected, duplicates]).toEqual([2, 1, 1]);
    expect(errors).toMatchObject([
      { index: 2, event_id: "evt_twice", code: "event_id_conflict", errors: [] },
    ]);
    expect(errors[0].retryable).toBeUndefined();
  });

  test("may be empty, and may have the maximum number of events", async () => {
    const empty = await sendBatch([]);
    expect(empty.json.data).toEqual({ accepted: 0, rejected: 0, duplicates: 0, errors: [] });
    const full = await sendBatch(
      Array.from({ length: 1000 }, (_, index) => event({ event_id: `evt_full_${index}` })),
    );
    expect(full.json.data).toMatchObject({ accepted: 1000, rejected: 0 });
  });

  test("is not affected by one event that is too large or too deep", async () => {
    const answer = await sendBatch([
      event({ event_id: "evt_ok" }),
      event({ event_id: "evt_large", metadata: { x: "y".repeat(256 * 1024) } }),
      JSON.parse(
        JSON.stringify(event({ event_id: "evt_deep" })).replace(
          /}$/,
          `,"metadata":${'{"d":'.repeat(64)}1${"}".repeat(64)}}`,
        ),
      ),
      "not an object",
    ]);
    expect(answer.json.data).toMatchObject({
      accepted: 1,
      errors: [
        { index: 1, code: "payload_too_large" },
        { index: 2, code: "invalid_event", errors: [{ path: "", code: "too_deep" }] },
        { index: 3, code: "invalid_event", errors: [{ path: "", code: "invalid_type" }] },
      ],
    });
  });

  test("gets a warning that members beside events belong to no event", async () => {
    const answer = await service.call("/v1/events/batch", { body: { sent_at: "now", events: [] } });
    expect(answer.json.data.warnings).toMatchObject([{ path: "/sent_at", code: "unknown_field" }]);
  });
});
