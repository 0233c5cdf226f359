/** What happens to events for each answer of the service. Each test is a fault of some client library in the field. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Client,
  type ClientOptions,
  createClient,
  type DroppedEvent,
  type Problem,
  type RejectedEvent,
} from "prooftrail-sdk";
import { ANSWER_BYTES_MAX, RESENT_AFTER_MS } from "../../../src/sdk/limits.ts";
import { until } from "../../support/until.ts";
import { event, NOWHERE } from "./events.ts";
import { withFolder } from "./folder.ts";
import {
  type Asked,
  batchAnswer,
  problemAnswer,
  type Script,
  type ScriptedService,
  takeAll,
  withScriptedService,
} from "./scripted-service.ts";

const BATCH = { intervalMs: 5 };

interface Scene {
  readonly service: ScriptedService;
  readonly client: Client;
  readonly open: (options?: Partial<ClientOptions>) => Client;
  readonly rejected: RejectedEvent[];
  readonly dropped: DroppedEvent[];
  readonly problems: Problem[];
}

/** A client whose events stay in memory, and what it reports. It is closed afterwards. */
const serving = (
  script: Script,
  options: Partial<ClientOptions>,
  use: (scene: Scene) => Promise<void>,
): Promise<void> =>
  withScriptedService(script, async (service) => {
    const rejected: RejectedEvent[] = [];
    const dropped: DroppedEvent[] = [];
    const problems: Problem[] = [];
    const open = (more: Partial<ClientOptions> = {}) =>
      createClient({
        url: service.url,
        apiKey: "ptk_1",
        outbox: { memory: true },
        batch: BATCH,
        onRejected: (letter) => void rejected.push(letter),
        onDropped: (drop) => void dropped.push(drop),
        onProblem: (problem) => void problems.push(problem),
        ...options,
        ...more,
      });
    const client = open();
    await use({ service, client, open, rejected, dropped, problems });
    await client.close({ timeoutMs: 1 });
  });

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `evt_${n}`);
const captureAll = (client: Client, eventIds: readonly string[]): void => {
  for (const event_id of eventIds) client.capture(event({ event_id }));
};
const wasTried = (client: Client) => until("it was tried", () => client.stats.failure !== undefined);
const flushed = async (client: Client): Promise<void> =>
  assert.deepEqual(await client.flush(), { kind: "flushed" });
const eventIdsOf = (reported: readonly { readonly eventId: string | undefined }[]) =>
  reported.map(({ eventId }) => eventId);

const AWAY = () => problemAnswer(503, "log_unavailable");

test("heartbeats that the service does not admit are reported as one problem, however many waited, and rejected events as before", () => {
  const notAdmitted = ({ events }: Asked) => {
    const errors = events.map(({ event_type: type }, index) => ({
      index,
      code: "invalid_event",
      message: `${type} is not a known type`,
      errors: [{ path: "/event_type", code: "unknown_event_type", message: "" }],
    }));
    const data = { accepted: 0, rejected: errors.length, duplicates: 0, errors };
    return { status: 202, body: JSON.stringify({ data, request_id: "req_1" }) };
  };
  const options = { heartbeat: { asset_id: "app" }, batch: { intervalMs: 60_000 } };
  return serving(notAdmitted, options, async ({ service, client, rejected, problems }) => {
    captureAll(client, ["evt_1"]);
    // The first heartbeat comes with the client, the last one with its end.
    assert.equal((await client.close()).kind, "flushed");
    assert.equal(service.eventIds.length, 3);
    assert.deepEqual([eventIdsOf(rejected), client.stats.rejected], [["evt_1"], 1]);
    assert.deepEqual(new Set(problems.map(({ kind }) => kind)), new Set(["heartbeat", "rejected"]));
  });
});

test("only the event marked retryable is sent again, alone", () => {
  const errors = [[{ index: 0, code: "log_unavailable", retryable: true } as const]];
  const script = ({ events }: Asked) => batchAnswer(events.length, errors.shift());
  return serving(script, {}, async ({ service, client }) => {
    captureAll(client, ["evt_1", "evt_2"]);
    await client.close();
    assert.deepEqual(service.eventIds, ["evt_1", "evt_2", "evt_1"]);
  });
});

