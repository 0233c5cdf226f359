import { describe, expect, test } from "bun:test";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  headers as createHeaders,
  type Msg,
  type NatsConnection,
  nanos,
  type PublishOptions,
  type SubscriptionOptions,
} from "nats";
import type { HoldRecord, RetentionStore } from "../../src/access/retention/records.ts";
import { APPEND_BYTES_IN_FLIGHT_MAX, COMMIT_BYTES_MAX, LOG_FOLLOWED_BYTES_MAX } from "../../src/limits.ts";
import {
  type LogReader,
  LogUnavailableError,
  type OutgoingRecord,
  payloadText,
  type StoredMessage,
} from "../../src/log/event-log.ts";
import { createAppender } from "../../src/nats/appender.ts";
import { brokerFiles } from "../../src/nats/broker/broker-files.ts";
import { type BrokerConnection, connectToBroker } from "../../src/nats/connection.ts";
import { createLogReader } from "../../src/nats/reader.ts";
import { reconcileStreams } from "../../src/nats/reconcile.ts";
import { createRetentionBucket } from "../../src/nats/retention-bucket.ts";
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
  const { holds } = await store.read();
  return holds.map(({ record }) => record.id);
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
  await expect(cutOff).rejects.toThrow(LogUnavailableError);
  await until("the connection is back", () => log.connection.isConnected());
  late.resolve();
  expect(await idsOf(reader)).toEqual(ids);
});

