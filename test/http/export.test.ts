import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EVENT_CSV_COLUMNS } from "../../src/api/http/stored-event.ts";
import { EXPORTS_PER_KEY_MAX, EXPORTS_PER_TENANT_MAX, TAGS_MAX } from "../../src/limits.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { allPages } from "../support/pages.ts";
import { event, fact, MADE, startTestService, type TestService } from "../support/service.ts";
import { LAST_CHUNK, openUntaken } from "../support/untaken-answer.ts";
import { until } from "../support/until.ts";
import { openViewsFile } from "../support/views-file.ts";
import { readCsv } from "./csv-reader.ts";

let service: TestService;
const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

interface Listed {
  readonly sequence: number;
  readonly received_at: string;
  readonly event: Readonly<Record<string, unknown>>;
}

const sendAll = async (
  key: string,
  events: readonly object[],
  { at = service, batchEvents = 1000 } = {},
): Promise<number> => {
  let sequence = 0;
  for (let from = 0; from < events.length; from += batchEvents) {
    const batch = events.slice(from, from + batchEvents);
    const answer = await at.call("/v1/events/batch", { key, body: { events: batch } });
    if (answer.json.data.accepted !== batch.length) throw new Error(answer.text);
    sequence = answer.json.data.sequence;
  }
  return sequence;
};
const many = (from: number, to: number, members: Readonly<Record<string, unknown>> = {}) =>
  Array.from({ length: to - from }, (_, index) => event({ event_id: `evt_${from + index}`, ...members }));

const exported = async (key: string, query: string): Promise<Listed[]> => {
  const answer = await callUntilSeen(service.call, `/v1/export?${query}`, { key });
  expect(answer.text === "" || answer.text.endsWith("\n")).toBe(true);
  return answer.text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};
const listed = (key: string, query: string): Promise<Listed[]> =>
  allPages((cursor) => service.call(`/v1/events?order=asc&limit=200&${query}${cursor}`, { key }));

const untaken = (key: string, at = service) =>
  openUntaken(`${at.url}/v1/export`, { authorization: `Bearer ${key}` });

