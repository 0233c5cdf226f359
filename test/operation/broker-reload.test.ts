/** A broker whose configuration is changed to a wrong one and back while it runs: the service recovers by itself when it is right again. */
import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { APPEND_ACK_MS_MAX } from "../../src/limits.ts";
import { brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { settingsFor, startTestBroker, type TestBroker } from "../support/broker.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const startServiceOn = (broker: TestBroker): Promise<TestService> => startTestService(settingsFor(broker));

/** As an operator does it: write the file, and tell the server to read it. */
const reload = async (broker: TestBroker, configuration: string): Promise<void> => {
  await writeFile(brokerFiles(broker.directory).configuration, configuration);
  process.kill(broker.pid, "SIGHUP");
};

const send = async (service: TestService, eventId: string): Promise<number> =>
  (await service.call("/v1/events", { body: event({ event_id: eventId }) })).status;

const hasError = (service: TestService, text: string): boolean =>
  service.lines.some(
    ({ message, detail }) => message === "the broker reported an error" && String(detail).includes(text),
  );

test("when the broker refused the password for a while, the service stores events again after the mend", async () => {
  await using broker = await startTestBroker();
  await using service = await startServiceOn(broker);
  const right = await readFile(brokerFiles(broker.directory).configuration, "utf8");
  const { password } = new URL(broker.url("service"));
  await reload(broker, right.replaceAll(password, "another"));
  const refusals = (): number =>
    service.lines.filter(({ detail }) => String(detail).toUpperCase().includes("AUTHORIZATION")).length;
  await until("the broker has refused the password three times", () => refusals() >= 3);
  expect(await send(service, "evt_meanwhile")).toBe(503);
  await reload(broker, right);
  await until("events are stored again", async () => (await send(service, "evt_after")) === 202);
});

test("when acknowledgements could not be received for a while, the service stores events again after the mend", async () => {
  await using broker = await startTestBroker();
  await using service = await startServiceOn(broker);
  const right = await readFile(brokerFiles(broker.directory).configuration, "utf8");
  await reload(broker, right.replaceAll("_INBOX.>", "_NOPE.>"));
  await until("the broker has taken the right away", () => hasError(service, "subscription _INBOX."));
  const start = performance.now();
  expect(await send(service, "evt_meanwhile")).toBe(503);
  // The broker refuses at once, so the request must not wait for its timeout.
  expect(performance.now() - start).toBeLessThan(APPEND_ACK_MS_MAX);
  await reload(broker, right);
  await until("events are acknowledged again", async () => (await send(service, "evt_after")) === 202);
});
