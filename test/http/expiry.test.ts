/** Retention as a client sees it, compared with the log: expired events are gone from every read, and not one byte of the log changes. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { CASE_FACTS_MAX } from "../../src/limits.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { connectToBroker } from "../../src/nats/connection.ts";
import { createLogReader } from "../../src/nats/reader.ts";
import { createRetentionBucket } from "../../src/nats/retention-bucket.ts";
import { casesProjection } from "../../src/views/cases/evolve.ts";
import { createExpiryWorker } from "../../src/views/kit/expiry.ts";
import { createSqliteViews } from "../../src/views/store/sqlite.ts";
import { settingsFor, silentLogger, startTestBroker } from "../support/broker.ts";
import { evidence, unpack, verify } from "../support/evidence-bundle.ts";
import { event, fact, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** A projector as in another process, on the same broker and file, with its own clock. */
const startFuture = async (brokerUrl: string, dataDir: string, now: Date) => {
  const connection = await connectToBroker({ url: brokerUrl, name: "future", logger: silentLogger });
  const log = await createLogReader(connection);
  const views = createSqliteViews({ path: join(dataDir, "views.sqlite") });
  /** Each call uses a freshly started one, for which no hour has passed since its last check. */
  const startWorker = () =>
    createExpiryWorker({
      views,
      log,
      retention: createRetentionBucket({ connection, logger: silentLogger }),
      logger: silentLogger,
      clock: () => now,
      pause: async () => {},
      cases: casesProjection(STANDARD_RULES, 0),
      rules: STANDARD_RULES,
      onExpired: () => {},
    });
  const readAll = async (): Promise<readonly StoredMessage[]> => {
    const messages: StoredMessage[] = [];
    const last = await log.lastSequence();
    for (let sequence = 1; sequence <= last; sequence++) {
      const message = await log.read(sequence);
      if (message) messages.push(message);
    }
    return messages;
  };
  return {
    /** Waits until the views have seen everything: policies and holds are records too. */
    expire: () =>
      until("the views have seen the log", async () => {
        const look = await startWorker().look(new AbortController().signal);
        return look.kind !== "behind" && look;
      }),
    readAll,
    [Symbol.asyncDispose]: async () => {
      await views.close();
      await connection.close();
    },
  };
};

test("events expire by policy, a hold keeps them until its release, and the log stays the same byte for byte", async () => {
  await using broker = await startTestBroker();
  await using service = await startTestService({ ...settingsFor(broker) });
  const members = { timestamp: "2026-01-01T00:00:00Z", risk_tier: "low", correlation_id: "c1" };
  const events = [
    event({ ...members, event_id: "evt_case" }),
    event({ ...members, event_id: "evt_asset", asset_id: "held", correlation_id: "c2" }),
    event({ ...members, event_id: "evt_law", correlation_id: "c3", legal_bases: ["ai_basic_law_kr"] }),
    event({ ...members, event_id: "evt_gone", correlation_id: "c4" }),
  ];
  const decisions = async (): Promise<number> => (await service.call("/v1/decisions")).json.data.length;
  const { json } = await service.call("/v1/events/batch", { body: { events } });
  const seen = `min_sequence=${json.data.sequence}`;
  expect((await service.call(`/v1/cases/c1?${seen}`)).status).toBe(200);
  const shown = async (): Promise<string> => {
    const answer = await service.call("/v1/events?order=asc");
    return answer.json.data
      .map((row: { event: { event_id: string } }) => row.event.event_id.slice(4))
      .join(" ");
  };
  const status = async (id: string): Promise<number> => (await service.call(`/v1/events/evt_${id}`)).status;

  const inTwoYears = new Date(Date.now() + 2 * 366 * 24 * 60 * 60 * 1000);
  await using future = await startFuture(broker.url("service"), service.dataDir, inTwoYears);
  const before = await future.readAll();
  expect(await future.expire()).toEqual({ kind: "finished", expired: 0 });

  const found = async (): Promise<number> => (await service.call("/v1/events?q=c4")).json.data.length;
  expect(await found()).toBe(1);

  await service.call("/v1/retention", { method: "PUT", body: { maximum_days: 184 } });
  const place = async (named: object): Promise<string> =>
    (await service.call("/v1/holds", { body: { ...named, reason: "a complaint" } })).json.data.id;
  const holds = [await place({ correlation_id: "c1" }), await place({ asset_id: "held" })];
  expect(await future.expire()).toEqual({ kind: "finished", expired: 1 });
  expect(await shown()).toBe("case asset law");

  expect(await found()).toBe(0);

  const gone = await service.call("/v1/events/evt_gone");
  expect([gone.status, gone.json.code, gone.json.sequence]).toEqual([410, "event_expired", 4]);
  expect(gone.json.expired_at).toBe(inTwoYears.toISOString());
  for (const path of ["/v1/cases/c4", "/v1/decisions/evt_gone"]) {
    const expired = await service.call(path);
    expect([expired.status, expired.json.code]).toEqual([410, "case_expired"]);
    expect((await service.call(path, { key: await service.makeKey("others") })).status).toBe(404);
  }
  expect(await decisions()).toBe(3);
  expect((await service.call("/v1/export?format=ndjson")).text).not.toContain("evt_gone");
  const key = await service.makeKey("strangers");
  expect((await service.call("/v1/events/evt_gone", { key })).status).toBe(404);

  // With `resent=true` the log, which still has the event, answers, and nothing is stored.
  const resend = (members: object) =>
    service.call("/v1/events?resent=true", {
      body: { ...events[3], ...members },
      headers: { "idempotency-key": "resent" },
    });
  const { length } = await future.readAll();
  expect((await resend({})).json.data).toMatchObject({ sequence: 4, duplicate: true });
  expect((await resend({ asset_id: "another" })).json.code).toBe("event_id_conflict");
  expect(await future.readAll()).toHaveLength(length);

  // The same event again, under another idempotency key: it stays expired.
  const again = await service.call("/v1/events", {
    body: events[3] ?? {},
    headers: { "idempotency-key": "again" },
  });
  const { sequence, duplicate } = again.json.data;
  expect([duplicate, sequence > before.length]).toEqual([false, true]);
  await service.call(`/v1/events?min_sequence=${sequence}`);
  expect([await status("gone"), await shown()]).toEqual([410, "case asset law"]);

  // Evidence about everything: for the expired event and its repeat it has the leaf hash, so there is no gap.
  const bundle = await evidence(service);
  expect(await verify(bundle)).toMatchObject({
    kind: "valid",
    facts: { isComplete: true, records: 5, withheld: 2, checkpoint_size: 5 },
  });
  for (const file of await unpack(bundle))
    expect(Buffer.from(file.content).toString()).not.toContain("evt_gone");

  for (const id of holds) await service.call(`/v1/holds/${id}`, { method: "DELETE" });
  expect(await future.expire()).toEqual({ kind: "finished", expired: 2 });
  expect([await shown(), await decisions()]).toEqual(["law", 1]);
  const { hours } = (await service.call("/v1/reconciliation")).json.data;
  expect(hours[0]).toMatchObject({ stored: 5, projected: 4, repeated: 1 });

  const after = await future.readAll();
  expect(after.slice(0, before.length)).toEqual([...before]);
  expect(after.filter(({ subject }) => subject.startsWith("audit.default."))).toHaveLength(5);
});

