/** With a real service: the service accepts and shows what the SDK sends. test/slow/sdk-runtimes.slow.ts starts the service. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import process from "node:process";
import { test } from "node:test";
import {
  type Client,
  createClient,
  createSandboxClient,
  type Problem,
  type RejectedEvent,
} from "prooftrail-sdk";
import { EVENT_TYPES } from "../../../src/event/event-types.ts";
import { until } from "../../support/until.ts";
import { event } from "./events.ts";
import { withFolder } from "./folder.ts";

const { PROOFTRAIL_TEST_URL: url = "", PROOFTRAIL_TEST_KEY: apiKey = "" } = process.env;
assert.ok(
  url !== "" && apiKey !== "",
  "test/slow/sdk-runtimes.slow.ts starts the service and says where it is",
);

interface StoredEvent {
  readonly event: Readonly<Record<string, unknown>> & {
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
}

const read = async (path: string): Promise<unknown> => {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${apiKey}` } });
  const body: { data: unknown } = JSON.parse(await response.text());
  assert.equal(response.status, 200, JSON.stringify(body));
  return body.data;
};

/** The events of one case, as soon as there are this many. */
const storedIn = (correlationId: string, count: number): Promise<readonly StoredEvent[]> =>
  until(`${count} events are in the view`, async () => {
    const rows = (await read(
      `/v1/events?correlation_id=${correlationId}&order=asc&limit=200`,
    )) as readonly StoredEvent[];
    return rows.length >= count && rows;
  });

test("an event of every type, with every possible member, is accepted and reads back as captured", () =>
  withFolder(async (directory) => {
    const client = createClient({ url, apiKey, outbox: { directory, sync: "always" }, source: "suite" });
    const correlation_id = `case_${randomUUID()}`;
    for (const event_type of EVENT_TYPES) {
      const captured = client.capture({
        ...event(),
        event_type: event_type as "ai_inference",
        correlation_id,
        asset_version: "7",
        legal_bases: ["ai_basic_law_kr"],
        risk_tier: "high",
        hash: { subject: "user 42", context: "input", outcome: "output" },
        tags: { team: "credit", canary: false, weight: 0.5 },
        metadata: { decision_id: "dec_1", text: "가나다 \u0000 😀", big: 12_345_678_901_234 },
      });
      assert.equal(captured.kind, "kept");
    }
    assert.deepEqual(await client.synced(), { kind: "synced" });
    assert.deepEqual(await client.flush(), { kind: "flushed" });
    const { delivered, rejected, dropped, pending } = client.stats;
    assert.deepEqual([delivered, rejected, dropped, pending.events], [EVENT_TYPES.length, 0, {}, 0]);
    const rows = await storedIn(correlation_id, EVENT_TYPES.length);
    assert.deepEqual(
      rows.map((row) => row.event.event_type),
      EVENT_TYPES,
    );
    assert.deepEqual(
      rows.map((row) => row.event.metadata?.source_sequence),
      EVENT_TYPES.map((_, index) => index + 1),
    );
    assert.equal(rows[0]?.event.metadata?.text, "가나다 \u0000 😀");
    await client.close();
  }));

test("a rejected event comes back with the path of the wrong member", async () => {
  const rejected: RejectedEvent[] = [];
  const client = createClient({
    url,
    apiKey,
    outbox: { memory: true },
    onRejected: (letter) => rejected.push(letter),
    onProblem: () => {},
  });
  client.capture(event({ event_id: "42" }));
  client.capture(event({ trace_id: "" }));
  await client.close();
  assert.deepEqual(
    rejected.map(({ rejection }) => [rejection.code, rejection.errors.map(({ path }) => path)]),
    [
      ["invalid_event", ["/event_id"]],
      ["invalid_event", ["/trace_id"]],
    ],
  );
});

test("send returns the position in the log and the leaf of the proof, and the same for a repeat", async () => {
  const client = createClient({ url, apiKey, outbox: { memory: true } });
  const given = event({ event_id: `evt_${randomUUID()}`, timestamp: new Date() });
  const first = await client.send(given);
  assert.ok(
    first.kind === "stored" &&
      !first.receipt.duplicate &&
      /^[A-Za-z0-9+/]{43}=$/.test(first.receipt.leaf_hash),
  );
  const other = createClient({ url, apiKey, outbox: { memory: true } });
  const conflict = await other.send({ ...given, metadata: { other: true } });
  assert.ok(conflict.kind === "rejected" && conflict.rejection.code === "idempotency_key_reused");
  const [one, two] = [
    await other.send(event({ event_id: `${given.event_id}_b`, timestamp: "2026-11-20T10:00:00Z" })),
    await other.send(event({ event_id: `${given.event_id}_b`, timestamp: "2026-11-20T10:00:00Z" })),
  ];
  assert.ok(one.kind === "stored" && two.kind === "stored" && two.receipt.duplicate);
  assert.deepEqual({ ...two.receipt, duplicate: false }, one.receipt);
  await client.close();
  await other.close();
});

