import { describe, expect, test } from "bun:test";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type NatsConnection, nanos } from "nats";
import { createAppender } from "../../src/jetstream/appender.ts";
import { brokerFiles } from "../../src/jetstream/broker/broker-files.ts";
import { connectToBroker } from "../../src/jetstream/connection.ts";
import { createLogReader } from "../../src/jetstream/reader.ts";
import { reconcileStreams } from "../../src/jetstream/reconcile.ts";
import { createRetentionBucket } from "../../src/jetstream/retention-bucket.ts";
import { APPEND_BYTES_IN_FLIGHT_MAX, COMMIT_BYTES_MAX, LOG_FOLLOWED_BYTES_MAX } from "../../src/limits.ts";
import {
  type LogReader,
  LogUnavailableError,
  type OutgoingRecord,
  type StoredMessage,
} from "../../src/log/event-log.ts";
import type { HoldRecord } from "../../src/retention/records.ts";
import type { RetentionStore } from "../../src/retention/retention-store.ts";
import { uuidV7 } from "../../src/runtime/uuid.ts";
import { auditSubject, encodeToken, parseAuditSubject } from "../../streams/subjects.ts";
import { topology } from "../../streams/topology.ts";
import { silentLogger, startTestBroker } from "../support/broker.ts";
import { appenderOn, connectAs, provision, smallRecord, startTestLog, type TestLog } from "../support/log.ts";
import { standStill } from "../support/process.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

/** As when an operator restores a copy while the services wait for their broker. Here the copy is empty. */
const putAnotherInItsPlace = async ({ broker, connection }: TestLog): Promise<void> => {
  await standStill(broker.pid);
  await rm(brokerFiles(broker.directory).store, { recursive: true });
  process.kill(broker.pid, "SIGKILL");
  await until("the connection is known to be lost", () => !connection.isConnected());
  await until("there is another broker", () => connection.isConnected());
  await provision(broker);
};

const hold = (id: string): HoldRecord => ({
  id,
  tenant: "acme",
  asset_id: "a",
  reason: "r",
  created_at: "2026-11-20T10:00:00.000Z",
  created_by: "admin",
});

const idsOf = async (store: RetentionStore) => {
  const read = await store.read();
  return read.kind === "read" ? read.stored.holds.map(({ record }) => record.id) : read;
};

test("holds come from the log that replaced another one, even if it has more of them by then", async () => {
  await using log = await startTestLog();
  const bucket = () => createRetentionBucket({ connection: log.connection, logger: silentLogger });
  const front = bucket();
  const [before, ...since] = [uuidV7(), uuidV7(), uuidV7()];
  await front.createHold(hold(before));
  expect(await idsOf(front)).toEqual([before]);
  await putAnotherInItsPlace(log);
  for (const id of since) await bucket().createHold(hold(id));
  expect(await idsOf(front)).toEqual(since);
});

test("no hold is missed if the answer to a question from before a lost connection arrives after it", async () => {
  await using log = await startTestLog();
  const { nats } = log.connection;
  const ids = [uuidV7(), uuidV7()];
  const writer = createRetentionBucket({ connection: log.connection, logger: silentLogger });
  for (const id of ids) await writer.createHold(hold(id));

  const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let answers = 0;
  // The answer to the question for the second hold, after those for the newest and the first.
  const request = async (...question: Parameters<NatsConnection["request"]>) => {
    const answer = await nats.request(...question);
    if (++answers !== 3) return answer;
    asked.resolve();
    await late.promise;
    return answer;
  };
  const slow: NatsConnection = Object.create(nats, { request: { value: request } });
  const reader = createRetentionBucket({
    connection: { ...log.connection, nats: slow },
    logger: silentLogger,
  });
  const cutOff = reader.read();
  await asked.promise;
  await nats.reconnect();
  expect((await cutOff).kind).toBe("unavailable");
  await until("the connection is back", () => log.connection.isConnected());
  late.resolve();
  expect(await idsOf(reader)).toEqual(ids);
});

