/** What `prooftrail doctor` asks a broker, tested on a real one. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { BROKER_REQUEST_MS_MAX } from "../../src/limits.ts";
import { lookAtBroker } from "../../src/nats/broker-health.ts";
import { examineRights } from "../../src/nats/examine.ts";
import { differencesOf, reconcileStreams } from "../../src/nats/reconcile.ts";
import { successorOf } from "../../src/views/kit/beside.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { PERMISSIONS } from "../../streams/permissions.ts";
import { topology } from "../../streams/topology.ts";
import { connectionTo, settingsFor, silentLogger, startTestBroker } from "../support/broker.ts";
import { startConfiguredBroker } from "../support/configured-broker.ts";
import { checksOf } from "../support/diagnosis.ts";
import { dataFolder } from "../support/process.ts";

/** Rights that the permissions of 21 November 2026 did not include. */
const LATER = ["$JS.API.STREAM.INFO.OBLIGATIONS", "$JS.API.STREAM.MSG.GET.COUNTS"];

test("doctor reports rights, streams and storage as they are, and changes nothing", async () => {
  await using broker = await startTestBroker();
  await using service = await connectionTo(broker);
  await using provisioner = await connectionTo(broker, "provisioner");
  expect(await examineRights(service.nats)).toEqual({ granted: [], unknown: [], missing: [] });
  expect(await examineRights(provisioner.nats)).toMatchObject({ granted: ["STREAM.UPDATE"], unknown: [] });
  const url = broker.url("provisioner");
  const settings = { NATS_URL: url, NATS_PROVISION_URL: url, DATA_DIR: "/nowhere" };
  const [tooMuch] = await checksOf("rights", settings);
  // A broker without users has no password either.
  expect(tooMuch).toMatchObject({
    state: "failed",
    detail:
      "the service's user may STREAM.UPDATE: anybody with its password, or without one where it has none, can empty the log",
  });

  const definitions = topology({ replicas: 1 }).slice(0, 1);
  const options = { definitions, heardOf: [], timeoutMs: BROKER_REQUEST_MS_MAX };
  const look = () => lookAtBroker(service.nats, options);
  expect((await look()).streams).toMatchObject([{ stream: "AUDIT", kind: "missing" }]);
  await reconcileStreams({ provisioner: provisioner.nats, definitions, logger: silentLogger });
  const { streams, usage } = await look();
  const [log] = streams;
  if (log?.kind !== "led") throw new Error("the log has no leader");
  expect([log.lastSequence, log.copies, log.behind]).toEqual([0, 1, []]);
  const { definition } = log;
  expect(differencesOf(definition, log.config)).toEqual([]);
  const changed = { ...definition.settings, max_msg_size: 7, deny_purge: false };
  expect(differencesOf({ ...definition, settings: changed }, log.config)).toMatchObject([
    { setting: "deny_purge", wanted: "false", found: "true" },
    { setting: "max_msg_size", wanted: "7" },
  ]);
  expect(usage?.disk.bytes).toBeGreaterThanOrEqual(0);
});

test("doctor names the rights that this version needs and an earlier broker does not give; the check stores nothing, and no consumer sees it", async () => {
  const { publish } = PERMISSIONS.service;
  const before = publish.filter((subject) => !LATER.includes(subject));
  await using broker = await startConfiguredBroker((configuration) =>
    configuration.replace(JSON.stringify(publish), () => JSON.stringify(before)),
  );
  await using service = await connectionTo(broker);
  await using consumer = await connectionTo(broker, "consumer");
  const heard: string[] = [];
  for (const subject of PERMISSIONS.consumer.subscribe)
    consumer.nats.subscribe(subject, { callback: (_, { subject: at }) => void heard.push(at) });
  await consumer.nats.flush();
  expect((await examineRights(service.nats)).missing).toEqual(LATER);
  await consumer.nats.flush();
  expect(heard).toEqual([]);
  const manager = await service.nats.jetstreamManager({ checkAPI: false });
  for (const stream of ["AUDIT", "SANDBOX", "CHECKPOINTS", "KV_KEYS", "COUNTS"])
    expect([stream, (await manager.streams.info(stream)).state.messages]).toEqual([stream, 0]);
});

test("if a stream existed and is gone, doctor does not say that a start makes it, nor that the views are at fault", async () => {
  await using broker = await startConfiguredBroker((configuration) =>
    configuration.replace(JSON.stringify(PERMISSIONS.provisioner.publish), () => JSON.stringify([">"])),
  );
  const settings = { ...settingsFor(broker), DATA_DIR: "/nowhere" };
  const streamChecks = () => checksOf("streams", settings);
  expect(await streamChecks()).toMatchObject([{ state: "ok" }]);
  await using provisioner = await connectionTo(broker, "provisioner");
  const manager = await provisioner.nats.jetstreamManager({ checkAPI: false });
  for (const name of ["CHECKPOINTS", "SANDBOX"]) await manager.streams.delete(name);
  const [gone, lost] = await streamChecks();
  expect(gone).toMatchObject({ detail: "SANDBOX is missing", advice: "Start the service: it creates them." });
  expect(lost?.detail).toBe("the broker no longer has CHECKPOINTS, which it had before");
  expect(lost?.advice).toStartWith("Nothing is created in its place");
  await manager.streams.delete("AUDIT");
  await using folder = await dataFolder();
  await Bun.write(`${folder.path}/views.sqlite`, "");
  const views = { ...settings, DATA_DIR: folder.path };
  expect((await checksOf("views", views))[0]?.detail).toStartWith("The event log could not be read");
  const [rules] = await checksOf("views", { ...views, OBLIGATION_RULES_FILE: "/none" });
  expect(rules?.detail).toStartWith("OBLIGATION_RULES_FILE /none cannot be read");
});

test("doctor finds nothing wrong with a view whose earlier version is read until this one is built", async () => {
  await using broker = await startConfiguredBroker((configuration) => configuration);
  await using folder = await dataFolder();
  await using views = createSqliteViews({ path: join(folder.path, "views.sqlite") });
  const [view, ...others] = PROJECTIONS;
  for (const each of [{ ...view, version: view.version - 1 }, ...others]) await views.open(each);
  const viewChecks = () => checksOf("views", { ...settingsFor(broker), DATA_DIR: folder.path });
  expect(await viewChecks()).toMatchObject([{ detail: expect.stringContaining("built by another version") }]);
  await views.open(successorOf(view));
  expect(await viewChecks()).toMatchObject([{ state: "ok" }]);
});