test("a conversation that goes on after its kept events have expired is a case with evidence", async () => {
  await using broker = await startTestBroker();
  await using service = await startTestService({ ...settingsFor(broker), CHECKPOINT_INTERVAL: "300ms" });
  const say = async (name: string, count: number): Promise<number> => {
    const events = Array.from({ length: count }, (_, index) =>
      fact(`evt_${name}_${index}`, "ai_inference", undefined, {
        timestamp: new Date().toISOString(),
        risk_tier: "low",
        correlation_id: "chat",
      }),
    );
    return (await service.call("/v1/events/batch", { body: { events } })).json.data.sequence;
  };
  const kept = CASE_FACTS_MAX + 4;
  await service.call(`/v1/cases/chat?min_sequence=${await say("first", kept)}`);
  await service.call("/v1/retention", { method: "PUT", body: { maximum_days: 184 } });
  const inTwoYears = new Date(Date.now() + 2 * 366 * 24 * 60 * 60 * 1000);
  await using future = await startFuture(broker.url("service"), service.dataDir, inTwoYears);
  expect(await future.expire()).toEqual({ kind: "finished", expired: kept });
  const refused = "/v1/evidence?correlation_id=chat&wait=10";
  for (const path of ["/v1/cases/chat", refused])
    expect((await service.call(path)).json).toMatchObject({ status: 410, code: "case_expired" });

  const seen = `min_sequence=${await say("later", 2)}`;
  const { status, json } = await service.call(`/v1/cases/chat?${seen}`);
  expect(status).toBe(200);
  expect(json.data).toMatchObject({ correlation_id: "chat", state: "closed", events: kept + 2 });
  // What is kept of the case are its first events, whose content stays away.
  expect(json.data.timeline).toHaveLength(CASE_FACTS_MAX);
  expect(json.data.timeline.every(({ event: said }: { event: unknown }) => said === null)).toBe(true);
  const bundle = await evidence(service, "correlation_id=chat&wait=10");
  expect(await verify(bundle)).toMatchObject({ kind: "valid", facts: { records: 2, withheld: 0 } });
  const none = await service.call("/v1/evidence?correlation_id=chat&to=2020-01-01T00:00:00Z&wait=10");
  expect(none.status).toBe(404);

  expect(await future.expire()).toEqual({ kind: "finished", expired: 2 });
  expect((await service.call("/v1/cases/chat")).json.code).toBe("case_expired");
});