describe("an export", () => {
  test("equals the list for every filter", async () => {
    const key = await service.makeKey("filters");
    const other = await service.makeKey("strangers");
    const events = Array.from({ length: 700 }, (_, index) =>
      fact(`evt_${index}`, index % 5 === 0 ? "objection" : "decision.automated_decision_made", undefined, {
        timestamp: new Date(Date.UTC(2026, 0, 1 + (index % 28), 0, 0, index % 60)).toISOString(),
        asset_id: `asset_${index % 3}`,
        ...(index % 2 && { risk_tier: "high", tags: { team: index % 4 === 1 ? "x" : "y", n: index % 3 } }),
        ...(index % 7 === 0 && { legal_bases: ["ai_basic_law_kr"], trace_id: "t", subject_hash: hash("a") }),
        ...(index % 11 === 0 && { correlation_id: "c" }),
      }),
    );
    await sendAll(other, events);
    const sequence = await sendAll(key, events);
    for (const query of [
      "",
      "asset_id=asset_1",
      "event_type=legacy.*",
      "event_type=objection",
      "risk_tier=high",
      "legal_basis=ai_basic_law_kr",
      "correlation_id=c",
      `subject_hash=${hash("A")}`,
      "trace_id=t",
      "tag.team=x",
      "tag.team=x&tag.n=1",
      "from=2026-01-05T00:00:00Z&to=2026-01-09T00:00:00Z",
      "time_field=received_at&from=2026-01-01T00:00:00Z",
      "time_field=received_at&to=2026-01-01T00:00:00Z",
      "legal_basis=ai_basic_law_kr&tag.team=x&asset_id=asset_1",
      "not_asset_id=asset_1,asset_2&not_event_type=legacy.*&not_correlation_id=c",
      "risk_tier=high&tag.team=x&not_asset_id=asset_1",
      "q=objection+asset_1",
      `${Array.from({ length: TAGS_MAX }, (_, index) => `tag.k${index}=v`).join("&")}`,
    ]) {
      const both = `min_sequence=${sequence}&${query}`;
      const rows = await exported(key, both);
      expect([query, rows]).toEqual([query, await listed(key, both)]);
    }
    expect(await exported(key, `min_sequence=${sequence}`)).toHaveLength(700);
  });

  test("contains each event as sent; raw line breaks become spaces in NDJSON only", async () => {
    const key = await service.makeKey("exact");
    const text = `{ "n":12345678901234567890,\r\n"tags":{ "k" : 1.50 },\n"metadata":{"s":"\\u0000\\n\\ud800😀"}, ${JSON.stringify(event({ event_id: "evt_exact" })).slice(1)}`;
    const sent = await service.call("/v1/events", { key, body: text });
    const query = `/v1/export?min_sequence=${sent.json.data.sequence}`;
    const lines = (await service.call(query, { key })).text;
    expect(lines).toEndWith(`"event":${text.replaceAll(/[\r\n]/g, " ")}}\n`);
    expect(lines.split("\n")).toHaveLength(2);
    const [header = [], row = []] = readCsv((await service.call(`${query}&format=csv`, { key })).text);
    const cell = (name: string) => row[header.indexOf(name)];
    expect([cell("event"), cell("tags"), cell("metadata")]).toEqual([
      text,
      '{ "k" : 1.50 }',
      '{"s":"\\u0000\\n\\ud800😀"}',
    ]);
  });

  test("has the same rows as CSV, with no cell that a spreadsheet would run", async () => {
    const key = await service.makeKey("table");
    const sequence = await sendAll(key, [
      fact(
        "evt_full",
        MADE,
        { note: "ü, 😀" },
        {
          risk_tier: "high",
          legal_bases: ["ai_basic_law_kr", "pipa_37_2_kr"],
          subject_hash: hash("B"),
          context_hash: hash("c"),
          outcome_hash: hash("d"),
          correlation_id: "=HYPERLINK(1)",
          trace_id: '@a"b,c',
          span_id: "-1",
          asset_version: "v1",
          tags: { team: "x" },
        },
      ),
      event({ event_id: "evt_bare", asset_id: "\t=1\r\n+1", metadata: { legal_bases: ["ai_basic_law_kr"] } }),
      // The names that client libraries in the field use (DOMAIN 2).
      fact("evt_field", MADE, undefined, {
        input_hash: hash("E"),
        output_hash: hash("f"),
        trace_id: "4BF9".repeat(8),
      }),
    ]);
    const answer = await service.call(`/v1/export?format=csv&min_sequence=${sequence}`, { key });
    const bytes = await fetch(`${service.url}/v1/export?format=csv`, {
      headers: { authorization: `Bearer ${key}` },
    }).then((response) => response.bytes());
    expect(bytes.slice(0, 3)).toEqual(Uint8Array.of(0xef, 0xbb, 0xbf));
    const [header, ...rows] = readCsv(answer.text);
    expect(header).toEqual([...EVENT_CSV_COLUMNS]);
    const list = await listed(key, "");
    const texts = await exported(key, "");
    expect(rows.map((row) => row.at(-1))).toEqual(texts.map(({ event: sent }) => JSON.stringify(sent)));
    expect(rows.map((row) => row.slice(0, -1))).toEqual([
      [
        String(list[0]?.sequence),
        list[0]?.received_at ?? "",
        "evt_full",
        "2026-11-20T10:00:00Z",
        "credit_model",
        "decision.automated_decision_made",
        "high",
        "ai_basic_law_kr pipa_37_2_kr",
        hash("b"),
        hash("c"),
        hash("d"),
        "'=HYPERLINK(1)",
        "'@a\"b,c",
        "'-1",
        "v1",
        '{"team":"x"}',
        '{"note":"ü, 😀"}',
      ],
      [
        String(list[1]?.sequence),
        list[1]?.received_at ?? "",
        "evt_bare",
        "2026-11-20T10:00:00Z",
        "'\t=1\r\n+1",
        "decision.automated_decision_made",
        "",
        "ai_basic_law_kr",
        ...Array.from({ length: 8 }, () => ""),
        '{"legal_bases":["ai_basic_law_kr"]}',
      ],
      [
        String(list[2]?.sequence),
        list[2]?.received_at ?? "",
        "evt_field",
        "2026-11-20T10:00:00Z",
        "credit_model",
        "decision.automated_decision_made",
        ...["", "", "", hash("E"), hash("f"), "", "4BF9".repeat(8), "", "", "", ""],
      ],
    ]);
  });

  test("has a name, says how far it goes, and is empty if nothing matches", async () => {
    const key = await service.makeKey("nothing");
    for (const [format, type, text] of [
      ["ndjson", "application/x-ndjson", ""],
      ["csv", "text/csv; charset=utf-8", `${EVENT_CSV_COLUMNS.join(",")}\r\n`],
    ] as const) {
      const answer = await service.call(`/v1/export?format=${format}`, { key });
      expect([answer.headers.get("content-type"), answer.text]).toEqual([type, text]);
      const name = answer.headers.get("content-disposition");
      expect(name).toMatch(
        new RegExp(`^attachment; filename="prooftrail-nothing-\\d{8}T\\d{6}Z\\.${format}"$`),
      );
      expect(answer.headers.get("x-prooftrail-last-sequence")).toMatch(/^\d+$/);
    }
    const refused = await service.call("/v1/export?format=xml&order=asc&limit=5", { key });
    expect(refused.json.errors.map(({ path }: { path: string }) => path)).toEqual([
      "query:format",
      "query:order",
      "query:limit",
    ]);
  });
});