test("a misspelt member is reported: once per batch for captured events, and in the receipt of a sent event", async () => {
  const tell = async (make: (onProblem: (problem: Problem) => void) => Client) => {
    const problems: Problem[] = [];
    const client = make((problem) => problems.push(problem));
    // As a program without types would write it.
    const misspelt = { ...event({ event_id: `evt_${randomUUID()}` }), risk_teir: "high" };
    client.capture(misspelt);
    client.capture({ ...misspelt, event_id: `${misspelt.event_id}_b` });
    const sent = await client.send({ ...misspelt, event_id: `${misspelt.event_id}_c` });
    assert.equal((await client.close()).kind, "flushed");
    assert.deepEqual([client.stats.delivered, problems.map(({ kind }) => kind)], [2, ["warning"]]);
    assert.match(problems[0]?.message ?? "", /Event evt_.* \/risk_teir: .*did you mean "risk_tier"/);
    const warnings = sent.kind === "stored" ? sent.receipt.warnings : [];
    assert.deepEqual(
      warnings?.map(({ path, code }) => [path, code]),
      [["/risk_teir", "unknown_field"]],
    );
  };
  await tell((onProblem) => createClient({ url, apiKey, outbox: { memory: true }, onProblem }));
  await tell((onProblem) => createSandboxClient({ url, onProblem }));
});

test("a wrong key is reported, and the events stay", async () => {
  const problems: Problem[] = [];
  const client = createClient({
    url,
    apiKey: "ptk_wrong",
    outbox: { memory: true },
    batch: { intervalMs: 5 },
    onProblem: (problem) => problems.push(problem),
  });
  client.capture(event());
  await until("it was refused", () => client.stats.failure?.startsWith("invalid_api_key"));
  assert.deepEqual([problems.map(({ kind }) => kind), client.stats.pending.events], [["refused"], 1]);
  await client.close({ timeoutMs: 1 });
});

test("heartbeats give the number of waiting events and the last sequence number, so that missing events at the end of a source are noticed", async () => {
  const asset_id = `beating_${randomUUID()}`;
  const client = createClient({
    url,
    apiKey,
    outbox: { memory: true },
    source: "beating",
    heartbeat: { asset_id },
  });
  client.capture(event({ asset_id }));
  assert.equal((await client.close()).kind, "flushed");
  const rows = await until("both heartbeats are in the view", async () => {
    const found = (await read(
      `/v1/events?asset_id=${asset_id}&event_type=sdk.heartbeat&order=asc`,
    )) as readonly StoredEvent[];
    return found.length >= 2 && found;
  });
  const [first, last] = [rows.at(-2)?.event.metadata, rows.at(-1)?.event.metadata];
  assert.deepEqual(
    [first?.last_source_sequence, last?.last_source_sequence, last?.circuit_state, last?.dropped],
    [0, 1, "closed", 0],
  );
  assert.equal(first?.source_id, last?.source_id);
});

test("the sandbox accepts events without a key, and marks them as no evidence", async () => {
  const client = createSandboxClient({ url });
  const asset_id = `sandbox_${randomUUID()}`;
  const given = event({ asset_id, event_id: `evt_${asset_id}`, timestamp: "2026-11-20T10:00:00Z" });
  const [sent, again] = [await client.send(given), await client.send(given)];
  assert.ok(sent.kind === "stored" && again.kind === "stored");
  const { event_id, duplicate, leaf_hash } = sent.receipt;
  assert.deepEqual([event_id, duplicate, leaf_hash], [given.event_id, false, ""]);
  assert.deepEqual(again.receipt, { ...sent.receipt, duplicate: true });
  client.capture(event({ asset_id }));
  client.capture(event({ asset_id }));
  assert.equal((await client.close()).kind, "flushed");
  assert.equal(client.stats.delivered, 2);
  const response = await fetch(`${url}/v1/sandbox/events?limit=200`);
  const list: {
    data: { events?: readonly StoredEvent[] } | readonly StoredEvent[];
    _sandbox_watermark: string;
  } = JSON.parse(await response.text());
  assert.equal(list._sandbox_watermark, "SANDBOX — NOT FOR PRODUCTION");
  assert.equal(JSON.stringify(list.data).split(`"asset_id":"${asset_id}"`).length - 1, 3);
});
