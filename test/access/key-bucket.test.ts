/** The key bucket on a real broker, with the permissions that the running service has there. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setUpAdminKey } from "../../src/access/admin-key.ts";
import { authenticate } from "../../src/access/authenticate.ts";
import { createKeys } from "../../src/access/keys.ts";
import { SCOPES } from "../../src/access/scopes.ts";
import { KEY_STATE_AGE_MS_MAX } from "../../src/limits.ts";
import type { BrokerConnection } from "../../src/nats/connection.ts";
import { createKeyBucket, type KeyBucket } from "../../src/nats/key-bucket.ts";
import type { Logger } from "../../src/telemetry/logger.ts";
import { KEYS_BUCKET } from "../../streams/subjects.ts";
import { topology } from "../../streams/topology.ts";
import { connectionTo, silentLogger, startTestBroker, type TestBroker } from "../support/broker.ts";
import { startConfiguredBroker } from "../support/configured-broker.ts";
import { connectAs, provision } from "../support/log.ts";
import { actor, createMemoryRecorder } from "../support/recorder.ts";
import { until } from "../support/until.ts";
import { someRecord, testKeyStore } from "./key-store-suite.ts";

/** The part of a front end that handles keys. */
interface FrontEnd extends AsyncDisposable {
  readonly bucket: KeyBucket;
  readonly connection: BrokerConnection;
  /** Moves the clock of the bucket forward without waiting. */
  passTime(milliseconds: number): void;
  accepts(apiKey: string): boolean;
}

const startBrokerWithBucket = async (): Promise<TestBroker> => {
  const broker = await startTestBroker();
  await provision(broker);
  return broker;
};

const startFrontEnd = async (
  broker: Pick<TestBroker, "url">,
  logger: Logger = silentLogger,
): Promise<FrontEnd> => {
  const connection = await connectionTo(broker);
  let passedMs = 0;
  const bucket = await createKeyBucket({
    connection,
    logger,
    elapsedMs: () => performance.now() + passedMs,
  });
  return {
    bucket,
    connection,
    passTime: (milliseconds) => {
      passedMs += milliseconds;
    },
    accepts: (apiKey) =>
      authenticate({ authorization: `Bearer ${apiKey}`, keys: bucket, now: new Date() }).kind === "principal",
    [Symbol.asyncDispose]: async () => {
      await bucket[Symbol.asyncDispose]();
      await connection.close();
    },
  };
};

const by = actor({ keyId: "admin", tenant: "default", scopes: SCOPES, isAdmin: true });
const keysIn = (store: KeyBucket) =>
  createKeys({ store, recorder: createMemoryRecorder(), now: () => new Date(), randomBytes });

const createKey = async (bucket: KeyBucket): Promise<{ id: string; apiKey: string }> => {
  const created = await keysIn(bucket).create({ by, request: { tenant: "acme", scopes: ["events:write"] } });
  if (created.kind !== "created") throw new Error(JSON.stringify(created));
  return { id: created.key.id, apiKey: created.apiKey };
};

const revokeKey = (bucket: KeyBucket, id: string) => keysIn(bucket).revoke({ by, id });

/** Kills the server as in a crash, and waits until it is back. */
const killBroker = async (broker: TestBroker): Promise<void> => {
  const { pid } = broker;
  process.kill(pid, "SIGKILL");
  await until("the broker is back", () => broker.pid !== pid);
};