describe("a large export", () => {
  const COUNT = 4000;
  let key = "";
  beforeAll(async () => {
    key = await service.makeKey("large");
    const padding = "x".repeat(4000);
    const sequence = await sendAll(key, many(0, COUNT, { metadata: { padding } }));
    await callUntilSeen(service.call, `/v1/events?limit=1&min_sequence=${sequence}`, { key });
  });

  test("is complete, ends at the position of its start, and leaves room for other requests", async () => {
    const response = await fetch(`${service.url}/v1/export`, { headers: { authorization: `Bearer ${key}` } });
    const end = Number(response.headers.get("x-prooftrail-last-sequence"));
    const later = await service.call("/v1/events", { key, body: event({ event_id: "evt_later" }) });
    expect(later.json.data.sequence).toBeGreaterThan(end);
    const decoder = new TextDecoder();
    let [rest, count, previous, others] = ["", 0, 0, 0];
    let isDone = false;
    const asking = (async () => {
      for (; !isDone; others++) expect((await service.call("/health/live")).status).toBe(200);
    })();
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { sequence, event: sent } = JSON.parse(line);
        expect([sequence > previous, sent.event_id]).toEqual([true, `evt_${count++}`]);
        previous = sequence;
      }
    }
    isDone = true;
    await asking;
    expect([rest, count, previous]).toEqual(["", COUNT, end]);
    expect(others).toBeGreaterThan(2);
  });

  test("waits for its reader, and goes on to the end when the reader continues", async () => {
    const answer = await untaken(key);
    expect(await exported(key, "asset_id=nothing")).toEqual([]);
    const text = await answer.text((some) => some.endsWith(LAST_CHUNK));
    expect(text.match(/"sequence":/g)?.length).toBe(COUNT + 1);
  });

  test("is broken off when the key is revoked", async () => {
    const made = await service.call("/v1/keys", { body: { tenant: "large", scopes: ["events:read"] } });
    const { id, api_key } = made.json.data;
    const answer = await untaken(api_key);
    expect((await service.call(`/v1/keys/${id}`, { method: "DELETE" })).status).toBe(200);
    expect(await answer.text()).not.toEndWith(LAST_CHUNK);
    await until("it is told", () =>
      service.lines.some(({ detail }) => detail?.includes("the key has ended")),
    );
  });

  test("is limited in number per key and per tenant; a reader that leaves frees its place", async () => {
    const askedBy = (by: string) => service.call("/v1/export?asset_id=nothing", { key: by });
    const [second, third] = [await service.makeKey("large"), await service.makeKey("large")];
    const open = await Promise.all(Array.from({ length: EXPORTS_PER_KEY_MAX }, () => untaken(key)));
    const refused = await askedBy(key);
    expect([refused.status, refused.json.code]).toEqual([503, "overloaded"]);
    const left = EXPORTS_PER_TENANT_MAX - EXPORTS_PER_KEY_MAX;
    open.push(...(await Promise.all(Array.from({ length: left }, () => untaken(second)))));
    expect((await askedBy(third)).json?.code).toBe("overloaded");
    expect((await askedBy(service.adminKey)).status).toBe(200);
    for (const answer of open) answer.disconnect();
    await until("there is room again", async () => (await askedBy(key)).status === 200);
  });

  test("is not started by HEAD", async () => {
    const asked = Array.from({ length: EXPORTS_PER_KEY_MAX + 1 }, () =>
      service.call("/v1/export?format=csv", { key, method: "HEAD" }),
    );
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    }
  });
});

test("breaks the connection off if the database fails midway: a part is never taken for the whole", async () => {
  await using at = await startTestService();
  const padding = "x".repeat(100_000);
  const sequence = await sendAll(at.adminKey, many(0, 250, { metadata: { padding } }), {
    at,
    batchEvents: 100,
  });
  await callUntilSeen(at.call, `/v1/events?limit=1&min_sequence=${sequence}`);
  const answer = await untaken(at.adminKey, at);
  const database = openViewsFile(at.dataDir);
  await database.exec("DROP TABLE events");
  database.close();
  const text = await answer.text();
  expect(text).toStartWith("HTTP/1.1 200 OK\r\n");
  expect(text).toContain('"evt_0"');
  expect(text).not.toEndWith(LAST_CHUNK);
  expect(at.lines.some(({ message }) => message === "an export was aborted")).toBe(true);
});
