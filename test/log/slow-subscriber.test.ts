/** A subscriber that reads slowly, or not at all, slows nobody down. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { connectionTo } from "../support/broker.ts";
import { startConfiguredBroker } from "../support/configured-broker.ts";
import { appenderOn, smallRecord } from "../support/log.ts";
import { until } from "../support/until.ts";

/** It is full sooner than ours: past three quarters of it a server makes publishers wait, unless told otherwise. */
const PENDING_BYTES_MAX = 8 * 1024 * 1024;

test("a subscriber that reads nothing delays no append", async () => {
  await using broker = await startConfiguredBroker(
    (configuration) =>
      `http: "127.0.0.1:-1"\n${configuration.replace(/^max_pending: .*$/m, `max_pending: ${PENDING_BYTES_MAX}`)}`,
  );
  const { hostname, port, username, password } = new URL(broker.url("consumer"));
  let heard = "";
  const socket = connect(Number(port), hostname);
  socket.setEncoding("latin1").on("data", (text) => {
    heard += text;
  });
  socket.write(
    `CONNECT ${JSON.stringify({ verbose: false, user: username, pass: password })}\r\nSUB audit.> 1\r\nPING\r\n`,
  );
  await until("it is subscribed", () => heard.includes("PONG"));
  socket.pause();

  await using service = await connectionTo(broker);
  const appender = appenderOn(service);
  const text = new TextEncoder().encode(JSON.stringify({ text: "x".repeat(8000) }));
  const record = (id: string) => ({
    ...smallRecord(id),
    event: { source: text, from: 0, to: text.length },
  });
  for (let batch = 0; batch < 6; batch++) {
    const ids = Array.from({ length: 500 }, (_, index) => `${batch}-${index}`);
    const outcomes = await appender.append(ids.map(record));
    expect(outcomes.filter(({ kind }) => kind !== "appended")).toEqual([]);
  }
  expect(await (await fetch(`${broker.monitor}/varz`)).json()).toMatchObject({ stalled_clients: 0 });
  socket.destroy();
});