testKeyStore("key bucket", async () => {
  const broker = await startBrokerWithBucket();
  const frontEnd = await startFrontEnd(broker);
  return {
    store: frontEnd.bucket,
    [Symbol.asyncDispose]: async () => {
      await frontEnd[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
});

test("a key revoked on one front end is refused by the other within a second", async () => {
  await using broker = await startBrokerWithBucket();
  await using one = await startFrontEnd(broker);
  await using other = await startFrontEnd(broker);
  const { id, apiKey } = await createKey(one.bucket);
  await until("the other front end accepts the key", () => other.accepts(apiKey));

  expect((await revokeKey(one.bucket, id)).kind).toBe("revoked");
  expect(one.accepts(apiKey)).toBe(false);
  await until("the other front end refuses the key", () => !other.accepts(apiKey));
});

test("of two front ends that start at once exactly one makes the admin key, and its file has that key", async () => {
  await using broker = await startBrokerWithBucket();
  await using one = await startFrontEnd(broker);
  await using other = await startFrontEnd(broker);
  const directory = await mkdtemp(join(tmpdir(), "prooftrail-keys-"));
  try {
    const setUp = ({ bucket }: FrontEnd) =>
      setUpAdminKey({
        store: bucket,
        dataDir: directory,
        now: () => new Date(),
        randomBytes,
        configured: undefined,
      });
    const outcomes = await Promise.all([setUp(one), setUp(other)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["kept", "made"]);
    const made = outcomes.find((outcome) => outcome.kind === "made");
    expect(await readdir(directory)).toEqual(["admin.key"]);
    expect(await readFile(join(directory, "admin.key"), "utf8")).toBe(`${made?.key}\n`);
    expect((await stat(join(directory, "admin.key"))).mode & 0o777).toBe(0o600);
    for (const frontEnd of [one, other]) {
      await until("the front end accepts the admin key", () => frontEnd.accepts(made?.key ?? ""));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("keys survive a crash of the broker, and every front end sees a change made right after it", async () => {
  await using broker = await startBrokerWithBucket();
  await using one = await startFrontEnd(broker);
  await using other = await startFrontEnd(broker);
  const first = await createKey(one.bucket);
  const second = await createKey(one.bucket);
  await until(
    "the other front end accepts both",
    () => other.accepts(first.apiKey) && other.accepts(second.apiKey),
  );

  await killBroker(broker);
  expect(other.accepts(first.apiKey)).toBe(true);
  await until("the key is revoked", async () => (await revokeKey(one.bucket, first.id)).kind === "revoked");
  await until("the other front end refuses it", () => !other.accepts(first.apiKey));
  expect(other.accepts(second.apiKey)).toBe(true);

  await using fresh = await startFrontEnd(broker);
  expect(fresh.accepts(first.apiKey)).toBe(false);
  expect(fresh.accepts(second.apiKey)).toBe(true);
});

test("while the broker is away the last known keys stay valid, changes are refused at once, and the front end reports that it is stale", async () => {
  await using broker = await startBrokerWithBucket();
  await using frontEnd = await startFrontEnd(broker);
  const { id, apiKey } = await createKey(frontEnd.bucket);
  await broker.stop();

  await until("the loss is known", async () => {
    const startedMs = performance.now();
    const isRefused = (await revokeKey(frontEnd.bucket, id)).kind === "unavailable";
    return isRefused && performance.now() - startedMs < 100;
  });
  expect(frontEnd.accepts(apiKey)).toBe(true);
  frontEnd.passTime(KEY_STATE_AGE_MS_MAX + 1);
  expect(frontEnd.bucket.readiness().kind).toBe("stale");
});

test("a front end that was stale is ready again once the broker is back", async () => {
  await using broker = await startBrokerWithBucket();
  await using frontEnd = await startFrontEnd(broker);
  frontEnd.passTime(KEY_STATE_AGE_MS_MAX + 1);
  expect(frontEnd.bucket.readiness().kind).toBe("stale");
  await killBroker(broker);
  await until("the front end is ready", () => frontEnd.bucket.readiness().kind === "ready");
});

test("a front end that starts before the bucket can be read keeps trying, and then has every key", async () => {
  await using broker = await startTestBroker();
  let warned = 0;
  const logger: Logger = { ...silentLogger, warn: () => warned++ };
  const starting = startFrontEnd(broker, logger);
  await until("it has tried", () => warned > 0);
  await provision(broker);
  await using frontEnd = await starting;
  const bucket = await frontEnd.connection.nats.jetstream().views.kv(KEYS_BUCKET, { bindOnly: true });
  const ids = Array.from({ length: 500 }, (_, index) => String(index).padStart(12, "0"));
  await Promise.all(ids.map((id) => bucket.put(id, JSON.stringify(someRecord({ id })))));
  await using other = await startFrontEnd(broker);
  expect(other.bucket.list()).toHaveLength(ids.length);
  await until("the first one has them too", () => frontEnd.bucket.list().length === ids.length);
});

test("an invalid value in the bucket grants no access, hides no other key, and is logged", async () => {
  await using broker = await startBrokerWithBucket();
  await using writer = await startFrontEnd(broker);
  const { apiKey } = await createKey(writer.bucket);
  const stolen = someRecord();
  const bucket = await writer.connection.nats.jetstream().views.kv(KEYS_BUCKET, { bindOnly: true });
  await bucket.put("not-json", "{");
  await bucket.put("admin", JSON.stringify({ secret_hash: "short" }));
  await bucket.put("000000000000", JSON.stringify(stolen));
  await bucket.put("bytes", Uint8Array.of(0xff, 0xfe));
  await bucket.put("gone", "1");
  await bucket.delete("gone");

  const warned: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_message, fields) => warned.push(fields?.key_id ?? "") };
  await using frontEnd = await startFrontEnd(broker, logger);
  expect(frontEnd.accepts(apiKey)).toBe(true);
  expect(frontEnd.bucket.list()).toHaveLength(1);
  expect(frontEnd.bucket.admin()).toBeUndefined();
  expect(await frontEnd.bucket.fetch("000000000000")).toEqual({ kind: "absent" });
  expect(warned.sort()).toEqual(["000000000000", "admin", "bytes", "not-json"]);
});

test("a bucket that was removed and made anew is noticed, even if it has reached the same sequence as before", async () => {
  const mayRemove = (configuration: string) =>
    configuration.replace("$JS.API.STREAM.UPDATE.*", "$JS.API.STREAM.*.*");
  await using broker = await startConfiguredBroker(mayRemove);
  await using frontEnd = await startFrontEnd(broker);
  const admin = (secret_hash: string) => ({ secret_hash, created_at: "2026-11-24T22:00:00.000Z" });
  const [before, after] = [admin("a".repeat(43)), admin("b".repeat(43))];
  await frontEnd.bucket.createAdmin(before);
  const operator = await connectAs(broker, "provisioner");
  const removed = await operator.request("$JS.API.STREAM.DELETE.KV_KEYS");
  expect(removed.json()).toMatchObject({ success: true });
  const name = `KV_${KEYS_BUCKET}`;
  const settings = topology({ replicas: 1 }).find((stream) => stream.name === name)?.settings;
  const made = await operator.request(`$JS.API.STREAM.CREATE.${name}`, JSON.stringify({ name, ...settings }));
  expect(made.json()).not.toHaveProperty("error");
  await operator.close();
  const written = await frontEnd.connection.nats.request("$KV.KEYS.admin", JSON.stringify(after));
  expect(written.json()).toMatchObject({ seq: 1 });
  await until("the new admin key is known", () => frontEnd.bucket.admin()?.secret_hash === after.secret_hash);
  expect(frontEnd.bucket.lost.admin()).toEqual(before);
});