test("readable parts of warnings are reported, and no warning stops an event", () => {
  const texts = [
    "none",
    [null, 7, {}, { message: 5 }],
    [{ index: "x", path: 9, message: "m".repeat(10_000) }],
  ];
  const script = () => {
    const data = { accepted: 1, rejected: 0, errors: [], warnings: texts.shift() };
    return { status: 202, body: JSON.stringify({ data }) };
  };
  return serving(script, {}, async ({ client, problems }) => {
    for (let delivered = 0; texts.length > 0; delivered++) {
      assert.deepEqual([problems, client.stats.delivered], [[], delivered]);
      client.capture(event());
      await flushed(client);
    }
    const [{ kind, message = "" } = {}] = problems;
    assert.deepEqual([kind, message.length < 600], ["warning", true]);
  });
});

for (const body of [
  '{"data":{"accepted":1,"rejected":0,"errors":[]}}',
  '{"data":{"accepted":2,"rejected":1,"errors":[]}}',
  '{"data":{"accepted":1,"rejected":1,"errors":[{"index":2,"code":"invalid_event"}]}}',
  '{"data":{"accepted":2,"rejected":0,"errors":[{"index":2,"code":"invalid_event"}]}}',
  '{"data":{"accepted":1,"rejected":1,"errors":[{"index":1,"code":"a"},{"index":1,"code":"b"}]}}',
  '{"data":{}}',
  "{}",
])
  test(`an answer that does not account for every event is not accepted: ${body}`, () =>
    serving(
      () => ({ status: 202, body }),
      {},
      async ({ service, client }) => {
        captureAll(client, ["evt_1", "evt_2"]);
        await until("it was asked", () => service.asked.length > 0);
        service.script = takeAll;
        await client.close();
        assert.ok(service.asked.length > 1);
        assert.deepEqual(service.eventIds.slice(-2), ["evt_1", "evt_2"]);
        assert.equal(client.stats.delivered, 2);
      },
    ));

const HTML = { body: "<html>" };
/** The kinds of problem that are reported. Node's fetch hides a 407: it is as if there had been no answer (Fetch Standard §4.6, on status 407). */
for (const [what, reply, kinds] of [
  ["a broken connection", "cut", ["not_delivered"]],
  ["status 503", problemAnswer(503, "log_unavailable"), ["not_delivered"]],
  ["status 500", problemAnswer(500, "internal_error"), ["not_delivered"]],
  ["status 408", problemAnswer(408, "request_timeout"), ["not_delivered"]],
  ["status 425", { ...HTML, status: 425 }, ["not_delivered"]],
  ["status 429", { ...HTML, status: 429 }, ["not_delivered"]],
  ["status 502", { ...HTML, status: 502 }, ["not_delivered"]],
  ["an endless answer", { status: 202, body: "x".repeat(ANSWER_BYTES_MAX + 1) }, ["not_delivered"]],
  ["a key that is refused", problemAnswer(401, "invalid_api_key"), ["refused"]],
  ["a key without the scope", problemAnswer(403, "insufficient_scope"), ["refused"]],
  ["an address that is none of ours", { ...HTML, status: 404 }, ["refused"]],
  ["a proxy that wants a password", { ...HTML, status: 407 }, ["refused", "not_delivered"]],
] as const)
  test(`events wait and are sent again after ${what}`, () =>
    serving(
      () => reply,
      {},
      async ({ service, client, problems, rejected }) => {
        captureAll(client, ["evt_1"]);
        await wasTried(client);
        assert.equal(client.stats.pending.events, 1);
        assert.equal(problems.length, 1);
        assert.ok(kinds.some((kind) => kind === problems[0]?.kind));
        service.script = takeAll;
        assert.equal((await client.close()).kind, "flushed");
        assert.deepEqual([client.stats.delivered, rejected], [1, []]);
      },
    ));

test("a request without an answer is given up after the set time, and sent again", () =>
  serving(
    () => "hang",
    // On a busy machine the service needs a part of it.
    { requestTimeoutMs: 1000 },
    async ({ service, client }) => {
      captureAll(client, ["evt_1"]);
      await until("it was given up", () => client.stats.failure?.includes("No answer within 1000 ms"));
      service.script = takeAll;
      await until("it is delivered", () => client.stats.delivered === 1);
      await client.close();
      assert.equal(client.stats.delivered, 1);
    },
  ));