describe("appending", () => {
  test("each record gets its own sequence, and a repeated record gets the sequence of the first", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const records = Array.from({ length: 1000 }, (_, index) => smallRecord(`id${index}`));
    const first = await appender.append(records);
    expect(first).toEqual(records.map((_, index) => ({ kind: "appended", sequence: index + 1 })));
    const [again, fresh] = await appender.append([smallRecord("id7"), smallRecord("new")]);
    expect([again, fresh]).toEqual([
      { kind: "duplicate", sequence: 8 },
      { kind: "appended", sequence: 1001 },
    ]);
  });

  test("while the broker is away, appending says at once that nothing is promised, and it works again when the broker is back", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    await appender.append([smallRecord("before")]);
    process.kill(log.broker.pid ?? 0, "SIGKILL");
    await until("the connection is known to be lost", () => !log.connection.isConnected());
    const [refused] = await appender.append([smallRecord("during")]);
    expect(refused).toMatchObject({ kind: "refused", reason: "unavailable" });
    const outcome = await until("an append succeeds again", async () => {
      const [retried] = await appender.append([smallRecord("during")]);
      return retried?.kind === "refused" || retried?.kind === "unknown" ? undefined : retried;
    });
    expect(outcome).toEqual({ kind: "appended", sequence: 2 });
  });

  test("records that a replacement log does not hold are appended, and are not treated as repeats", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const records = ["a", "b", "c", "d"].map((id) => smallRecord(id));
    await appender.append([smallRecord("first"), ...records]);
    const [again] = await appender.append(records);
    expect(again).toEqual({ kind: "duplicate", sequence: 2 });
    await putAnotherInItsPlace(log);
    const outcomes = await appender.append(records);
    expect(outcomes).toEqual(records.map((_, index) => ({ kind: "appended", sequence: index + 1 })));
  });

  test("repeats of one id within a commit get the answer of the first, and wait for no answer of their own", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const copies = (id: string, count: number) => Array.from({ length: count }, () => smallRecord(id));
    expect(await appender.append(copies("one", 5))).toEqual([
      { kind: "appended", sequence: 1 },
      { kind: "duplicate", sequence: 1 },
      { kind: "duplicate", sequence: 1 },
      { kind: "duplicate", sequence: 1 },
      { kind: "duplicate", sequence: 1 },
    ]);
    await standStill(log.broker.pid);
    const outcomes = appender.append(copies("other", 7));
    process.kill(log.broker.pid, "SIGKILL");
    expect(new Set((await outcomes).map(({ kind }) => kind))).toEqual(new Set(["unknown"]));
  });

  test("a request beyond the limit in flight is refused as a whole, without waiting", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const thousand = (prefix: string) =>
      Array.from({ length: 1000 }, (_, index) => smallRecord(`${prefix}${index}`));
    const batches = await Promise.all(
      ["a", "b", "c", "d", "e"].map((prefix) => appender.append(thousand(prefix))),
    );
    const kinds = batches.map((outcomes) => [...new Set(outcomes.map(({ kind }) => kind))]);
    expect(kinds).toEqual([["appended"], ["appended"], ["appended"], ["appended"], ["refused"]]);
  });

  test("one tenant's records in flight leave room for other tenants, and each has a share", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const append = (tenant: string, count: number, id: string) =>
      appender.append(
        Array.from({ length: count }, (_, index) => ({
          ...smallRecord(`${tenant}-${id}-${index}`),
          subject: auditSubject(tenant, "a", "incident.detected"),
        })),
      );
    const asked = [
      ...["a", "b", "c"].map((id) => append("loud", 1000, id)),
      append("small", 500, "a"),
      append("loud", 1000, "d"),
      ...["a", "b", "c"].map((id) => append("other", 1000, id)),
      append("quiet", 1, "a"),
      append("loud", 1, "e"),
    ];
    const kinds = (await Promise.all(asked)).map((outcomes) => [
      ...new Set(outcomes.map(({ kind }) => kind)),
    ]);
    expect(kinds.map(String)).toEqual([
      ...["appended", "appended", "appended", "appended", "appended"],
      ...["appended", "appended", "refused"],
      ...["appended", "refused"],
    ]);
    expect(await append("loud", 1, "f")).toMatchObject([{ kind: "appended" }]);
  });

  test("large records go out in commits of bounded bytes, are refused as a whole beyond the limit in flight, and free room when answered", async () => {
    await using log = await startTestLog();
    const commits: number[] = [];
    const appender = createAppender({
      connection: log.connection,
      logger: silentLogger,
      elapsedMs: () => performance.now(),
      onOutcomes: () => {},
      onCommit: (records) => void commits.push(records),
    });
    const source = Buffer.from(JSON.stringify("x".repeat(250_000)));
    const large = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index): OutgoingRecord => {
        return { ...smallRecord(`${prefix}${index}`), event: { source, from: 0, to: source.length } };
      });
    const half = Math.ceil(APPEND_BYTES_IN_FLIGHT_MAX / 2 / source.length);
    const kindsOf = async (records: readonly OutgoingRecord[]) => [
      ...new Set((await appender.append(records)).map(({ kind }) => kind)),
    ];
    expect(await kindsOf(large("all", 2 * half))).toEqual(["refused"]);
    for (const prefix of ["a", "b"]) expect(await kindsOf(large(prefix, half))).toEqual(["appended"]);
    expect(Math.max(...commits) * source.length).toBeLessThanOrEqual(COMMIT_BYTES_MAX);
  });

  test("appending stores exactly what it was given, in any script, alone and in a batch", async () => {
    await using log = await startTestLog();
    const texts = ["", "plain", "é", "日本語", "😀 \u0000 \u007f", "ÿ".repeat(5000)];
    const events = Array.from({ length: 5 }, (_, round) =>
      texts.map((text, index) => ({ id: `${round}-${index}`, event: JSON.stringify({ round, text }) })),
    ).flat();
    const [single, ...rest] = events.map(({ id, event }): OutgoingRecord => {
      const record = smallRecord(id, { event });
      // As in the body of a batch: the event has others on both sides.
      const { length } = record.event.source;
      const source = Buffer.concat([Buffer.from("é,"), record.event.source, Buffer.from(",ü")]);
      return { ...record, event: { source, from: 3, to: 3 + length } };
    });
    const appender = appenderOn(log.connection);
    if (!single) throw new Error("there are records");
    await appender.append([single]);
    await appender.append(rest);
    const reader = await createLogReader(log.connection);
    for (const [index, { id, event }] of events.entries()) {
      const stored = new TextDecoder().decode((await reader.read(index + 1))?.payload);
      expect(stored).toBe(`{"id":"${id}","event":${event}}`);
    }
  });

  test("in a batch with some known events each event gets its own answer, and the new ones are stored once", async () => {
    await using log = await startTestLog();
    const [front, other] = [appenderOn(log.connection), appenderOn(log.connection)];
    await front.append(Array.from({ length: 50 }, (_, index) => smallRecord(`id${index * 2}`)));
    const mixed = Array.from({ length: 100 }, (_, index) => smallRecord(`id${index}`));
    // The other front end does not remember what this one has sent, so the broker tells it of the duplicates.
    for (const appender of [other, front]) {
      const outcomes = await appender.append(mixed);
      const known = outcomes.filter(({ kind }) => kind === "duplicate");
      expect(known).toHaveLength(appender === other ? 50 : 100);
      expect(outcomes[4]).toEqual({ kind: "duplicate", sequence: 3 });
    }
    expect(await (await createLogReader(log.connection)).lastSequence()).toBe(100);
  });

  test("when two front ends send the same event at once, it is stored once, and both get the same sequence", async () => {
    await using log = await startTestLog();
    const appenders = [appenderOn(log.connection), appenderOn(log.connection), appenderOn(log.connection)];
    for (let round = 0; round < 20; round++) {
      const records = Array.from({ length: round * 3 + 1 }, (_, index) => smallRecord(`r${round}-${index}`));
      const answers = await Promise.all(appenders.map((appender) => appender.append(records)));
      for (const index of records.keys()) {
        const outcomes = answers.map((outcomes) => outcomes[index]);
        expect(outcomes.filter((outcome) => outcome?.kind === "appended")).toHaveLength(1);
        expect(
          new Set(outcomes.map((outcome) => outcome && "sequence" in outcome && outcome.sequence)).size,
        ).toBe(1);
      }
    }
  });

  test("the id of a repeated event is forgotten when the broker forgets it, not ten minutes after the repeat", async () => {
    await using log = await startTestLog();
    let minutes = 0;
    const front = appenderOn(log.connection, () => performance.now() + minutes * 60_000);
    const twice = Array.from({ length: 5 }, (_, index) => smallRecord(`twice${index}`));
    expect(await front.append([smallRecord("id")])).toEqual([{ kind: "appended", sequence: 1 }]);
    minutes = 8;
    expect(await front.append([smallRecord("id")])).toEqual([{ kind: "duplicate", sequence: 1 }]);
    // From the second one on, records are looked up among those stored lately.
    await front.append(twice);
    await front.append(twice);

    const provisioner = await connectAs(log.broker, "provisioner");
    const manager = await provisioner.jetstreamManager({ checkAPI: false });
    const other = appenderOn(log.connection);
    let windowMs = 100;
    await until("the broker has forgotten what was stored before", async () => {
      // Once is not always enough for the broker to look at its ids before their first ten minutes are over (measured on 2.15.1).
      await manager.streams.update("AUDIT", { duplicate_window: nanos(windowMs++) });
      const [probe] = await other.append([smallRecord("twice4")]);
      return probe?.kind === "appended";
    });
    await provisioner.close();
    minutes = 15;
    const fresh = Array.from({ length: 4 }, (_, index) => smallRecord(`fresh${index}`));
    const [outcome] = await front.append([smallRecord("id"), ...fresh]);
    expect(outcome?.kind).toBe("appended");
  });

  test("an asset name of 256 four-byte characters fits into a subject", async () => {
    await using log = await startTestLog();
    const assetId = "😀".repeat(256);
    const [outcome] = await appenderOn(log.connection).append([smallRecord("long", { assetId })]);
    expect(outcome).toEqual({ kind: "appended", sequence: 1 });
    const message = await (await createLogReader(log.connection)).read(1);
    expect(parseAuditSubject(message?.subject ?? "")?.assetId).toBe(assetId);
  });
});

