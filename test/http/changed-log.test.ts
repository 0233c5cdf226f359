/** Somebody changes the log's stream while the service runs: if acknowledged events could be lost, no event is answered with 202 any more. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DiscardPolicy, type JetStreamManager, type NatsConnection, nanos, type StreamConfig } from "nats";
import { settingsFor, startTestBroker, type TestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let broker: TestBroker;
let service: TestService;
let provisioner: NatsConnection;
let streams: JetStreamManager["streams"];

beforeAll(async () => {
  broker = await startTestBroker();
  service = await startTestService({ ...settingsFor(broker) });
  provisioner = await connectAs(broker, "provisioner");
  streams = (await provisioner.jetstreamManager({ checkAPI: false })).streams;
});
afterAll(async () => {
  await provisioner.close();
  await service[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

const lastSequence = async (): Promise<number> => (await streams.info("AUDIT")).state.last_seq;
const readiness = () => service.call("/health/ready");
const post = () => service.call("/v1/events", { body: event() });
const metric = async (name: string): Promise<number> => {
  const { text } = await service.call("/metrics");
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
};
const change = async (settings: Partial<StreamConfig>): Promise<void> => {
  const { config } = await streams.info("AUDIT");
  await streams.update("AUDIT", { ...config, ...settings });
};

/** nats.js 2.29 has the type of this setting, but not of its absence. */
const NO_TRANSFORM: object = { subject_transform: null };

const ODD: Partial<StreamConfig> = {
  max_age: nanos(3_600_000),
  max_msgs_per_subject: 1_000,
  subject_transform: { src: "audit.*.>", dest: "audit.other.>" },
  discard: DiscardPolicy.Old,
};
const RIGHT: Partial<StreamConfig> = {
  max_age: 0,
  max_msgs_per_subject: -1,
  ...NO_TRANSFORM,
  discard: DiscardPolicy.New,
};

test("settings with which events could be lost get 503 until they are changed back, and each is named", async () => {
  expect((await post()).status).toBe(202);
  await change(ODD);
  await until("it is not ready", async () => (await readiness()).status === 503);
  const before = await lastSequence();
  const single = await post();
  const { status, json, headers } = single;
  expect([status, json.code, headers.get("retry-after")]).toEqual([503, "log_unavailable", "1"]);
  expect(json.detail).toContain("misconfigured");
  const batch = await service.call("/v1/events/batch", {
    body: { events: [event(), event(), event(), event(), event()] },
  });
  expect([batch.status, batch.json.code]).toEqual([503, "log_unavailable"]);
  const key = await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"] } });
  expect([key.status, key.json.code]).toEqual([503, "log_unavailable"]);
  expect(await lastSequence()).toBe(before);
  expect(await metric("prooftrail_ready")).toBe(0);
  const { text } = await readiness();
  const told = service.lines.filter(({ message }) => message.startsWith("the log could lose"));
  for (const setting of Object.keys(ODD)) {
    expect(text).toContain(`AUDIT.${setting} must be`);
    expect(told.filter(({ detail }) => detail?.includes(setting))).toHaveLength(1);
  }
  await change(RIGHT);
  await until("it is taken again", async () => (await post()).status === 202);
  expect((await readiness()).status).toBe(200);
  expect(await metric("prooftrail_ready")).toBe(1);
});

test("a change that loses no events does not stop writes: a shorter window, or a limit at which the log refuses", async () => {
  await change({ max_bytes: 1_000_000_000, duplicate_window: nanos(60_000) });
  // The service sees this change only after the one before.
  await change({ max_age: nanos(3_600_000) });
  await until("it was seen", async () => (await post()).status === 503);
  await change({ max_age: 0 });
  await until("it is taken again", async () => (await post()).status === 202);
  expect((await readiness()).status).toBe(200);
});