describe("appending", () => {
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

  test("one tenant's records in flight leave room for other tenants, and each has a share", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    const append = (tenant: string, count: number, id: string) =>
      appender.append(
        Array.from({ length: count }, (_, index) => ({
          ...smallRecord(`${tenant}-${id}-${index}`),
          tenant,
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
    const payload = payloadText(JSON.stringify("x".repeat(250_000)));
    const large = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...smallRecord(`${prefix}${index}`), ...payload }));
    const half = Math.ceil(APPEND_BYTES_IN_FLIGHT_MAX / 2 / payload.bytes);
    const kindsOf = async (records: readonly OutgoingRecord[]) => [
      ...new Set((await appender.append(records)).map(({ kind }) => kind)),
    ];
    expect(await kindsOf(large("all", 2 * half))).toEqual(["refused"]);
    for (const prefix of ["a", "b"]) expect(await kindsOf(large(prefix, half))).toEqual(["appended"]);
    expect(Math.max(...commits) * payload.bytes).toBeLessThanOrEqual(COMMIT_BYTES_MAX);
  });

  test("appending stores exactly what it was given, in any script, alone and in a batch", async () => {
    await using log = await startTestLog();
    const texts = ["", "plain", "é", "日本語", "😀 \u0000 \u007f", "ÿ".repeat(5000)];
    const events = Array.from({ length: 5 }, (_, round) =>
      texts.map((text, index) => ({ id: `${round}-${index}`, event: JSON.stringify({ round, text }) })),
    ).flat();
    const [single, ...rest] = events.map(({ id, event }) => smallRecord(id, { event }));
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

  /** A subject that the service may publish to, and that nobody answers. */
  const UNHEARD = "$JS.API.CONSUMER.MSG.NEXT.KV_KEYS.nobody";

  test("a reader asks again while no server answers for the stream, as during a restart", async () => {
    await using log = await startTestLog();
    const { nats } = log.connection;
    const publish = nats.publish.bind(nats);
    let unheard = 3;
    nats.publish = (subject, ...rest) => {
      const isUnheard = subject === "$JS.API.DIRECT.GET.AUDIT" && unheard-- > 0;
      publish(isUnheard ? UNHEARD : subject, ...rest);
    };
    await appenderOn(log.connection).append([smallRecord("a"), smallRecord("b")]);
    const taken = await take(await createLogReader(log.connection), 1, 2);
    expect(taken.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(unheard).toBeLessThanOrEqual(0);
    unheard = Number.POSITIVE_INFINITY;
    const never = take(await createLogReader(log.connection), 1, 2);
    expect(await never.catch(String)).toContain("could not be followed: no answer");
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
    const large = payloadText(JSON.stringify("x".repeat(250_000)));
    const records = Array.from({ length: count }, (_, index) => ({ ...smallRecord(`id${index}`), ...large }));
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

  test("the end of a batch that arrives after its last message is not taken for the end of the next batch", async () => {
    await using log = await startTestLog();
    const all = 3000;
    const appender = appenderOn(log.connection);
    for (let first = 0; first < all; first += 1000)
      await appender.append(Array.from({ length: 1000 }, (_, index) => smallRecord(`id${first + index}`)));
    using proxy = await startProxy(log.broker.port);
    const url = log.broker.url("service").replace(`:${log.broker.port}`, `:${proxy.port}`);
    await using connection = await connectToBroker({ url, name: "test", logger: silentLogger });
    const reader = await createLogReader(connection);
    proxy.cutBefore("NATS/1.0 204 EOB");
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
          const sequence = Number(message.headers?.get("Nats-Sequence"));
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

  /** A reader whose questions for batches are answered by `answer` as long as that gives something. */
  const readerBehind = async (
    connection: BrokerConnection,
    answer: (from: number) => readonly Msg[] | undefined,
  ): Promise<LogReader> => {
    const { nats } = connection;
    let hear: SubscriptionOptions["callback"];
    const replaced: NatsConnection = Object.create(nats, {
      subscribe: {
        value: (subject: string, options: SubscriptionOptions) => {
          hear = options.callback;
          return nats.subscribe(subject, options);
        },
      },
      publish: {
        value: (subject: string, payload: string, options: PublishOptions) => {
          const answers = subject === "$JS.API.DIRECT.GET.AUDIT" && answer(JSON.parse(payload).seq);
          if (!answers) return nats.publish(subject, payload, options);
          for (const each of answers) hear?.(null, Object.assign(each, { subject: options.reply }));
        },
      },
    });
    return createLogReader({ ...connection, nats: replaced });
  };

  /** What a server sends for a batch: a message with its headers, or the end of the batch without data. */
  const sent = (head: string, data: string): Msg => {
    const bytes = Buffer.from(`NATS/1.0${head}\r\n\r\n${data}`);
    const code = Number(head.slice(0, 4)) || 0;
    const headers = Object.create(createHeaders(), { code: { value: code } });
    const message = { data: bytes.subarray(bytes.length - data.length), headers };
    return Object.assign(Object.create(message), message, {
      size(this: Msg) {
        return this.subject.length + bytes.length;
      },
    });
  };

  test("at a replica that stays behind a reader goes on with what the leader has, and misses and repeats nothing", async () => {
    await using log = await startTestLog();
    const appender = appenderOn(log.connection);
    let isBehind = false;
    const reader = await readerBehind(log.connection, () =>
      isBehind ? [sent(" 404 Message Not Found", "")] : undefined,
    );
    const stop = new AbortController();
    const seen: number[] = [];
    const reading = (async () => {
      for await (const messages of reader.follow({ from: 1, messagesMax: 100, signal: stop.signal }))
        seen.push(...messages.map(({ sequence }) => sequence));
    })();
    await appender.append(["a", "b", "c"].map((id) => smallRecord(id)));
    await until("what is there is read", () => seen.length === 3);
    isBehind = true;
    await appender.append(Array.from({ length: 200 }, (_, index) => smallRecord(`later${index}`)));
    await until("it reads on", () => seen.length === 203);
    isBehind = false;
    await appender.append([smallRecord("last")]);
    await until("it follows as before", () => seen.length === 204);
    expect(seen).toEqual(Array.from({ length: 204 }, (_, index) => index + 1));
    stop.abort();
    await reading;
  });

  test("a message that only a replica lacks is no hole: the reader takes the rest from elsewhere", async () => {
    await using log = await startTestLog();
    await appenderOn(log.connection).append(["a", "b", "c"].map((id) => smallRecord(id)));
    const head = (sequence: number, before: number) =>
      `\r\nNats-Stream: AUDIT\r\nNats-Subject: audit.acme.a.incident.detected\r\nNats-Sequence: ${sequence}\r\nNats-Last-Sequence: ${before}`;
    const lacking = [sent(head(1, 0), "first"), sent(head(3, 1), "third"), sent(" 204 EOB", "")];
    const reader = await readerBehind(log.connection, (from) => (from === 1 ? lacking : undefined));
    const taken = await take(reader, 1, 3);
    expect(taken.map(({ sequence, payload }) => [sequence, new TextDecoder().decode(payload)])).toEqual([
      [1, "first"],
      [2, '{"id":"b","event":{}}'],
      [3, '{"id":"c","event":{}}'],
    ]);
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
      made: ["AUDIT", "CHECKPOINTS", "COUNTS", "KV_KEYS", "OBLIGATIONS", "RATES", "KV_RETENTION", "SANDBOX"],
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
    "if the broker lost the existing stream %s, it is not created anew, and its files stay",
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