describe("reading", () => {
  const take = async (reader: LogReader, from: number, count: number): Promise<readonly StoredMessage[]> => {
    const taken: StoredMessage[] = [];
    const stop = new AbortController();
    for await (const group of reader.follow({ from, messagesMax: 100, signal: stop.signal })) {
      expect(group.length).toBeLessThanOrEqual(100);
      taken.push(...group);
      if (taken.length >= count) stop.abort();
    }
    return taken;
  };

  test("a reader follows the log from any sequence, in order and without a hole, and receives what comes later", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const reader = await createLogReader(log.connection);
    await appender.append(Array.from({ length: 250 }, (_, index) => smallRecord(`id${index}`)));
    expect(await reader.lastSequence()).toBe(250);
    const taking = take(reader, 101, 151);
    await appender.append([smallRecord("late")]);
    const taken = await taking;
    expect(taken.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 151 }, (_, index) => 101 + index),
    );
    expect(new TextDecoder().decode(taken.at(-1)?.payload)).toBe('{"id":"late","event":{}}');
    expect(await reader.read(7)).toEqual({
      sequence: 7,
      subject: "audit.acme.a.incident.detected",
      payload: new TextEncoder().encode('{"id":"id6","event":{}}'),
    });
    expect(await reader.read(99_999)).toBeUndefined();
  });

  test("a reader asks again for a consumer that the server does not know yet, such as one on another server of a cluster", async () => {
    await using log = await startTestLog();
    const { nats } = log.connection;
    const publish = nats.publish.bind(nats);
    let unheard = 3;
    nats.publish = (subject, ...rest) => {
      const isPull = subject.startsWith("$JS.API.CONSUMER.MSG.NEXT.");
      publish(isPull && unheard-- > 0 ? "$JS.API.CONSUMER.MSG.NEXT.AUDIT.nobody" : subject, ...rest);
    };
    await appenderOn(log.connection).append([smallRecord("a"), smallRecord("b")]);
    const taken = await take(await createLogReader(log.connection), 1, 2);
    expect(taken.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(unheard).toBeLessThanOrEqual(0);
    unheard = Number.POSITIVE_INFINITY;
    const never = take(await createLogReader(log.connection), 1, 2);
    expect(await never.catch(String)).toContain("could not be followed: no answer");
  });

  test("if the connection closes before the reader asks again for such a consumer, following ends with an error that says so", async () => {
    await using log = await startTestLog();
    const { nats } = log.connection;
    const publish = nats.publish.bind(nats);
    nats.publish = (subject, ...rest) =>
      publish(subject.replace(/^(\$JS\.API\.CONSUMER\.MSG\.NEXT\.AUDIT\.).*/, "$1nobody"), ...rest);
    const subscribe = nats.subscribe.bind(nats);
    nats.subscribe = (subject, options) =>
      subscribe(subject, {
        ...options,
        callback: (...answer) => {
          options?.callback?.(...answer);
          // When the reader has its answer and waits before it asks again.
          setImmediate(() => void nats.close());
        },
      });
    const following = take(await createLogReader(log.connection), 1, 1);
    expect(await following.catch((error: unknown) => error)).toBeInstanceOf(LogUnavailableError);
  });

  test("a reader receives stored records in whole groups, and a lone record at once", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const reader = await createLogReader(log.connection);
    for (const thousand of ["a", "b", "c", "d"])
      await appender.append(Array.from({ length: 1000 }, (_, index) => smallRecord(`${thousand}${index}`)));
    const stop = new AbortController();
    const groups: number[] = [];
    for await (const group of reader.follow({ from: 1, messagesMax: 1800, signal: stop.signal })) {
      groups.push(group.length);
      if (groups.length === 3) await appender.append([smallRecord("lone")]);
      if (groups.length === 4) stop.abort();
    }
    expect(groups).toEqual([1800, 1800, 400, 1]);
  });

  test("a reader with a bound of bytes never receives more at once, and misses nothing", async () => {
    await using log = await startTestLog();
    const count = 20;
    const source = Buffer.from(JSON.stringify("x".repeat(250_000)));
    const records = Array.from({ length: count }, (_, index) => ({
      ...smallRecord(`id${index}`),
      event: { source, from: 0, to: source.length },
    }));
    await appenderOn(log.connection).append(records);
    const reader = await createLogReader(log.connection);
    const stop = new AbortController();
    const groups: StoredMessage[][] = [];
    const bounds = { messagesMax: 1000, bytesMax: LOG_FOLLOWED_BYTES_MAX, signal: stop.signal };
    for await (const group of reader.follow({ from: 1, ...bounds })) {
      groups.push([...group]);
      if (group.at(-1)?.sequence === count) stop.abort();
    }
    expect(groups.flat().map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1));
    for (const group of groups) {
      const bytes = group.reduce((sum, { payload }) => sum + payload.length, 0);
      expect(bytes).toBeLessThanOrEqual(LOG_FOLLOWED_BYTES_MAX);
    }
  });

  test("after a pull that is filled to the last byte of its bound comes the next pull", async () => {
    await using log = await startTestLog();
    const count = 60;
    await appenderOn(log.connection).append(
      Array.from({ length: count }, (_, index) => smallRecord(`id${index}`)),
    );
    const reader = await createLogReader(log.connection);
    const groupsOf = async (bytesMax: number): Promise<readonly number[]> => {
      const stop = new AbortController();
      const groups: number[] = [];
      for await (const group of reader.follow({ from: 1, messagesMax: 100, bytesMax, signal: stop.signal })) {
        groups.push(group.length);
        if (group.at(-1)?.sequence === count) stop.abort();
      }
      return groups;
    };
    // One byte more each time, until three messages fit that did not fit before.
    let bytesMax = 500;
    while ((await groupsOf(bytesMax))[0] !== 3) bytesMax++;
    expect((await groupsOf(bytesMax)).reduce((sum, group) => sum + group, 0)).toBe(count);
  });

  test("the end of a pull that arrives after its last message is not taken for the end of the next pull", async () => {
    await using log = await startTestLog();
    const all = 3000;
    const appender = appenderOn(log.connection);
    for (let first = 0; first < all; first += 1000)
      await appender.append(Array.from({ length: 1000 }, (_, index) => smallRecord(`id${first + index}`)));
    using proxy = await startProxy(log.broker.port);
    const url = log.broker.url("service").replace(`:${log.broker.port}`, `:${proxy.port}`);
    await using connection = await connectToBroker({ url, name: "test", logger: silentLogger });
    const reader = await createLogReader(connection);
    proxy.cutBefore("NATS/1.0 409 Batch Completed");
    const stop = new AbortController();
    const groups: number[] = [];
    for await (const group of reader.follow({ from: 1, messagesMax: 100, signal: stop.signal })) {
      groups.push(group.length);
      // From the second one on: if more than one group is on its way, they come together.
      if (groups.length > 1) await reader.lastSequence();
      if (group.length > 100 || group.at(-1)?.sequence === all) stop.abort();
    }
    expect(groups).toEqual(Array.from({ length: all / 100 }, () => 100));
  });

  test("messages that are lost between two brokers are read again, and leave no hole in the log", async () => {
    await using log = await startTestLog();
    const count = 250;
    await appenderOn(log.connection).append(
      Array.from({ length: count }, (_, index) => smallRecord(`id${index}`)),
    );
    const { nats } = log.connection;
    // Each is lost the first time only: one within a group, the first of a group, the last of a group, and two in a row.
    const lost = new Set([7, 101, 160, 200, 201]);
    const subscribe = (...[subject, options]: Parameters<NatsConnection["subscribe"]>) =>
      nats.subscribe(subject, {
        ...options,
        callback: (error, message) => {
          const sequence = Number(/^\$JS\.ACK\.(?:[^.]+\.){3}(\d+)\./.exec(message.reply ?? "")?.[1]);
          if (!lost.delete(sequence)) options?.callback?.(error, message);
        },
      });
    const lossy: NatsConnection = Object.create(nats, { subscribe: { value: subscribe } });
    const reader = await createLogReader({ ...log.connection, nats: lossy });
    const taken = await take(reader, 1, count);
    expect(taken.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: count }, (_, index) => 1 + index),
    );
    expect(lost.size).toBe(0);
  });

  /** Does to every consumer of the log what your own service may do; returns their names. */
  const changeConsumers = async ({ broker }: TestLog, changes: object): Promise<readonly string[]> => {
    const stranger = await connectAs(broker, "consumer");
    const { consumers } = await stranger.jetstreamManager({ checkAPI: false });
    const followed = await consumers.list("AUDIT").next();
    for (const { name, config } of followed) {
      const body = JSON.stringify({ stream_name: "AUDIT", config: { ...config, ...changes } });
      await stranger.request(`$JS.API.CONSUMER.CREATE.AUDIT.${name}`, body);
      expect((await consumers.info("AUDIT", name)).config).toMatchObject(changes);
    }
    await stranger.close();
    return followed.map(({ name }) => name);
  };

  /** The records of the log from its first on, two at a time; ends when following ends. */
  const follow = (reader: LogReader) => {
    const stop = new AbortController();
    const texts: string[] = [];
    const ended = (async () => {
      for await (const group of reader.follow({ from: 1, messagesMax: 2, signal: stop.signal }))
        texts.push(...group.map(({ payload }) => new TextDecoder().decode(payload)));
    })().catch((error: unknown) => error);
    return { texts, ended, stop: () => stop.abort() };
  };

  test("a reader leaves a consumer that others set to omit payloads, and takes no record for an empty one", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    await appender.append([smallRecord("a")]);
    const reader = await createLogReader(log.connection);
    const { texts, ended } = follow(reader);
    await until("it follows", () => texts.length === 1);
    await changeConsumers(log, { headers_only: true });

    await appender.append([smallRecord("b")]);
    const outcome = await ended;
    expect(outcome).toBeInstanceOf(LogUnavailableError);
    expect(String(outcome)).toContain("somebody has changed its consumer");
    expect(texts).toEqual(['{"id":"a","event":{}}']);
    // A record that is stored without a payload is returned unchanged.
    await log.connection.nats.request("audit.acme.a.incident.detected");
    const stored = await take(reader, 2, 2);
    expect(stored.map(({ payload }) => new TextDecoder().decode(payload))).toEqual([
      '{"id":"b","event":{}}',
      "",
    ]);
  });

  test("a reader leaves a consumer that refuses pulls because others gave it bounds, and does not ask it for ever", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    await appender.append([smallRecord("a"), smallRecord("b")]);
    const { texts, ended, stop } = follow(await createLogReader(log.connection));
    await until("it follows", () => texts.length === 2);
    const [refusing = ""] = await changeConsumers(log, { max_batch: 1 });
    // The waiting pull takes these.
    await appender.append([smallRecord("c"), smallRecord("d")]);
    const { consumers } = await log.connection.nats.jetstreamManager({ checkAPI: false });
    await until("there is another consumer", async () => {
      const names = (await consumers.list("AUDIT").next()).map(({ name }) => name);
      return names.length === 1 && !names.includes(refusing);
    });
    await appender.append([smallRecord("e")]);
    await until("it reads on", () => texts.length === 5);
    stop();
    await ended;
  });

  test("when every consumer refuses to be pulled because of the broker's own limits, following ends with an error that names the limit", async () => {
    await using log = await startTestLog();
    await appenderOn(log.connection).append([smallRecord("a")]);
    const { nats } = log.connection;
    const request = nats.request.bind(nats);
    let made = 0;
    nats.request = (subject, payload, options) => {
      if (!subject.startsWith("$JS.API.CONSUMER.CREATE.AUDIT")) return request(subject, payload, options);
      made++;
      const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
      const { config, ...asked } = JSON.parse(text);
      return request(subject, JSON.stringify({ ...asked, config: { ...config, max_batch: 1 } }), options);
    };
    const { texts, ended } = follow(await createLogReader(log.connection));
    const outcome = await ended;
    expect(outcome).toBeInstanceOf(LogUnavailableError);
    expect(String(outcome)).toContain("max_request_batch");
    expect({ texts, made }).toEqual({ texts: [], made: 1 });
  });

  test("when the broker is lost, following ends with an error that says so", async () => {
    await using log = await startTestLog();
    const reader = await createLogReader(log.connection);
    const following = take(reader, 1, 1);
    await appenderOn(log.connection).append([smallRecord("first")]);
    await following;
    const waiting = take(reader, 2, 1);
    const outcome = waiting.then(
      () => "ended",
      (error: unknown) => error,
    );
    await until("the reader has a consumer", async () => {
      const provisioner = await connectAs(log.broker, "provisioner");
      const { state } = await (await provisioner.jetstreamManager({ checkAPI: false })).streams.info("AUDIT");
      await provisioner.close();
      return state.consumer_count > 0;
    });
    process.kill(log.broker.pid ?? 0, "SIGKILL");
    expect(await outcome).toBeInstanceOf(LogUnavailableError);
  });
});