test("the client waits for Retry-After, even in a flush", () =>
  serving(
    () => problemAnswer(429, "rate_limited", { "retry-after": "1" }),
    {},
    async ({ service, client }) => {
      captureAll(client, ["evt_1"]);
      await wasTried(client);
      service.script = takeAll;
      await client.close();
      const [first, second] = service.asked;
      assert.ok(first && second && second.atMs - first.atMs >= 1000);
    },
  ));

const POISON = "evt_7";
const poisoned =
  (reply: ReturnType<typeof problemAnswer>): Script =>
  ({ events }) =>
    events.some(({ event_id }) => event_id === POISON) ? reply : batchAnswer(events.length);

for (const [what, refusal] of [
  ["for which the service always fails", problemAnswer(500, "internal_error")],
  ["that a proxy refuses with its own answer", { status: 403, body: "<html>" }],
] as const)
  test(`an event ${what} neither delays the others nor is lost`, () =>
    serving(poisoned(refusal), { batch: { ...BATCH, events: 10 } }, async ({ service, client, rejected }) => {
      captureAll(client, ids(10));
      await until("the others are stored", async () => {
        await client.flush({ timeoutMs: 1 });
        return client.stats.delivered === 9;
      });
      assert.deepEqual([rejected.length, client.stats.pending.events], [0, 1]);
      service.script = takeAll;
      assert.equal((await client.close()).kind, "flushed");
      assert.equal(client.stats.delivered, 10);
    }));

test("a batch that is too large for a slow connection becomes smaller until it succeeds", () =>
  serving(
    ({ events }) => (events.length > 2 ? "hang" : batchAnswer(events.length)),
    { requestTimeoutMs: 500 },
    async ({ service, client }) => {
      captureAll(client, ids(10));
      await until("all are stored", async () => {
        await client.flush({ timeoutMs: 200 });
        return client.stats.delivered === 10;
      });
      const taken = service.asked.filter(({ events }) => events.length <= 2);
      // On a busy machine an answer may also come too late, and its events are sent again.
      const stored = new Set(taken.flatMap(({ events }) => events.map(({ event_id }) => event_id)));
      assert.deepEqual([...stored], ids(10));
    },
  ));

test("a redirect is not followed, so that the key is not sent elsewhere", () =>
  serving(
    () => ({ status: 302, headers: { location: `${NOWHERE}/elsewhere` }, body: "" }),
    {},
    async ({ client }) => {
      client.capture(event());
      await until("it was refused", () => client.stats.failure?.includes("302"));
      assert.equal(client.stats.pending.events, 1);
    },
  ));

test("a compressible batch is compressed, and reads back as it was captured", () =>
  serving(takeAll, {}, async ({ service, client }) => {
    const text = "가나다 \u0000 \ud800 😀 ".repeat(200);
    client.capture(event({ metadata: { text } }));
    await client.close();
    const [asked] = service.asked;
    assert.equal(asked?.headers["content-encoding"], "gzip");
    const metadata = asked?.events[0]?.metadata as { text: string };
    assert.equal(metadata.text, text);
  }));

test("a batch is sent when it has the set number of events or bytes, before its time is over", () =>
  serving(
    takeAll,
    { batch: { events: 3, bytes: 8_000_000, intervalMs: 60_000 } },
    async ({ service, client, open }) => {
      captureAll(client, ids(3));
      await until("three were stored", () => client.stats.delivered === 3);
      const large = open({ batch: { events: 1000, bytes: 10_000, intervalMs: 60_000 } });
      for (let n = 0; n < 3; n++) large.capture(event({ metadata: { text: "x".repeat(4000) } }));
      await until("the large ones were stored", () => large.stats.delivered === 3);
      assert.ok(service.asked.every(({ text }) => text.length <= 10_000 + 20));
      await large.close();
    },
  ));

test("an event is sent after its interval, even if the previous request still waits for an answer", () => {
  const slow = async ({ events }: Asked) => {
    await delay(10 * BATCH.intervalMs);
    return batchAnswer(events.length);
  };
  return serving(slow, {}, async ({ service, client }) => {
    captureAll(client, ["evt_1"]);
    await until("it was asked", () => service.asked.length > 0);
    captureAll(client, ["evt_2"]);
    await until("both were stored", () => client.stats.delivered === 2);
    captureAll(client, ["evt_3"]);
    await until("the third was stored", () => client.stats.delivered === 3);
  });
});

