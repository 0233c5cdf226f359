/** Transitions of duties, as a service of yours gets them. */
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connect } from "nats";
import { STANDARD_RULES } from "../../src/obligations/overrides.ts";
import { type Announcement, announce } from "../../src/projections/announcements/announcer.ts";
import { casesExpiring } from "../../src/projections/cases/expiry.ts";
import { evolveGroup } from "../../src/projections/evolve-group.ts";
import { PROJECTIONS } from "../../src/projections/registry.ts";
import { createArrayLog } from "../projections/array-log.ts";
import { messageOf } from "../projections/records.ts";
import { createSqliteDatabase } from "../projections/sqlite-database.ts";
import { silentLogger } from "../support/broker.ts";
import { event, startTestService } from "../support/service.ts";

/** Views and an announcer whose clock is told what time it is. */
const setUp = async () => {
  const database = createSqliteDatabase();
  const views = database.connect();
  for (const projection of PROJECTIONS) await views.open(projection);
  const log = createArrayLog();
  const sent: Announcement[] = [];
  let time = "2026-04-18T10:00:00Z";
  let sequence = 0;
  let failures = 0;
  const dependencies = (from = views) => ({
    views: from,
    log,
    rules: STANDARD_RULES,
    publish: async (announcement: Announcement) => {
      if (failures-- > 0) throw new Error("no answer");
      sent.push(announcement);
    },
    onAnnounced: () => {},
    logger: silentLogger,
    now: () => new Date(time),
  });
  const told = () =>
    sent.splice(0).map(({ deadline, transition, payload }) => `${deadline} ${transition} ${payload.state}`);
  return {
    views,
    another: () => database.connect(),
    dependencies,
    told,
    sent,
    failNext: () => {
      failures = 1;
    },
    /** Sends and projects one event. */
    happens: async (type: string, timestamp: string, metadata: object) => {
      sequence++;
      const message = messageOf(sequence, {
        event: {
          event_id: `evt_${sequence}`,
          event_type: type,
          timestamp,
          asset_id: "a.b",
          legal_bases: ["pipa_37_2_kr"],
          metadata,
        },
      });
      log.append(message);
      const outcome = await evolveGroup({
        projections: PROJECTIONS,
        messages: [message],
        load: views.load,
        now: "",
      });
      await views.commit({ views: PROJECTIONS, from: sequence - 1, to: sequence, ...outcome });
    },
    at: async (now: string) => {
      time = now;
      expect(await announce(dependencies(), new AbortController().signal)).toBe("told");
      return told();
    },
    [Symbol.asyncDispose]: async () => {
      await views.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

const received = { objection_id: "o1", decision_id: "d1", objection_type: "explanation_request" };

describe("a duty is told of", () => {
  test("when it opens, falls due with time alone, is missed, and is met late; never twice", async () => {
    await using at = await setUp();
    await at.at("2026-04-18T09:00:00Z");
    await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
    expect((await at.at("2026-04-18T10:00:00Z")).sort()).toEqual([
      "OBJ-ACK due due_soon",
      "OBJ-ACK open due_soon",
      "PIPA-EXPL open open",
    ]);
    expect(await at.at("2026-05-11T14:59:00Z")).toEqual(["OBJ-ACK late overdue"]);
    expect(await at.at("2026-05-11T15:01:00Z")).toEqual(["PIPA-EXPL due due_soon"]);
    expect(await at.at("2026-05-18T14:59:00Z")).toEqual([]);
    expect(await at.at("2026-05-18T15:00:01Z")).toEqual(["PIPA-EXPL late overdue"]);
    await at.happens("decision.explanation_provided", "2026-05-19T09:00:00Z", { decision_id: "d1" });
    expect(await at.at("2026-05-20T00:00:00Z")).toEqual(["PIPA-EXPL late met_late"]);
    expect(await at.at("2026-06-20T00:00:00Z")).toEqual([]);
  });

  test("a late event corrects what was told", async () => {
    await using at = await setUp();
    await at.at("2026-04-18T09:00:00Z");
    await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
    await at.at("2026-06-01T00:00:00Z");
    await at.happens("decision.explanation_provided", "2026-04-20T09:00:00Z", { decision_id: "d1" });
    expect(await at.at("2026-06-01T01:00:00Z")).toEqual(["PIPA-EXPL met met"]);
  });

  test("a duty that was made longer is open anew, until another time", async () => {
    await using at = await setUp();
    await at.at("2026-04-18T09:00:00Z");
    await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
    await at.at("2026-05-15T00:00:00Z");
    const told = { objection_id: "o1", extension_days: 30, reason: "many" };
    await at.happens("objection.acknowledged", "2026-05-15T00:00:00Z", told);
    expect(await at.at("2026-05-15T01:00:00Z")).toContain("PIPA-EXPL open extended");
  });

  test("what was published and not recorded is published again with the same id", async () => {
    await using at = await setUp();
    await at.at("2026-04-18T09:00:00Z");
    await at.happens("incident.detected", "2026-09-01T10:00:00Z", {
      incident_id: "i1",
      legal_bases: ["eu_ai_act_art_73"],
    });
    await at.happens("objection.received", "2026-09-01T09:00:00Z", received);
    at.failNext();
    const signal = new AbortController().signal;
    await expect(announce(at.dependencies(), signal)).rejects.toThrow("no answer");
    const first = at.sent.splice(0).map(({ messageId }) => messageId);
    await announce(at.dependencies(), signal);
    const second = at.sent.splice(0).map(({ messageId }) => messageId);
    expect(second).toEqual(expect.arrayContaining(first));
    expect(new Set(second).size).toBe(second.length);
  });

  test("of two announcers one records, and the other tells the same with the same ids", async () => {
    await using at = await setUp();
    await at.at("2026-04-18T09:00:00Z");
    await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
    await using other = at.another();
    const signal = new AbortController().signal;
    const results = await Promise.all([
      announce(at.dependencies(), signal),
      announce(at.dependencies(other), signal),
    ]);
    expect(results).toContain("told");
    const ids = at.sent.splice(0).map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(3);
    expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
  });

  test("nothing is told of a duty whose case has expired, also when its time comes", async () => {
    await using at = await setUp();
    await at.at("2026-04-18T09:00:00Z");
    await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
    expect(await at.at("2026-04-18T10:00:00Z")).toContain("PIPA-EXPL open open");
    const gone = await casesExpiring(at.views, {
      tenant: "acme",
      names: ["decision:d1"],
      expiring: new Set(["evt_1"]),
      rules: STANDARD_RULES,
    });
    const cases = PROJECTIONS.filter(({ name }) => name === "cases");
    expect(await at.views.revise({ views: cases, ...gone })).toEqual({ kind: "revised" });
    expect(await at.at("2026-05-18T15:00:01Z")).toEqual([]);
    expect(await at.at("2026-06-20T00:00:00Z")).toEqual([]);
  });

  test("the past is not told of when the first announcer starts", async () => {
    await using at = await setUp();
    await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
    expect(await at.at("2026-06-01T00:00:00Z")).toEqual([]);
  });
});

test("a service of yours gets it from the stream, on a subject it can filter by", async () => {
  await using service = await startTestService();
  const { host, username, password } = new URL(
    (await readFile(service.service.consumerUrlFile ?? "", "utf8")).trim(),
  );
  const nats = await connect({ servers: host, user: username, pass: password });
  await service.call("/v1/events", {
    body: event({
      asset_id: "a.b",
      event_type: "objection.received",
      timestamp: new Date().toISOString(),
      metadata: received,
    }),
  });
  const consumer = await nats
    .jetstream()
    .consumers.get("OBLIGATIONS", { filterSubjects: "obligation.default.a%2Eb.PIPA-EXPL.*" });
  const message = await consumer.next({ expires: 10_000 });
  expect(message?.subject).toBe("obligation.default.a%2Eb.PIPA-EXPL.open");
  expect(message?.json<Record<string, unknown>>()).toMatchObject({
    tenant: "default",
    transition: "open",
    clause: expect.stringContaining("44-3"),
    started_by: { event_id: "evt_1", sequence: 1 },
    decision_id: "d1",
  });
  await nats.close();
});
