/** How transitions of duties reach the stream OBLIGATIONS. */
import { expect, test } from "bun:test";
import { createDutyPublisher } from "../../src/nats/duty-publisher.ts";
import { connectionTo, startTestBroker } from "../support/broker.ts";
import { connectAs, startTestLog, type TestLog } from "../support/log.ts";
import { until } from "../support/until.ts";

const message = (number: number) => ({
  tenant: "acme",
  subject: `obligation.acme.Pr%C3%BCfung%2E1.OBJ-ACK.${number % 2 === 0 ? "open" : "due"}`,
  messageId: `id-${number}`,
  payload: JSON.stringify({ number, text: "é😀}" }),
});

const publisherOn = ({ connection }: Pick<TestLog, "connection">) =>
  createDutyPublisher(connection, () => performance.now());

const stored = async ({ broker }: TestLog) => {
  const nats = await connectAs(broker, "consumer");
  const consumer = await nats.jetstream().consumers.get("OBLIGATIONS");
  const { num_pending } = await consumer.info();
  const found: { subject: string; payload: unknown }[] = [];
  if (num_pending > 0)
    for await (const each of await consumer.fetch({ max_messages: num_pending, expires: 5_000 }))
      found.push({ subject: each.subject, payload: each.json() });
  await nats.close();
  return found;
};

test("the publisher stores transitions in order and unchanged, each once, even if some were stored before", async () => {
  await using log = await startTestLog();
  const { publish, lastPublished } = publisherOn(log);
  expect(await lastPublished()).toBe(0);
  const messages = Array.from({ length: 1203 }, (_, number) => message(number));
  await publish(messages.slice(0, 1));
  await publish(messages);
  // As a publisher does that started after the other one ended.
  await publisherOn(log).publish(messages);
  expect(await stored(log)).toEqual(
    messages.map(({ subject, payload }) => ({ subject, payload: JSON.parse(payload) })),
  );
  expect(await lastPublished()).toBe(messages.length);
});

test("the publisher rejects if one of the transitions may not be stored", async () => {
  await using log = await startTestLog();
  const { publish } = publisherOn(log);
  process.kill(log.broker.pid ?? 0, "SIGKILL");
  await until("the connection is known to be lost", () => !log.connection.isConnected());
  await expect(publish([message(0), message(1)])).rejects.toThrow();
  await until("the broker is back", () => log.connection.isConnected());
  await publish([message(0), message(1)]);
  expect(await stored(log)).toHaveLength(2);
});

test("the publisher rejects if no stream can store the transitions", async () => {
  await using broker = await startTestBroker();
  await using connection = await connectionTo(broker);
  for (const count of [1, 5]) {
    const messages = Array.from({ length: count }, (_, number) => message(number));
    await expect(publisherOn({ connection }).publish(messages)).rejects.toThrow();
  }
});