test("a full outbox keeps its events, and reports every event that it does not take", () =>
  serving(
    AWAY,
    { outbox: { memory: true, bytesMax: 600_000 } },
    async ({ service, client, dropped, problems }) => {
      const text = "x".repeat(100_000);
      const captured = Array.from({ length: 8 }, () => client.capture(event({ metadata: { text } })));
      assert.deepEqual(
        captured.map(({ kind }) => kind),
        [...Array(5).fill("kept"), ...Array(3).fill("dropped")],
      );
      assert.deepEqual(
        dropped.map(({ reason }) => reason),
        Array(3).fill("outbox_full"),
      );
      assert.deepEqual(client.stats.dropped, { outbox_full: 3 });
      // Reported once a minute, always counted.
      assert.equal(problems.filter(({ kind }) => kind === "dropped").length, 1);
      service.script = takeAll;
      await until("there is room", async () => (await client.flush({ timeoutMs: 20 })).kind === "flushed");
      client.capture(event({ event_id: "evt_after" }));
      await client.close();
      const reported = problems.filter(({ kind }) => kind === "dropped").map(({ count }) => count);
      assert.deepEqual(reported, [1, 2], "those of the same minute when the client closes");
      const numbers = service.asked.flatMap(({ events }) => events.map(numberOf));
      assert.deepEqual([...new Set(numbers)], [1, 2, 3, 4, 5, 9]);
    },
  ));

const numberOf = ({ metadata }: Readonly<Record<string, unknown>>): unknown =>
  typeof metadata === "object" && metadata !== null && "source_sequence" in metadata
    ? metadata.source_sequence
    : undefined;

test("an event captured after close is refused with the reason", () =>
  serving(takeAll, {}, async ({ client, dropped }) => {
    await client.close();
    const refused = { kind: "dropped", reason: "closed", message: "The client is closed." };
    assert.deepEqual([client.capture(event()), dropped.length], [refused, 1]);
    await flushed(client);
    assert.equal((await client.send(event())).kind, "unknown");
  }));

test("events that wait when a client closes stay in its folder, also those captured meanwhile, and the next client delivers them", () =>
  withFolder((directory) =>
    serving(AWAY, { outbox: { directory } }, async ({ service, client, open, dropped }) => {
      captureAll(client, ["evt_1"]);
      const closing = client.close({ timeoutMs: 50 });
      const during = client.capture(event({ event_id: "evt_2" }));
      assert.deepEqual([during, dropped], [{ kind: "kept", eventId: "evt_2" }, []]);
      const closed = await closing;
      assert.ok(closed.kind === "pending" && closed.events === 2);
      service.script = takeAll;
      const next = open();
      await until("both are delivered", () => next.stats.delivered === 2);
      assert.deepEqual(service.eventIds.slice(-2), ["evt_1", "evt_2"]);
      await next.close();
    }),
  ));

test("events in memory that wait when the client closes are dropped, counted and reported, each one, also those captured meanwhile", () =>
  serving(AWAY, {}, async ({ client, dropped }) => {
    captureAll(client, ["evt_1"]);
    await wasTried(client);
    const closing = client.close({ timeoutMs: 50 });
    captureAll(client, ["evt_2"]);
    const closed = await closing;
    assert.ok(closed.kind === "pending" && closed.events === 0);
    assert.deepEqual(eventIdsOf(dropped), ["evt_1", "evt_2"]);
    assert.deepEqual([client.stats.dropped, client.stats.pending.events], [{ closed: 2 }, 0]);
  }));

test("a flush ends when its time is over, with the number of pending events and the reason", () =>
  serving(AWAY, {}, async ({ client }) => {
    client.capture(event());
    await wasTried(client);
    const pending = await client.flush({ timeoutMs: 10 });
    assert.ok(pending.kind === "pending" && pending.events === 1);
    assert.ok(pending.reason?.includes("log_unavailable"));
  }));

test("an error thrown by a callback reaches no caller", () => {
  const fail = () => {
    throw new Error("of the program");
  };
  return serving(
    ({ events }) => batchAnswer(events.length, [{ index: 0, code: "invalid_event" }]),
    { onDropped: fail, onRejected: fail, onProblem: fail },
    async ({ client }) => {
      client.capture(event());
      client.capture(event({ metadata: { amount: Number.NaN } }));
      assert.equal((await client.close()).kind, "flushed");
      assert.equal(client.stats.rejected, 1);
    },
  );
});

