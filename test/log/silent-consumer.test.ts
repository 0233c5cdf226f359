/** A consumer that gives nothing although the log has more, as one on a replica does that is behind. Here it is paused, which looks the same to its reader. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "nats";
import { brokerFiles } from "../../src/jetstream/broker/broker-files.ts";
import { configure } from "../../src/jetstream/broker/configure.ts";
import { connectToBroker } from "../../src/jetstream/connection.ts";
import { createLogReader } from "../../src/jetstream/reader.ts";
import { reconcileStreams } from "../../src/jetstream/reconcile.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, testBrokerBinary } from "../support/broker.ts";
import { appenderOn, smallRecord } from "../support/log.ts";
import { until } from "../support/until.ts";

const CREDENTIALS = { service: "s", provisioner: "p", consumer: "c" };

/** Our own broker, whose service may pause consumers. */
const startPausingBroker = async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-pausing-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const files = brokerFiles(folder);
  await mkdir(files.run, { recursive: true });
  const service = 'user: "service"';
  const mayPublish = '"publish":{"allow":[';
  const configuration = configure({ files, credentials: CREDENTIALS, port: undefined });
  const [others = "", itself = ""] = configuration.split(service);
  const mayPause = itself.replace(mayPublish, () => `${mayPublish}"$JS.API.CONSUMER.PAUSE.AUDIT.*",`);
  await writeFile(files.configuration, others + service + mayPause);
  const child = spawn(await testBrokerBinary(), ["-c", files.configuration], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  stack.defer(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const address = await until("the broker tells its port", async () => {
    const name = (await readdir(files.run)).find((each) => each.endsWith(".ports"));
    const text = name === undefined ? "" : await readFile(join(files.run, name), "utf8").catch(() => "");
    return /nats:\/\/[^"]+/.exec(text)?.[0];
  });
  const provisioner = await connect({ servers: address, user: "provisioner", pass: "p" });
  await reconcileStreams({ provisioner, definitions: topology({ replicas: 1 }), logger: silentLogger });
  await provisioner.close();
  const kept = stack.move();
  return {
    url: address.replace("nats://", "nats://service:s@"),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
};

test("a reader leaves a consumer that gives nothing, and misses and repeats no message", async () => {
  await using broker = await startPausingBroker();
  await using connection = await connectToBroker({ url: broker.url, name: "test", logger: silentLogger });
  const appender = appenderOn(connection);
  const append = (...ids: readonly string[]) => appender.append(ids.map((id) => smallRecord(id)));
  const reader = await createLogReader(connection);
  const stopping = new AbortController();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const messages of reader.follow({ from: 1, messagesMax: 100, signal: stopping.signal }))
      seen.push(...messages.map(({ sequence }) => sequence));
  })();
  await append("a", "b", "c");
  await until("what is there is read", () => seen.length === 3);

  const { consumers } = await connection.nats.jetstreamManager({ checkAPI: false });
  const [paused = ""] = (await consumers.list("AUDIT").next()).map(({ name }) => name);
  const answer = await connection.nats.request(
    `$JS.API.CONSUMER.PAUSE.AUDIT.${paused}`,
    JSON.stringify({ pause_until: new Date(Date.now() + 3_600_000).toISOString() }),
  );
  expect(answer.json<{ paused?: boolean }>().paused).toBe(true);
  await append("d", "e");
  await until("it reads on", () => seen.length === 5, { timeoutMs: 30_000 });
  await append("f");
  await until("it follows as before", () => seen.length === 6);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  const names = (await consumers.list("AUDIT").next()).map(({ name }) => name);
  expect(names).toHaveLength(1);
  expect(names).not.toContain(paused);
  stopping.abort();
  await reading;
}, 60_000);
