import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { event, fact, MADE, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let sequence = 0;
const hash = (digit: string) => `sha256:${digit.repeat(64)}`;

const events = [
  fact("evt_0", MADE, undefined, {
    timestamp: "2026-01-01T00:00:00Z",
    asset_id: "a",
    risk_tier: "high",
    tags: { team: "x", n: 1 },
  }),
  fact("evt_1", "decision.decision_reversed", undefined, {
    timestamp: "2026-01-03T00:00:00Z",
    asset_id: "b",
  }),
  fact("evt_2", "objection", undefined, {
    timestamp: "2026-01-02T00:00:00Z",
    asset_id: "a",
    correlation_id: "c1",
  }),
  fact("evt_3", MADE, undefined, {
    timestamp: "2026-01-02T00:00:00.5Z",
    subject_hash: hash("A"),
    trace_id: "t1",
    legal_bases: ["ai_basic_law_kr"],
  }),
  fact(
    "evt_4",
    MADE,
    { legal_bases: ["pipa_37_2_kr"], user_id_hash: hash("b") },
    { timestamp: "2026-01-04T00:00:00Z", trace_id: "4BF92F3577B34DA6A3CE929D0E0E4736" },
  ),
];

beforeAll(async () => {
  service = await startTestService();
  const answer = await service.call("/v1/events/batch", { body: { events } });
  sequence = answer.json.data.sequence;
});
afterAll(() => service[Symbol.asyncDispose]());

const search = async (query: string): Promise<string[]> => {
  const answer = await service.call(`/v1/events?order=asc&min_sequence=${sequence}&${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json.data.map((row: { event: { event_id: string } }) =>
    row.event.event_id.replace("evt_", ""),
  );
};

describe("each filter finds exactly its events", () => {
  test.each([
    ["", "01234"],
    ["asset_id=a", "02"],
    ["event_type=decision.decision_reversed", "1"],
    ["event_type=decision.*", "0134"],
    ["event_type=legacy.*", "2"],
    ["event_type=decision", ""],
    ["risk_tier=high", "0"],
    ["legal_basis=ai_basic_law_kr", "3"],
    ["legal_basis=pipa_37_2_kr", "4"],
    ["correlation_id=c1", "2"],
    [`subject_hash=${hash("a")}`, "3"],
    [`subject_hash=${hash("B")}`, "4"],
    ["trace_id=t1", "3"],
    ["trace_id=T1", ""],
    // As W3C Trace Context writes it, and as some libraries write it.
    ["trace_id=4bf92f3577b34da6a3ce929d0e0e4736", "4"],
    ["trace_id=4BF92F3577B34DA6A3CE929D0E0E4736", "4"],
    ["tag.team=x", "0"],
    ["tag.team=x&tag.n=1", "0"],
    ["tag.team=y", ""],
    ["from=2026-01-02T00:00:00Z", "1234"],
    ["from=2026-01-02T00:00:00.1Z&to=2026-01-04T00:00:00Z", "13"],
    ["to=2026-01-01T00:00:00Z", ""],
    ["time_field=received_at&from=2026-06-01T00:00:00Z", "01234"],
    ["time_field=received_at&to=2026-06-01T00:00:00Z", ""],
    ["asset_id=a&risk_tier=high", "0"],
    ["q=objection", "2"],
    ["q=Automated-Decision_made", "034"],
    ["q=x team", "0"],
    ["q=te*+1", "0"],
    ["q=pipa_37_2_kr", "4"],
    ["q=37 kr", "4"],
    ["q=nothing", ""],
    ["q=decision*&asset_id=a&tag.team=x", "0"],
    ["q=decision*&from=2026-01-02T00:00:00Z&event_type=decision.*", "134"],
    ["q=a&correlation_id=c1", "2"],
    ["q=model&trace_id=t1&risk_tier=high", ""],
  ])("%s", async (query, expected) => expect((await search(query)).join("")).toBe(expected));
});

test("events are listed newest first unless the request says otherwise", async () => {
  const answer = await service.call(`/v1/events?min_sequence=${sequence}`);
  expect(answer.json.data.map((row: { sequence: number }) => row.sequence)).toEqual([5, 4, 3, 2, 1]);
  expect(answer.json.next_cursor).toBeNull();
});

test("pages join without gap or repeat, even while new events arrive", async () => {
  const key = await service.makeKey("paging");
  const send = async (from: number, to: number): Promise<number> => {
    const batch = Array.from({ length: to - from }, (_, index) =>
      event({ event_id: `evt_p${from + index}` }),
    );
    const answer = await service.call("/v1/events/batch", { key, body: { events: batch } });
    return answer.json.data.sequence;
  };
  const last = await send(0, 25);
  const found: string[] = [];
  let cursor = "";
  do {
    const query = `limit=10&min_sequence=${last}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await service.call(`/v1/events?${query}`, { key });
    found.push(...page.json.data.map((row: { event: { event_id: string } }) => row.event.event_id));
    cursor = page.json.next_cursor ?? "";
    if (found.length === 10) await send(25, 30);
  } while (cursor !== "");
  expect(found).toEqual(Array.from({ length: 25 }, (_, index) => `evt_p${24 - index}`));
});

test("an event_id that needs encoding is found", async () => {
  const id = "evt_ü/?#% +&=";
  const sent = await service.call("/v1/events", { body: event({ event_id: id }) });
  const read = await service.call(
    `/v1/events/${encodeURIComponent(id)}?min_sequence=${sent.json.data.sequence}`,
  );
  expect(read.json.data.event.event_id).toBe(id);
  expect((await service.call("/v1/events/%E0%A4%A")).status).toBe(404);
});

test.each([
  ["", "1 to 256 characters"],
  ["-", "no word"],
  ["%22credit+model%22", "without quotation marks"],
  ["*", "credit*"],
  ["x".repeat(257), "1 to 256 characters"],
  [Array.from({ length: 17 }, (_, index) => index).join("+"), "at most 16 words"],
])("q=%s is refused, and the answer says what to send", async (q, message) => {
  for (const path of ["/v1/events", "/v1/export"]) {
    const answer = await service.call(`${path}?q=${q}`);
    expect([answer.status, answer.json.code]).toEqual([400, "invalid_request"]);
    expect(answer.json.errors).toEqual([
      { path: "query:q", code: "invalid_value", message: expect.stringContaining(message) },
    ]);
  }
});
