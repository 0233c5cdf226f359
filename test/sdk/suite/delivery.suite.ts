/** What happens to events for each answer of the service. Each test is a fault of some client library in the field. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import {
  type ClientOptions,
  createClient,
  type DroppedEvent,
  type Problem,
  type RejectedEvent,
} from "prooftrail-sdk";
import { ANSWER_BYTES_MAX, RESENT_AFTER_MS } from "../../../src/sdk/limits.ts";
import { until } from "../../support/until.ts";
import { event, NOWHERE } from "./events.ts";
import { rowsIn, withFolder } from "./folder.ts";
import {
  type Asked,
  batchAnswer,
  problemAnswer,
  type ScriptedService,
  takeAll,
  withScriptedService,
} from "./scripted-service.ts";

const BATCH = { intervalMs: 5 };

const told = () => {
  const rejected: RejectedEvent[] = [];
  const dropped: DroppedEvent[] = [];
  const problems: Problem[] = [];
  return {
    rejected,
    dropped,
    problems,
    callbacks: {
      onRejected: (letter: RejectedEvent) => void rejected.push(letter),
      onDropped: (drop: DroppedEvent) => void dropped.push(drop),
      onProblem: (problem: Problem) => void problems.push(problem),
    },
  };
};

const memory = (service: ScriptedService, options: Partial<ClientOptions> = {}) =>
  createClient({ url: service.url, apiKey: "ptk_1", outbox: { memory: true }, batch: BATCH, ...options });

test("an event that the service rejects is kept with the reason and reported, and the others of its batch are stored", () =>
  withFolder((directory) =>
    withScriptedService(
      ({ events }) => batchAnswer(events.length, [{ index: 1, code: "invalid_event" }]),
      async (service) => {
        const { rejected, callbacks } = told();
        const client = memory(service, { outbox: { directory }, ...callbacks });
        for (const event_id of ["evt_1", "evt_2", "evt_3"]) client.capture(event({ event_id }));
        assert.equal((await client.flush()).kind, "flushed");
        assert.deepEqual(
          rejected.map(({ eventId, rejection }) => [eventId, rejection.code]),
          [["evt_2", "invalid_event"]],
        );
        const { delivered, rejected: count, pending } = client.stats;
        assert.deepEqual([delivered, count, pending.events], [2, 1, 0]);
        service.script = takeAll;
        client.capture(event({ event_id: "evt_4" }));
        await client.close();
        assert.deepEqual(service.eventIds, ["evt_1", "evt_2", "evt_3", "evt_4"]);
        assert.deepEqual(await rowsIn(directory), { event: [], dead_letter: [["evt_2", "invalid_event"]] });
      },
    ),
  ));

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
  return withScriptedService(notAdmitted, async (service) => {
    const { rejected, problems, callbacks } = told();
    const client = memory(service, {
      heartbeat: { asset_id: "app" },
      batch: { intervalMs: 60_000 },
      ...callbacks,
    });
    client.capture(event({ event_id: "evt_1" }));
    // The first heartbeat comes with the client, the last one with its end.
    assert.equal((await client.close()).kind, "flushed");
    assert.equal(service.asked.flatMap(({ events }) => events).length, 3);
    assert.deepEqual(
      rejected.map(({ eventId }) => eventId),
      ["evt_1"],
    );
    assert.equal(client.stats.rejected, 1);
    assert.deepEqual(new Set(problems.map(({ kind }) => kind)), new Set(["heartbeat", "rejected"]));
  });
});

test("only the event marked retryable is sent again, alone", () => {
  let answers = 0;
  const script = ({ events }: Asked) =>
    answers++ === 0
      ? batchAnswer(events.length, [{ index: 0, code: "log_unavailable", retryable: true }])
      : batchAnswer(events.length);
  return withScriptedService(script, async (service) => {
    const client = memory(service, told().callbacks);
    for (const event_id of ["evt_1", "evt_2"]) client.capture(event({ event_id }));
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
    const warnings = texts.shift();
    return {
      status: 202,
      body: JSON.stringify({ data: { accepted: 1, rejected: 0, errors: [], warnings } }),
    };
  };
  return withScriptedService(script, async (service) => {
    const { problems, callbacks } = told();
    const client = memory(service, callbacks);
    for (let delivered = 0; texts.length > 0; delivered++) {
      assert.deepEqual([problems, client.stats.delivered], [[], delivered]);
      client.capture(event());
      assert.equal((await client.flush()).kind, "flushed");
    }
    const [{ kind, message = "" } = {}] = problems;
    assert.deepEqual([kind, message.length < 600], ["warning", true]);
    await client.close();
  });
});

for (const body of [
  '{"data":{"accepted":1,"rejected":0,"errors":[]}}',
  '{"data":{"accepted":2,"rejected":1,"errors":[]}}',
  '{"data":{"accepted":1,"rejected":1,"errors":[{"index":2,"code":"invalid_event"}]}}',
  '{"data":{}}',
  "{}",
])
  test(`an answer that does not account for every event is not accepted: ${body}`, () =>
    withScriptedService(
      () => ({ status: 202, body }),
      async (service) => {
        const client = memory(service, told().callbacks);
        for (const event_id of ["evt_1", "evt_2"]) client.capture(event({ event_id }));
        await until("it was asked", () => service.asked.length > 0);
        service.script = takeAll;
        await client.close();
        assert.ok(service.asked.length > 1);
        assert.deepEqual(service.eventIds.slice(-2), ["evt_1", "evt_2"]);
        assert.equal(client.stats.delivered, 2);
      },
    ));

for (const reply of [
  "cut",
  problemAnswer(503, "log_unavailable"),
  problemAnswer(500, "internal_error"),
  problemAnswer(408, "request_timeout"),
  { status: 425, body: "<html>" },
  { status: 429, body: "<html>" },
  { status: 502, body: "<html>" },
] as const) {
  test(`events wait and are sent again after ${typeof reply === "string" ? "a broken connection" : `status ${reply.status}`}`, () =>
    withScriptedService(
      () => reply,
      async (service) => {
        const { problems, callbacks } = told();
        const client = memory(service, callbacks);
        client.capture(event({ event_id: "evt_1" }));
        await until("it was asked", () => client.stats.failure !== undefined);
        assert.equal(client.stats.pending.events, 1);
        assert.deepEqual(
          problems.map(({ kind }) => kind),
          ["not_delivered"],
        );
        service.script = takeAll;
        assert.equal((await client.close()).kind, "flushed");
      },
    ));
}

test("the reason for a failed connection is reported even in a test runner, where fetch throws errors of another realm", async (context) => {
  const thrown = `new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })`;
  const { mock } = context.mock.method(globalThis, "fetch", () => Promise.reject(runInNewContext(thrown)));
  const { callbacks } = told();
  const client = createClient({ url: NOWHERE, apiKey: "ptk_1", outbox: { memory: true }, ...callbacks });
  client.capture(event());
  void client.flush();
  await until("it was tried", () => client.stats.failure !== undefined);
  // Deno keeps the replacement for the tests that follow.
  mock.restore();
  assert.equal(client.stats.failure, "fetch failed: connect ECONNREFUSED");
  await client.close({ timeoutMs: 1 });
});

test("a request without an answer is given up after the set time, and sent again", () =>
  withScriptedService(
    () => "hang",
    async (service) => {
      const client = memory(service, { requestTimeoutMs: 50, ...told().callbacks });
      client.capture(event({ event_id: "evt_1" }));
      await until("it was given up", () => client.stats.failure?.includes("No answer within 50 ms"));
      service.script = takeAll;
      await client.close();
      assert.equal(client.stats.delivered, 1);
    },
  ));

test("the client waits for Retry-After, even in a flush", () =>
  withScriptedService(
    () => problemAnswer(429, "rate_limited", { "retry-after": "1" }),
    async (service) => {
      const client = memory(service, told().callbacks);
      client.capture(event({ event_id: "evt_1" }));
      await until("it was asked", () => client.stats.failure !== undefined);
      service.script = takeAll;
      await client.close();
      const [first, second] = service.asked;
      assert.ok(first && second && second.atMs - first.atMs >= 1000);
    },
  ));

test("an endless answer is given up, and loses no event", () =>
  withScriptedService(
    () => ({ status: 202, body: "x".repeat(ANSWER_BYTES_MAX + 1) }),
    async (service) => {
      const { problems, callbacks } = told();
      const client = memory(service, callbacks);
      client.capture(event({ event_id: "evt_1" }));
      await until("it was asked", () => client.stats.failure !== undefined);
      assert.match(problems[0]?.message ?? "", /more than 33554432 bytes/);
      service.script = takeAll;
      await client.close();
      assert.equal(client.stats.delivered, 1);
    },
  ));

for (const [what, refusal] of [
  ["a key that is refused", problemAnswer(401, "invalid_api_key")],
  ["a key without the scope", problemAnswer(403, "insufficient_scope")],
  ["an address that is none of ours", { status: 404, body: "<html>" }],
  ["a proxy that wants a password", { status: 407, body: "<html>" }],
] as const) {
  test(`${what} loses no event: events wait until it is corrected`, () =>
    withScriptedService(
      () => refusal,
      async (service) => {
        const { problems, rejected, callbacks } = told();
        const client = memory(service, callbacks);
        client.capture(event({ event_id: "evt_1" }));
        await until("it was asked", () => client.stats.failure !== undefined);
        assert.equal(problems.length, 1);
        // Node's fetch hides a 407: it is as if there had been no answer (Fetch Standard §4.6, on status 407).
        const kinds = refusal.status === 407 ? ["refused", "not_delivered"] : ["refused"];
        assert.ok(kinds.includes(problems[0]?.kind ?? ""));
        service.script = takeAll;
        await client.close();
        assert.deepEqual([client.stats.delivered, rejected.length], [1, 0]);
      },
    ));
}

const POISON = "evt_poison";
const holdsPoison = (events: readonly Readonly<Record<string, unknown>>[]): boolean =>
  events.some(({ event_id }) => event_id === POISON);

for (const [what, refusal] of [
  ["a batch that is refused for one event", problemAnswer(400, "invalid_request")],
  ["a proxy that finds a body too large", { status: 413, body: "<html>" }],
] as const) {
  test(`${what} loses only that event, and delays none behind it`, () =>
    withScriptedService(
      ({ events }) => (holdsPoison(events) ? refusal : batchAnswer(events.length)),
      async (service) => {
        const { rejected, callbacks } = told();
        const client = memory(service, callbacks);
        for (let n = 0; n < 40; n++) client.capture(event({ event_id: n === 7 ? POISON : `evt_${n}` }));
        assert.equal((await client.close()).kind, "flushed");
        assert.deepEqual(
          rejected.map(({ eventId }) => eventId),
          [POISON],
        );
        assert.equal(client.stats.delivered, 39);
      },
    ));
}

test("an event for which the service always fails delays the others only for a while", () =>
  withScriptedService(
    ({ events }) => (holdsPoison(events) ? problemAnswer(500, "internal_error") : batchAnswer(events.length)),
    async (service) => {
      const client = memory(service, { ...told().callbacks, batch: { ...BATCH, events: 6 } });
      for (let n = 0; n < 6; n++) client.capture(event({ event_id: n === 0 ? POISON : `evt_${n}` }));
      await until("the others are stored", () => client.stats.delivered === 5);
      assert.equal(client.stats.pending.events, 1);
      service.script = takeAll;
      assert.equal((await client.close()).kind, "flushed");
      assert.equal(client.stats.delivered, 6);
    },
  ));

test("while the service is away requests become neither smaller nor reordered, however often they were tried", () => {
  let isAway = true;
  const script = ({ events }: Asked) =>
    isAway ? { status: 502, body: "<html>" } : batchAnswer(events.length);
  return withScriptedService(script, async (service) => {
    const client = memory(service, told().callbacks);
    const ids = Array.from({ length: 10 }, (_, n) => `evt_${n}`);
    for (const event_id of ids) client.capture(event({ event_id }));
    await until("it was tried often", async () => {
      await client.flush({ timeoutMs: 1 });
      return service.asked.length >= 15;
    });
    isAway = false;
    assert.equal((await client.close()).kind, "flushed");
    assert.ok(service.asked.every(({ events }) => events.length === ids.length));
    assert.deepEqual(service.eventIds.slice(-ids.length), ids);
  });
});

test("a batch that is too large for a slow connection becomes smaller until it succeeds", () =>
  withScriptedService(
    ({ events }) => (events.length > 2 ? "hang" : batchAnswer(events.length)),
    async (service) => {
      const client = memory(service, { requestTimeoutMs: 500, ...told().callbacks });
      for (let n = 0; n < 10; n++) client.capture(event({ event_id: `evt_${n}` }));
      await until("all are stored", async () => {
        await client.flush({ timeoutMs: 200 });
        return client.stats.delivered === 10;
      });
      const taken = service.asked.filter(({ events }) => events.length <= 2);
      // On a busy machine an answer may also come too late, and its events are sent again.
      const ids = new Set(taken.flatMap(({ events }) => events.map(({ event_id }) => event_id)));
      assert.deepEqual(
        [...ids],
        Array.from({ length: 10 }, (_, n) => `evt_${n}`),
      );
      await client.close();
    },
  ));

test("send() waits no longer than its timeout, even if a request may take longer", () =>
  withScriptedService(
    () => "hang",
    async (service) => {
      const client = memory(service, { requestTimeoutMs: 60_000, ...told().callbacks });
      const sent = await client.send(event(), { timeoutMs: 50 });
      assert.ok(
        sent.kind === "unknown" && /No answer within \d{1,2} ms/.test(sent.reason),
        JSON.stringify(sent),
      );
      await client.close();
    },
  ));

test("send() does not report an event as rejected if a proxy refuses it: an earlier attempt may have arrived", () =>
  withScriptedService(
    () => "cut",
    async (service) => {
      const client = memory(service, told().callbacks);
      const sending = client.send(event());
      await until("it was asked", () => service.asked.length > 0);
      service.script = () => ({ status: 403, body: "<html>" });
      assert.equal((await sending).kind, "unknown");
      service.script = () => ({ status: 413, body: "<html>" });
      assert.equal((await client.send(event())).kind, "rejected");
      await client.close();
    },
  ));

test("send() reports as stored only the event that its receipt names, whatever the case of its UUID", () => {
  const receipt = { sequence: 7, received_at: "2026-11-20T10:00:00.512Z", duplicate: false, leaf_hash: "" };
  const eventId = "01a21696-af8c-7804-b98a-6e6c0f7af0a9";
  let ofEvent = "evt_2";
  const script = () => ({ status: 202, body: JSON.stringify({ data: { ...receipt, event_id: ofEvent } }) });
  return withScriptedService(script, async (service) => {
    const client = memory(service, told().callbacks);
    const sent = await client.send(event({ event_id: eventId }));
    assert.ok(sent.kind === "unknown" && sent.reason.includes("evt_2"), JSON.stringify(sent));
    ofEvent = eventId.toUpperCase();
    assert.equal((await sent.again()).kind, "stored");
    await client.close();
  });
});

test("send() ends even if its timeout is not a number, such as a missing setting", async () => {
  const client = createClient({ url: NOWHERE, apiKey: "k", outbox: { memory: true } });
  const sent = await client.send(event(), { timeoutMs: Number(undefined) });
  assert.equal(sent.kind, "unknown");
  await client.close();
});

test("a proxy that refuses one event with its own answer neither delays the other events nor loses that one", () =>
  withScriptedService(
    ({ events }) => (holdsPoison(events) ? { status: 403, body: "<html>" } : batchAnswer(events.length)),
    async (service) => {
      const { rejected, callbacks } = told();
      const client = memory(service, callbacks);
      for (let n = 0; n < 6; n++) client.capture(event({ event_id: n === 0 ? POISON : `evt_${n}` }));
      await until("the others are stored", async () => {
        await client.flush({ timeoutMs: 1 });
        return client.stats.delivered === 5;
      });
      assert.deepEqual([rejected.length, client.stats.pending.events], [0, 1]);
      await client.close({ timeoutMs: 1 });
    },
  ));

test("a proxy that refuses all requests with its own answer loses no event: they go as soon as it allows them", () =>
  withScriptedService(
    () => ({ status: 400, body: "<html>" }),
    async (service) => {
      const { rejected, callbacks } = told();
      const client = memory(service, callbacks);
      for (let n = 0; n < 6; n++) client.capture(event({ event_id: `evt_${n}` }));
      await until("it was tried often", async () => {
        await client.flush({ timeoutMs: 1 });
        return service.asked.length >= 20;
      });
      service.script = takeAll;
      assert.deepEqual(
        [await client.close(), client.stats.delivered, rejected],
        [{ kind: "flushed" }, 6, []],
      );
    },
  ));

test("a redirect is not followed, so that the key is not sent elsewhere", () =>
  withScriptedService(
    () => ({ status: 302, headers: { location: `${NOWHERE}/elsewhere` }, body: "" }),
    async (service) => {
      const client = memory(service, told().callbacks);
      client.capture(event());
      await until("it was refused", () => client.stats.failure?.includes("302"));
      assert.equal(client.stats.pending.events, 1);
      await client.close({ timeoutMs: 1 });
    },
  ));

test("events in memory that are not delivered when the client closes are dropped, counted and reported, each one", () =>
  withScriptedService(
    () => problemAnswer(503, "log_unavailable"),
    async (service) => {
      const { dropped, callbacks } = told();
      const client = memory(service, callbacks);
      for (const event_id of ["evt_1", "evt_2"]) client.capture(event({ event_id }));
      await until("it was asked", () => client.stats.failure !== undefined);
      const closed = await client.close({ timeoutMs: 1 });
      assert.ok(closed.kind === "pending" && closed.events === 0);
      assert.deepEqual(
        dropped.map(({ reason, eventId }) => [reason, eventId]),
        [
          ["closed", "evt_1"],
          ["closed", "evt_2"],
        ],
      );
      assert.deepEqual([client.stats.dropped, client.stats.pending.events], [{ closed: 2 }, 0]);
    },
  ));

test("a compressible batch is compressed, and reads back as it was captured", () =>
  withScriptedService(takeAll, async (service) => {
    const client = memory(service);
    const text = "가나다 \u0000 \ud800 😀 ".repeat(200);
    client.capture(event({ metadata: { text } }));
    await client.close();
    const [asked] = service.asked;
    assert.equal(asked?.headers["content-encoding"], "gzip");
    const metadata = asked?.events[0]?.metadata as { text: string };
    assert.equal(metadata.text, text);
  }));

test("a batch is sent when it has the set number of events or bytes, before its time is over", () =>
  withScriptedService(takeAll, async (service) => {
    const client = memory(service, { batch: { events: 3, bytes: 8_000_000, intervalMs: 60_000 } });
    for (let n = 0; n < 3; n++) client.capture(event({ event_id: `evt_${n}` }));
    await until("three were stored", () => client.stats.delivered === 3);
    const large = memory(service, { batch: { events: 1000, bytes: 10_000, intervalMs: 60_000 } });
    for (let n = 0; n < 3; n++) large.capture(event({ metadata: { text: "x".repeat(4000) } }));
    await until("the large ones were stored", () => large.stats.delivered === 3);
    assert.ok(service.asked.every(({ text }) => text.length <= 10_000 + 20));
    await client.close();
    await large.close();
  }));

test("an event is sent after its interval, even if the previous request still waits for an answer", () => {
  const slow = async ({ events }: Asked) => {
    await delay(10 * BATCH.intervalMs);
    return batchAnswer(events.length);
  };
  return withScriptedService(slow, async (service) => {
    const client = memory(service);
    client.capture(event({ event_id: "evt_1" }));
    await until("it was asked", () => service.asked.length > 0);
    client.capture(event({ event_id: "evt_2" }));
    await until("both were stored", () => client.stats.delivered === 2);
    client.capture(event({ event_id: "evt_3" }));
    await until("the third was stored", () => client.stats.delivered === 3);
    await client.close();
  });
});

test("a full outbox keeps its events, and reports every event that it does not take", () =>
  withScriptedService(
    () => problemAnswer(503, "overloaded"),
    async (service) => {
      const { dropped, problems, callbacks } = told();
      const client = memory(service, { outbox: { memory: true, bytesMax: 600_000 }, ...callbacks });
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
      const numbers = service.asked.flatMap(({ events }) => events.map(numberOf));
      assert.deepEqual([...new Set(numbers)], [1, 2, 3, 4, 5, 9]);
    },
  ));

const numberOf = ({ metadata }: Readonly<Record<string, unknown>>): unknown =>
  typeof metadata === "object" && metadata !== null && "source_sequence" in metadata
    ? metadata.source_sequence
    : undefined;

test("an event captured after close is refused with the reason", () =>
  withScriptedService(takeAll, async (service) => {
    const { dropped, callbacks } = told();
    const client = memory(service, callbacks);
    await client.close();
    assert.deepEqual(client.capture(event()), {
      kind: "dropped",
      reason: "closed",
      message: "The client is closed.",
    });
    assert.equal(dropped.length, 1);
    assert.equal((await client.flush()).kind, "flushed");
    assert.equal((await client.send(event())).kind, "unknown");
  }));

test("an event captured while a client closes is kept in its folder, and the next client delivers it", () =>
  withFolder((directory) =>
    withScriptedService(
      () => problemAnswer(503, "log_unavailable"),
      async (service) => {
        const { dropped, callbacks } = told();
        const client = memory(service, { outbox: { directory }, ...callbacks });
        client.capture(event({ event_id: "evt_1" }));
        const closing = client.close({ timeoutMs: 50 });
        const during = client.capture(event({ event_id: "evt_2" }));
        assert.deepEqual([during, dropped], [{ kind: "kept", eventId: "evt_2" }, []]);
        const closed = await closing;
        assert.ok(closed.kind === "pending" && closed.events === 2);
        assert.equal(client.capture(event()).kind, "dropped");
        service.script = takeAll;
        const next = memory(service, { outbox: { directory }, ...callbacks });
        await until("both are delivered", () => next.stats.delivered === 2);
        assert.deepEqual(service.eventIds.slice(-2), ["evt_1", "evt_2"]);
        await next.close();
      },
    ),
  ));

test("an event captured while a client closes that stays in memory is dropped, counted and reported", () =>
  withScriptedService(
    () => "hang",
    async (service) => {
      const { dropped, callbacks } = told();
      const client = memory(service, callbacks);
      client.capture(event({ event_id: "evt_1" }));
      const closing = client.close({ timeoutMs: 50 });
      client.capture(event({ event_id: "evt_2" }));
      await closing;
      assert.deepEqual(
        dropped.map(({ reason, eventId }) => [reason, eventId]),
        [
          ["closed", "evt_1"],
          ["closed", "evt_2"],
        ],
      );
      assert.deepEqual(client.stats.dropped, { closed: 2 });
    },
  ));

test("a flush ends when its time is over, with the number of pending events and the reason", () =>
  withScriptedService(
    () => problemAnswer(503, "log_unavailable"),
    async (service) => {
      const client = memory(service, told().callbacks);
      client.capture(event());
      await until("it was asked", () => client.stats.failure !== undefined);
      const flushed = await client.flush({ timeoutMs: 10 });
      assert.ok(
        flushed.kind === "pending" && flushed.events === 1 && flushed.reason?.includes("log_unavailable"),
      );
      await client.close({ timeoutMs: 1 });
    },
  ));

test("an error thrown by a callback reaches no caller", () =>
  withScriptedService(
    ({ events }) => batchAnswer(events.length, [{ index: 0, code: "invalid_event" }]),
    async (service) => {
      const fail = () => {
        throw new Error("of the program");
      };
      const client = memory(service, { onDropped: fail, onRejected: fail, onProblem: fail });
      client.capture(event());
      client.capture(event({ metadata: { amount: Number.NaN } }));
      assert.equal((await client.close()).kind, "flushed");
      assert.equal(client.stats.rejected, 1);
    },
  ));

test("send returns the receipt, and retries under the same idempotency key", () =>
  withScriptedService(
    () => problemAnswer(503, "log_unavailable", { "retry-after": "0" }),
    async (service) => {
      const client = memory(service);
      const sending = client.send(event({ event_id: "evt_1" }));
      await until("it was asked", () => service.asked.length > 0);
      const receipt = {
        event_id: "evt_1",
        sequence: 7,
        received_at: "2026-11-20T10:00:00.512Z",
        duplicate: false,
        leaf_hash: "bGVhZg==",
      };
      service.script = () => ({ status: 202, body: JSON.stringify({ data: receipt }) });
      assert.deepEqual(await sending, { kind: "stored", receipt });
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
      const before = service.asked.length;
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
      service.script = () => ({
        status: 202,
        body: JSON.stringify({ data: { ...receipt, event_id: "evt_2" } }),
      });
      // By then the broker may have forgotten the first attempt.
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
      const asked = service.asked.slice(before);
      assert.deepEqual(
        [
          new Set(asked.map(({ text }) => text)).size,
          new Set(asked.map(({ headers }) => headers["idempotency-key"])).size,
        ],
        [1, 1],
      );
      await client.close();
    },
  ));