test("send() waits no longer than its timeout, even if a request may take longer", () =>
  serving(
    () => "hang",
    { requestTimeoutMs: 60_000 },
    async ({ client }) => {
      const sent = await client.send(event(), { timeoutMs: 50 });
      assert.ok(sent.kind === "unknown" && /No answer within \d{1,2} ms/.test(sent.reason));
      // Also if it is not a number, such as a missing setting.
      assert.equal((await client.send(event(), { timeoutMs: Number(undefined) })).kind, "unknown");
    },
  ));

test("send() does not report an event as rejected if a proxy refuses it: an earlier attempt may have arrived", () =>
  serving(
    () => "cut",
    {},
    async ({ service, client }) => {
      const sending = client.send(event());
      await until("it was asked", () => service.asked.length > 0);
      service.script = () => ({ status: 403, body: "<html>" });
      assert.equal((await sending).kind, "unknown");
      service.script = () => ({ status: 413, body: "<html>" });
      assert.equal((await client.send(event())).kind, "rejected");
    },
  ));

const RECEIPT = {
  event_id: "evt_1",
  sequence: 7,
  received_at: "2026-11-20T10:00:00.512Z",
  duplicate: false,
  leaf_hash: "bGVhZg==",
};
const stored =
  (eventId: string): Script =>
  () => ({ status: 202, body: JSON.stringify({ data: { ...RECEIPT, event_id: eventId } }) });

test("send() reports as stored only the event that its receipt names, whatever the case of its UUID", () => {
  const eventId = "01a21696-af8c-7804-b98a-6e6c0f7af0a9";
  return serving(stored("evt_2"), {}, async ({ service, client }) => {
    const sent = await client.send(event({ event_id: eventId }));
    assert.ok(sent.kind === "unknown" && sent.reason.includes("evt_2"), JSON.stringify(sent));
    service.script = stored(eventId.toUpperCase());
    assert.equal((await sent.again()).kind, "stored");
  });
});

test("send returns the receipt, and retries under the same idempotency key", () =>
  serving(
    () => problemAnswer(503, "log_unavailable", { "retry-after": "0" }),
    {},
    async ({ service, client }) => {
      const sending = client.send(event({ event_id: "evt_1" }));
      await until("it was asked", () => service.asked.length > 0);
      service.script = stored("evt_1");
      assert.deepEqual(await sending, { kind: "stored", receipt: RECEIPT });
      const keys = new Set(service.asked.map(({ headers }) => headers["idempotency-key"]));
      assert.equal(keys.size, 1);
      assert.match(
        String([...keys][0]),
        /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      assert.ok(service.asked.every(({ path }) => path === "/v1/events"));
      service.script = () => problemAnswer(400, "invalid_request");
      const refused = await client.send(event());
      assert.ok(refused.kind === "rejected" && refused.rejection.code === "invalid_request");
    },
  ));

test("again() sends the same, and says so when the broker may have forgotten the first attempt", () =>
  serving(
    () => "cut",
    {},
    async ({ service, client }) => {
      const { now } = performance;
      // This ends its time. Each later attempt has as much time, so that a busy machine answers in time.
      service.script = () => {
        performance.now = () => now.call(performance) + RESENT_AFTER_MS;
        return "cut";
      };
      const unknown = await client.send(event({ event_id: "evt_2" })).finally(() => {
        performance.now = now;
      });
      assert.ok(unknown.kind === "unknown");
      service.script = stored("evt_2");
      performance.now = () => now.call(performance) + RESENT_AFTER_MS;
      const again = await unknown.again().finally(() => {
        performance.now = now;
      });
      assert.equal(again.kind, "stored");
      // The outcome of a request that was given up may arrive later than what follows it.
      const resent = () => service.asked.filter(({ path }) => path === "/v1/events?resent=true").length;
      assert.equal(resent(), 1);
      // The same if the machine slept, and its steady clock with it.
      const { now: wall } = Date;
      Date.now = () => wall() + 2 * RESENT_AFTER_MS;
      await unknown.again().finally(() => {
        Date.now = wall;
      });
      assert.equal(resent(), 2);
      assert.equal(new Set(service.asked.map(({ text }) => text)).size, 1);
      assert.equal(new Set(service.asked.map(({ headers }) => headers["idempotency-key"])).size, 1);
    },
  ));
