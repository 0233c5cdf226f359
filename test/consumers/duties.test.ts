/** Transitions of duties, as a service of yours gets them. */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connect } from "nats";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const received = { objection_id: "o1", decision_id: "d1", objection_type: "explanation_request" };

test("a service of yours gets it from the stream, on a subject it can filter by", async () => {
  await using service = await startTestService();
  const { host, username, password } = new URL(
    (await readFile(service.service.consumerUrlFile ?? "", "utf8")).trim(),
  );
  const nats = await connect({ servers: host, user: username, pass: password });
  await service.call("/v1/events", {
    body: event({
      asset_id: "a.b",
      event_type: "objection.received",
      timestamp: new Date().toISOString(),
      metadata: received,
    }),
  });
  const consumer = await nats
    .jetstream()
    .consumers.get("OBLIGATIONS", { filterSubjects: "obligation.default.a%2Eb.PIPA-EXPL.*" });
  const message = await consumer.next({ expires: 10_000 });
  expect(message?.subject).toBe("obligation.default.a%2Eb.PIPA-EXPL.open");
  expect(message?.json<Record<string, unknown>>()).toMatchObject({
    tenant: "default",
    transition: "open",
    clause: expect.stringContaining("44-3"),
    started_by: { event_id: "evt_1", sequence: 1 },
    decision_id: "d1",
  });
  await nats.close();
  await until("the metrics say how far duties were told of", async () =>
    /^prooftrail_duties_position 1$/m.test((await service.call("/metrics")).text),
  );
});
