/**
 * What the machine can do at most, with the same records and the same durability. ingest.ts runs it as `ceiling.ts <natsUrl> <kind> <seconds>`, or as
 * `ceiling.ts - http <seconds>` for a server that answers 202 and stores nothing. Prints one JSON line.
 */

import type { OutgoingRecord } from "../src/log/event-log.ts";
import { recordPayload } from "../src/log/payload.ts";
import { openAppendExchange } from "../src/nats/append-exchange.ts";
import { connectToBroker } from "../src/nats/connection.ts";
import { silentLogger } from "../test/support/broker.ts";
import { sampleEvent } from "./sample-event.ts";

export interface CeilingResult {
  readonly eventsPerSecond: number;
  readonly p50: number;
  readonly cpuMicroseconds: number;
}

const [url = "", kind = "", seconds = "3"] = process.argv.slice(2);

const ENVELOPE = {
  tenant: "default",
  receivedAt: "2026-11-20T10:00:00.000Z",
  requestId: "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10",
};
const payload = recordPayload(ENVELOPE, sampleEvent("ceiling"));
let next = 0;
const record = (): OutgoingRecord => ({
  tenant: "default",
  subject: "audit.default.credit_model.decision.automated_decision_made",
  messageId: `${kind}-${process.pid}-${String(next++).padStart(24, "0")}`,
  ...payload,
});

const measure = async (
  inFlight: number,
  events: number,
  send: () => Promise<unknown>,
): Promise<CeilingResult> => {
  const until = performance.now() + Number(seconds) * 1000;
  const latencies: number[] = [];
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const drive = async (): Promise<void> => {
    while (performance.now() < until) {
      const sentAt = performance.now();
      await send();
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, drive));
  const total = latencies.length * events;
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  return {
    eventsPerSecond: total / ((performance.now() - startedAt) / 1000),
    p50: latencies[latencies.length >> 1] ?? 0,
    cpuMicroseconds: (used.user + used.system) / total,
  };
};

const onBroker = async (): Promise<CeilingResult> => {
  await using connection = await connectToBroker({ url, name: "ceiling", logger: silentLogger });
  const exchange = openAppendExchange(connection, () => performance.now());
  const single = (): Promise<unknown> => exchange.single(record());
  const atomic = (): Promise<unknown> =>
    exchange.batch(Array.from({ length: 1000 }, () => ({ record: record() })));
  if (kind === "atomic") return await measure(2, 1000, atomic);
  return await measure(kind === "one" ? 1 : 256, 1, single);
};

if (kind === "http") {
  const body = `{"data":{"event_id":"evt_1","sequence":1,"received_at":"2026-11-20T10:00:00.512Z","duplicate":false},"request_id":"019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10"}`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 64 * 1024 * 1024,
    fetch: async (request) => {
      await request.arrayBuffer();
      return new Response(body, { status: 202, headers: { "content-type": "application/json" } });
    },
  });
  process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
} else {
  process.stdout.write(`${JSON.stringify(await onBroker())}\n`);
}