describe("streams", () => {
  const reconcile = async (
    broker: Awaited<ReturnType<typeof startTestBroker>>,
    definitions = topology({ replicas: 1 }),
  ) => {
    const provisioner = await connectAs(broker, "provisioner");
    try {
      return await reconcileStreams({ provisioner, definitions, logger: silentLogger });
    } finally {
      await provisioner.close();
    }
  };

  test("streams are made once, then left alone", async () => {
    await using broker = await startTestBroker();
    expect(await reconcile(broker)).toEqual({
      kind: "agreed",
      made: [
        "AUDIT",
        "CHECKPOINTS",
        "COUNTS",
        "KV_KEYS",
        "OBLIGATIONS",
        "RATES",
        "KV_RETENTION",
        "SANDBOX",
        "SANDBOX_CLIENTS",
      ],
      updated: [],
    });
    expect(await reconcile(broker)).toEqual({ kind: "agreed", made: [], updated: [] });
  });

  test("when several processes start at once, one makes the streams and the others find them", async () => {
    await using broker = await startTestBroker();
    const results = await Promise.all(Array.from({ length: 5 }, () => reconcile(broker)));
    expect(results.map(({ kind }) => kind)).toEqual(results.map(() => "agreed"));
  });

  test("a changed setting that loses nothing is updated; one that could lose events stops with the difference shown", async () => {
    await using broker = await startTestBroker();
    const definitions = topology({ replicas: 1 });
    const earlier = definitions.map(({ settings: { republish: _, ...settings }, ...definition }) => ({
      ...definition,
      settings,
    }));
    await reconcile(broker, earlier);
    expect(await reconcile(broker)).toMatchObject({ updated: ["CHECKPOINTS", "OBLIGATIONS"] });
    const change = (settings: object) =>
      definitions.map((definition) =>
        definition.name === "AUDIT"
          ? { ...definition, settings: { ...definition.settings, ...settings } }
          : definition,
      );
    expect(await reconcile(broker, change({ compression: "none" }))).toMatchObject({ updated: ["AUDIT"] });
    expect(await reconcile(broker, change({ max_age: 1_000_000_000 }))).toEqual({
      kind: "refused",
      differences: [{ stream: "AUDIT", setting: "max_age", wanted: "1000000000", found: "0" }],
    });
  });

  test("a stream of a newer version is made beside the existing ones", async () => {
    await using broker = await startTestBroker();
    const all = topology({ replicas: 1 });
    await reconcile(
      broker,
      all.filter(({ name }) => name !== "OBLIGATIONS"),
    );
    expect(await reconcile(broker, all)).toEqual({ kind: "agreed", made: ["OBLIGATIONS"], updated: [] });
  });

  test.each(["AUDIT", "COUNTS"])(
    "if the broker lost the existing stream %s, it is not made again, and its files stay",
    async (name) => {
      await using broker = await startTestBroker();
      await reconcile(broker);
      const files = join(broker.directory, "store/jetstream/PROOFTRAIL/streams", name);
      await writeFile(join(files, "meta.sum"), "not its sum");
      const { pid } = broker;
      process.kill(pid ?? 0, "SIGKILL");
      await until("another server runs", () => broker.pid !== pid);
      const found = await until("it answers", () => reconcile(broker).catch(() => undefined));
      expect(found).toEqual({ kind: "lost", streams: [name] });
      expect(await readdir(files)).toEqual(expect.arrayContaining(["meta.inf", "msgs"]));
    },
  );

  test("the running service can neither change nor empty the log", async () => {
    await using log = await startTestLog();
    await appenderOn(log.connection).append([smallRecord("kept")]);
    const manager = await log.connection.nats.jetstreamManager({ checkAPI: false, timeout: 500 });
    const attempts = [
      manager.streams.update("AUDIT", { max_age: 1_000_000_000 }),
      manager.streams.delete("AUDIT"),
      manager.streams.purge("AUDIT"),
      manager.streams.deleteMessage("AUDIT", 1),
    ];
    for (const attempt of await Promise.allSettled(attempts)) expect(attempt.status).toBe("rejected");
    expect((await manager.streams.info("AUDIT")).state).toMatchObject({
      messages: 1,
      first_seq: 1,
      last_seq: 1,
    });
  });
});

test("a subject has five tokens, whatever the asset's name is", () => {
  for (const assetId of ["a.b", "*", ">", " ", "%", "ü/ö", "a%2Eb", "\u0000"]) {
    const subject = auditSubject("acme", assetId, "objection");
    expect(subject.split(".")).toEqual(["audit", "acme", encodeToken(assetId), "legacy", "objection"]);
    expect(subject).toMatch(/^[A-Za-z0-9_.%-]+$/);
    expect(parseAuditSubject(subject)).toEqual({
      tenant: "acme",
      assetId,
      group: "legacy",
      name: "objection",
    });
  }
});
