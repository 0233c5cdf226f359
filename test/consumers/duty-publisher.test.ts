/** How transitions of duties reach the stream OBLIGATIONS. */
import { expect, test } from "bun:test";
import { connectToBroker } from "../../src/nats/connection.ts";
import { createDutyPublisher, type DutyMessage } from "../../src/nats/duty-publisher.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { connectAs, startTestLog, type TestLog } from "../support/log.ts";
import { until } from "../support/until.ts";

const message = (number: number): DutyMessage => ({
  tenant: "acme",
  assetId: "Prüfung.1",
  rule: "OBJ-ACK",
  transition: number % 2 === 0 ? "open" : "due",
  messageId: `id-${number}`,
  payload: { number, text: "é😀}" },
});

/** Publishes behind what the stream holds by then. */
const publisherOn = ({ connection }: TestLog) => {
  const publisher = createDutyPublisher(connection, () => performance.now());
  const publish = async (messages: readonly DutyMessage[]) =>
    publisher.publish(messages, await publisher.lastPublished());
  return { ...publisher, publish };
};

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
  const { publish } = publisherOn(log);
  const messages = Array.from({ length: 1203 }, (_, number) => message(number));
  await publish(messages.slice(0, 1));
  // A publisher is not overtaken by what it has just stored itself.
  expect(await publish(messages)).toBe("stored");
  // As a publisher does that started after the other one ended.
  await publisherOn(log).publish(messages);
  expect(await stored(log)).toEqual(
    messages.map(({ payload, transition }) => ({
      subject: `obligation.acme.Pr%C3%BCfung%2E1.OBJ-ACK.${transition}`,
      payload,
    })),
  );
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
  await using connection = await connectToBroker({
    url: broker.url("service"),
    name: "test",
    logger: silentLogger,
  });
  const publisher = createDutyPublisher(connection, () => performance.now());
  for (const count of [1, 5]) {
    const messages = Array.from({ length: count }, (_, number) => message(number));
    await expect(publisher.publish(messages, 0)).rejects.toThrow();
  }
});

test.each([1, 5])(
  "when two publishers read the same state, one publishes %p, and the other stores nothing behind it",
  async (count) => {
    await using log = await startTestLog();
    const [paused, successor] = [
      createDutyPublisher(log.connection, () => performance.now()),
      publisherOn(log),
    ];
    await successor.publish([message(0)]);
    const after = await paused.lastPublished();
    const [older, newer] = [1, 100].map((from) =>
      Array.from({ length: count }, (_, index) => message(from + index)),
    );
    expect(await successor.publish(newer ?? [])).toBe("stored");
    expect(await paused.publish(older ?? [], after)).toBe("overtaken");
    expect(await stored(log)).toHaveLength(1 + count);
    // A publisher is overtaken neither by what it has published itself, nor by its own messages that it did not record.
    expect(await paused.publish(newer ?? [], await paused.lastPublished())).toBe("stored");
    expect(paused.stall()).toBeUndefined();
  },
);

test.each([1, 5])(
  "a publisher that is refused with %p, though nothing newer is stored, reports that it was overtaken, and the next time it fails",
  async (count) => {
    await using log = await startTestLog();
    const publisher = createDutyPublisher(log.connection, () => performance.now());
    const messages = Array.from({ length: count }, (_, number) => message(number));
    // As from a broker that counts a message which it never stored.
    expect(await publisher.publish(messages, 1)).toBe("overtaken");
    await expect(publisher.publish(messages, 1)).rejects.toThrow("holds nothing newer");
    expect(await publisher.publish(messages, 0)).toBe("stored");
  },
);
