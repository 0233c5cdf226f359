/** Brokers that are away, as readiness, doctor and errors tell it. */
import { expect, test } from "bun:test";
import { createLogReader } from "../../src/nats/reader.ts";
import { watchBroker } from "../../src/service/broker-watch.ts";
import { diagnose } from "../../src/service/doctor.ts";
import { topology } from "../../streams/topology.ts";
import { connectionTo, settingsFor, silentLogger } from "../support/broker.ts";
import { NODES, startTestCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

test("a broker that is away is named, a lost quorum is called that with the broker that answers, and nobody is told to end that one", async () => {
  await using cluster = await startTestCluster();
  await using connection = await connectionTo(cluster);
  const reader = await createLogReader(connection);
  const definitions = topology({ replicas: 3 });
  await using watch = watchBroker({ connection, definitions, logger: silentLogger });
  const seen = <Value>(what: string, read: (troubles: ReturnType<typeof watch.troubles>) => Value | false) =>
    until(what, () => read(watch.troubles()));
  const environment = { ...settingsFor(cluster), STREAM_REPLICAS: "3", DATA_DIR: cluster.folder };
  const advised = async () =>
    (await Array.fromAsync(diagnose(environment))).filter(
      ({ state }) => state !== "ok" && state !== "unchecked",
    );

  await cluster.untilCaughtUp();
  await seen("all is well", (troubles) => watch.state().streams.length > 0 && troubles.length === 0);
  expect(watch.state().streams.map(({ stream, kind }) => [stream, kind])).toEqual(
    definitions.map(({ name }) => [name, "led"]),
  );
  expect(watch.state().usage).toMatchObject({ memory: { bytes: 0 } });

  const [first, second, last] = NODES;
  await cluster.kill(first, "SIGKILL");
  const short = await seen(
    "every stream lacks a copy",
    (troubles) => troubles.length === definitions.length && troubles,
  );
  expect(new Set(short.map(({ id, isBlocking }) => `${id} ${isBlocking}`))).toEqual(
    new Set(["stream_short false"]),
  );
  for (const { detail } of short) expect(detail).toContain("on 2 of 3 brokers; away or behind: node-0");
  const named = { state: "warning", detail: short.find(({ detail }) => detail.includes("AUDIT"))?.detail };
  expect(await advised()).toContainEqual(expect.objectContaining({ name: "copies", ...named }));

  await cluster.kill(second, "SIGKILL");
  const [lost, ...others] = await seen(
    "the quorum is lost",
    (troubles) => troubles.some(({ id }) => id === "no_quorum") && troubles,
  );
  expect(others).toEqual([]);
  expect(lost).toMatchObject({ isBlocking: true });
  expect(lost?.detail).toMatch(
    new RegExp(
      `^The brokers have no quorum: 1 of 3 answers \\(node-${last} at 127\\.0\\.0\\.1:\\d+\\), and 2 must\\.$`,
    ),
  );
  expect(lost?.advice).toContain("Start the missing brokers, and do not stop the others");
  const checks = await until("doctor names it", async () => {
    const found = await advised();
    return found.some(({ detail }) => detail.startsWith("The brokers have no quorum: 1 of 3")) && found;
  });
  const failure = await until("a read fails by a code", () => reader.read(1).then(() => false, String));
  for (const text of [...checks.flatMap(({ detail, advice }) => [detail, advice ?? ""]), String(failure)]) {
    expect(text).not.toMatch(/SIGKILL|\bkill|: TIMEOUT|temporarily unavailable/);
  }
  expect(failure).toMatch(/more than half/);

  await Promise.all([first, second].map((node) => cluster.start(node)));
  await seen("all is well again", (troubles) => troubles.length === 0);
});
