import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connect, type NatsConnection } from "nats";
import { event, startTestService } from "../support/service.ts";

/** The URL that an operator gives to an internal consumer. */
const connectAsConsumer = async (file: string | undefined): Promise<NatsConnection> => {
  const { host, username, password } = new URL((await readFile(file ?? "", "utf8")).trim());
  return connect({ servers: host, user: username, pass: password });
};

const types = [
  "decision.automated_decision_made",
  "incident.detected",
  "decision.decision_reversed",
  "objection",
];

test("a plain NATS subscription to one tenant's decisions receives exactly those, in order", async () => {
  await using service = await startTestService();
  const [acme, globex] = await Promise.all([service.makeKey("acme"), service.makeKey("globex")]);
  const nats = await connectAsConsumer(service.service.consumerUrlFile);
  const subscription = nats.subscribe("audit.acme.*.decision.>", { max: 20 });
  await nats.flush();
  const events = (tenant: string) =>
    Array.from({ length: 40 }, (_, index) =>
      event({
        event_id: `evt_${tenant}_${index}`,
        asset_id: `asset.${index}/ü`,
        event_type: types[index % types.length],
      }),
    );
  await service.call("/v1/events/batch", { key: globex, body: { events: events("globex") } });
  await service.call("/v1/events/batch", { key: acme, body: { events: events("acme") } });
  const received: unknown[] = [];
  for await (const message of subscription) received.push(message.json<{ event: unknown }>().event);
  expect(received).toEqual(events("acme").filter(({ event_type }) => event_type.startsWith("decision.")));
  await nats.close();
});

test("a JetStream consumer starts where it chooses, sees each event once, and can change nothing", async () => {
  await using service = await startTestService();
  const bodies = Array.from({ length: 10 }, (_, index) =>
    event({ event_id: `evt_${index}`, event_type: "incident.detected" }),
  );
  for (const events of [bodies, bodies]) await service.call("/v1/events/batch", { body: { events } });
  const nats = await connectAsConsumer(service.service.consumerUrlFile);
  const consumer = await nats
    .jetstream()
    .consumers.get("AUDIT", { filterSubjects: "audit.*.*.incident.detected" });
  const received: unknown[] = [];
  for await (const message of await consumer.fetch({ max_messages: 10, expires: 2_000 }))
    received.push(message.json<{ event: unknown }>().event);
  expect(received).toEqual(bodies);
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: 300 });
  const attempts = await Promise.allSettled([
    manager.streams.purge("AUDIT"),
    manager.streams.delete("AUDIT"),
    nats.request("audit.default.a.incident.detected", "forged", { timeout: 300 }),
  ]);
  expect(attempts.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect((await manager.streams.info("AUDIT")).state.messages).toBe(10);
  await nats.close();
});
