/** What the worker does that lets events expire. Each database runs it (test/projections/expiry.test.ts). */
import { describe, expect, test } from "bun:test";
import type { HoldRecord, PolicyRecord, RetentionPolicy } from "../../src/access/retention/records.ts";
import { readSearchText } from "../../src/event/search-query.ts";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { CASE_FACTS_MAX } from "../../src/limits.ts";
import { type LogReader, LogUnavailableError } from "../../src/log/event-log.ts";
import { assessmentsProjection } from "../../src/views/assessments/evolve.ts";
import { assetsProjection } from "../../src/views/assets/evolve.ts";
import { ASSETS } from "../../src/views/assets/tables.ts";
import { auditsProjection } from "../../src/views/audits/evolve.ts";
import { casesProjection } from "../../src/views/cases/evolve.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { findEvent, searchEvents } from "../../src/views/events/queries.ts";
import { EVENTS } from "../../src/views/events/tables.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import { createExpiryWorker } from "../../src/views/kit/expiry.ts";
import { EXPIRY_INTERVAL_MS, EXPIRY_ROWS_PER_COMMIT_MAX } from "../../src/views/kit/limits.ts";
import type { Projection } from "../../src/views/kit/projection.ts";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { verifyView } from "../../src/views/kit/verify.ts";
import { ledgerProjection } from "../../src/views/ledger/evolve.ts";
import { reconcile } from "../../src/views/ledger/reconcile.ts";
import { outcomesProjection } from "../../src/views/outcomes/evolve.ts";
import type { Row } from "../../src/views/store/tables.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { createArrayLog } from "../projections/array-log.ts";
import { messageOf, type RecordParts } from "../projections/records.ts";
import { silentLogger } from "../support/broker.ts";
import type { CreateDatabase, ViewDatabase } from "./view-store.ts";

export const CASES = casesProjection(STANDARD_RULES, 0);
export const VIEWS: readonly [Projection, ...Projection[]] = [
  eventsProjection,
  assetsProjection,
  CASES,
  assessmentsProjection,
  auditsProjection,
  outcomesProjection,
  ledgerProjection,
];
export const YEAR_MS = 366 * 24 * 60 * 60 * 1000;
export const RECEIVED = "2026-11-20T10:00:00.000Z";
const at = (ms: number): Date => new Date(Date.parse(RECEIVED) + ms);

/** A policy of 184 days for every tier, if no law says otherwise. */
export const SHORT: RetentionPolicy = {
  tiers: {
    low: { maximum_days: 184 },
    limited: { maximum_days: 184 },
    high: { maximum_days: 184 },
    prohibited: { maximum_days: 184 },
    unknown: { maximum_days: 184 },
  },
};

export const event = (id: string, change: object = {}): RecordParts => ({
  event: {
    event_id: `evt_${id}`,
    timestamp: RECEIVED,
    asset_id: "credit_model",
    event_type: "decision.explanation_provided",
    ...change,
  },
});

const many = (count: number, change: object = {}): RecordParts[] =>
  Array.from({ length: count }, (_, index) => event(String(index), change));

/** A database whose views have taken these records, and a store of policies and holds that can be changed. */
export const createScene = async (database: ViewDatabase, records: readonly RecordParts[]) => {
  const messages = records.map((record, index) => messageOf(index + 1, record));
  const log = createArrayLog(messages);
  const views = database.connect();
  const policies = new Map<string, PolicyRecord>();
  const holds = new Map<string, HoldRecord>();
  let now = at(0);
  let isReachable = true;
  for (const view of VIEWS) await views.open(view);

  const project = async (
    beforeCommit: () => Promise<unknown> = async () => {},
  ): Promise<readonly string[]> => {
    const from = await views.position("events");
    const all: (typeof messages)[number][] = [];
    for (let sequence = from + 1; ; sequence++) {
      const message = await log.read(sequence);
      if (!message) break;
      all.push(message);
    }
    for (;;) {
      const outcome = await applyBatch({ projections: VIEWS, messages: all, load: views.load, now: "" });
      await beforeCommit();
      const result = await views.commit({ views: VIEWS, from, to: from + all.length, ...outcome });
      // A case that has expired meanwhile makes the commit outdated.
      if (result.kind === "outdated") continue;
      expect(result).toEqual({ kind: "committed" });
      return outcome.deadLetters.map(({ code }) => code);
    }
  };
  const retention = {
    read: async () => {
      if (!isReachable) throw new LogUnavailableError("away");
      return {
        policies: [...policies.values()],
        policyRevisions: new Map(),
        holds: [...holds.values()].map((record) => ({ record, revision: 1 })),
      };
    },
  };
  const worker = (
    change: {
      readonly views?: ViewStore;
      readonly log?: Pick<LogReader, "lastSequence">;
      readonly pause?: () => Promise<void>;
      readonly onExpired?: (events: number) => void;
    } = {},
  ) =>
    createExpiryWorker({
      views,
      log,
      retention,
      logger: silentLogger,
      clock: () => now,
      pause: () => new Promise((resolve) => setImmediate(resolve)),
      cases: CASES,
      rules: STANDARD_RULES,
      onExpired: () => {},
      ...change,
    });
  await project();
  return {
    views,
    log,
    project,
    worker,
    connect: database.connect,
    setPolicy: (policy: RetentionPolicy, tenant = "acme") =>
      void policies.set(tenant, { tenant, policy, updated_at: RECEIVED, updated_by: "admin" }),
    hold: (what: Pick<HoldRecord, "asset_id" | "correlation_id">, id = "hold") =>
      void holds.set(id, {
        id,
        tenant: "acme",
        ...what,
        reason: "r",
        created_at: RECEIVED,
        created_by: "admin",
      }),
    release: (id = "hold") => {
      const hold = holds.get(id);
      if (hold) holds.set(id, { ...hold, released_at: RECEIVED });
    },
    setNow: (ms: number) => {
      now = at(ms);
    },
    setReachable: (value: boolean) => {
      isReachable = value;
    },
    expire: () => worker().look(new AbortController().signal),
    /** Compares every view with one that is made from the log now. */
    differences: async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const projection of VIEWS) {
        const dependencies = { log, views, clock: () => at(0), onProgress: () => {} };
        const verified = await verifyView(dependencies, projection, signal);
        for (const { table, kind } of verified.differences) found.push(`${table} ${kind}`);
      }
      return found;
    },
    shown: async (tenant = "acme"): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const found = await searchEvents(views, tenant, {
          timeField: "timestamp",
          order: "asc",
          limit: 200,
          cursor,
        });
        if (found.kind !== "page") throw new Error(found.kind);
        for (const { eventText } of found.rows) ids.push(JSON.parse(eventText).event_id.slice(4));
        cursor = found.nextCursor;
      }
      return ids;
    },
    [Symbol.asyncDispose]: async () => {
      await views.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

const signal = new AbortController().signal;

export const expirySuite = (name: string, create: CreateDatabase): void => {
  const sceneOf = async (records: readonly RecordParts[]) => createScene(await create(VIEWS), records);
  /** All events of it are due, unless a hold or a law keeps them. */
  const dueScene = async (records: readonly RecordParts[]) => {
    const scene = await sceneOf(records);
    scene.setPolicy(SHORT);
    scene.setNow(YEAR_MS);
    return scene;
  };

  describe(`expiry in ${name}`, () => {
    /** The tombstone shows nothing anyway. So another row is put at the sequence of the event; a search would find it if the words were still there. */
    test("no word finds an expired event, and its words are gone from the index", async () => {
      await using scene = await sceneOf([event("gone", { metadata: { note: "wombat" } }), event("stays")]);
      const { views } = scene;
      const found = async (q: string) => {
        const read = readSearchText(q);
        if ("message" in read) throw new Error(read.message);
        const asked = { timeField: "timestamp", order: "asc", limit: 9, text: read.value } as const;
        const page = await searchEvents(views, "acme", asked);
        return page.kind === "page" ? page.rows.map(({ sequence }) => sequence) : page;
      };
      expect([await found("wombat"), await found("credit_model")]).toEqual([[1], [1, 2]]);
      scene.setPolicy(SHORT);
      scene.setNow(YEAR_MS);
      scene.hold({ asset_id: "none" });
      await scene.expire();
      expect(await found("credit*")).toEqual([]);
      const [tombstone] = await views.load(EVENTS, [{ tenant: "acme", event_id: "evt_gone" }]);
      const row = { ...tombstone, event_id: "evt_probe", sequence: 1 };
      const position = await views.position("events");
      const written = { views: VIEWS, from: position, to: position, deadLetters: [] };
      await views.commit({ ...written, writes: [{ kind: "insert", table: EVENTS, row }] });
      expect([await found("wombat"), await found("credit_model")]).toEqual([[], []]);
    });

    test("exactly those events expire that are due: by tier, by law, by the later of both times, of the tenant with the policy", async () => {
      await using scene = await sceneOf([
        event("low", { risk_tier: "low" }),
        event("high", { risk_tier: "high" }),
        event("kr", { risk_tier: "low", legal_bases: ["ai_basic_law_kr"] }),
        event("kr_inside", { risk_tier: "low", metadata: { legal_bases: ["ai_basic_law_kr"] } }),
        event("co", { risk_tier: "low", legal_bases: ["eu_ai_act_art_50", "colorado_sb26_189"] }),
        event("late", { risk_tier: "low", timestamp: "2027-11-20T10:00:00Z" }),
        { ...event("came_late", { risk_tier: "low" }), receivedAt: "2027-11-20T10:00:00.000Z" },
        event("prohibited", { risk_tier: "prohibited" }),
        event("unknown"),
        { ...event("other", { risk_tier: "low" }), tenant: "globex" },
      ]);
      scene.setPolicy({ maximum_days: 200 });
      const left = async (years: number) => {
        scene.setNow(years * YEAR_MS + 2000);
        expect(await scene.worker().look(signal)).toMatchObject({ kind: "finished" });
        return (await scene.shown()).join(" ");
      };
      const all = "low high kr kr_inside co late came_late prohibited unknown";
      expect(await left(0.99)).toBe(all);
      expect(await left(1)).toBe("high kr kr_inside co late came_late prohibited unknown");
      expect(await left(2)).toBe("high kr kr_inside co prohibited unknown");
      expect(await left(3)).toBe("high kr kr_inside prohibited unknown");
      expect(await left(4.98)).toBe("high kr kr_inside prohibited unknown");
      expect(await left(5)).toBe("prohibited");
      expect(await left(100)).toBe("prohibited");
      expect(await scene.shown("globex")).toEqual(["other"]);
      expect(await scene.views.position("events")).toBe(10);
    });

    test("only the identity of an expired event is left: no filter finds it, and a read by id gives its place in the log", async () => {
      const members = {
        risk_tier: "low",
        correlation_id: "c1",
        trace_id: "t1",
        subject_hash: `sha256:${"a".repeat(64)}`,
        legal_bases: ["x"],
        tags: { team: "credit" },
      };
      await using scene = await dueScene([
        event("gone", members),
        { ...event("stays", members), tenant: "globex" },
      ]);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
      const [row] = await scene.views.load(EVENTS, [{ tenant: "acme", event_id: "evt_gone" }]);
      expect(row).toEqual({
        ...Object.fromEntries(
          Object.entries(EVENTS.columns).map(([column, { type, ...rest }]) => [
            column,
            "nullable" in rest ? null : type === "text" ? "" : 0,
          ]),
        ),
        tenant: "acme",
        event_id: "evt_gone",
        sequence: -1,
        received_at: RECEIVED,
        expired_at: at(YEAR_MS).toISOString(),
      });
      const base = { timeField: "timestamp", order: "desc", limit: 10 } as const;
      for (const filter of [
        {},
        { assetId: "" },
        { assetId: "credit_model" },
        { eventType: "" },
        { eventGroup: "" },
        { traceId: "t1" },
        { correlationId: "c1" },
        { subjectHash: members.subject_hash },
        { legalBasis: "x" },
        { riskTier: "low" },
        { tags: [{ key: "team", value: "credit" }] },
        { to: "2100-01-01T00:00:00Z" },
      ]) {
        for (const order of ["asc", "desc"] as const) {
          expect(await searchEvents(scene.views, "acme", { ...base, ...filter, order })).toMatchObject({
            rows: [],
          });
        }
      }
      expect(await findEvent(scene.views, "acme", "evt_gone")).toEqual({
        kind: "expired",
        sequence: 1,
        expiredAt: at(YEAR_MS).toISOString(),
      });
      expect(await scene.shown("globex")).toEqual(["stays"]);
    });

    test("a hold on an asset keeps all its events until the hold is released", async () => {
      await using scene = await dueScene([
        event("a", { asset_id: "held" }),
        event("b"),
        event("c", { asset_id: "held2" }),
      ]);
      scene.hold({ asset_id: "held" });
      await scene.expire();
      expect(await scene.shown()).toEqual(["a"]);
      scene.hold({ asset_id: "held" }, "second");
      scene.release();
      await scene.expire();
      expect(await scene.shown()).toEqual(["a"]);
      scene.release("second");
      await scene.expire();
      expect(await scene.shown()).toEqual([]);
    });

    test("a hold on a case keeps everything that belongs to it, including indirect members and more events than a case keeps", async () => {
      const beyond = CASE_FACTS_MAX + 20;
      await using scene = await dueScene([
        event("made", { correlation_id: "c1", metadata: { decision_id: "d1" } }),
        event("objection", {
          event_type: "objection.received",
          metadata: { decision_id: "d1", objection_id: "o1" },
        }),
        event("review", { event_type: "human_review.completed", metadata: { objection_id: "o1" } }),
        ...many(beyond, { metadata: { decision_id: "d1" } }),
        event("stranger", { correlation_id: "c2", metadata: { decision_id: "d2" } }),
        event("alone"),
      ]);
      scene.hold({ correlation_id: "c1" });
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 2 });
      expect(await scene.shown()).toHaveLength(3 + beyond);
      scene.release();
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 3 + beyond });
    });

    test.each(["hold", "policy"])(
      "a %s that is set while events expire counts from the next transaction on",
      async (what) => {
        await using scene = await dueScene(many(3 * EXPIRY_ROWS_PER_COMMIT_MAX));
        const onExpired = (): void =>
          what === "hold"
            ? scene.hold({ asset_id: "credit_model" })
            : scene.setPolicy({ maximum_days: 4000 });
        expect(await scene.worker({ onExpired }).look(signal)).toMatchObject({
          expired: EXPIRY_ROWS_PER_COMMIT_MAX,
        });
        expect(await scene.shown()).toHaveLength(2 * EXPIRY_ROWS_PER_COMMIT_MAX);
      },
    );

    test("while the holds cannot be read, nothing expires", async () => {
      await using scene = await dueScene(many(3));
      scene.setReachable(false);
      await expect(scene.expire()).rejects.toThrow("away");
      expect(await scene.shown()).toHaveLength(3);
      scene.setReachable(true);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 3 });
    });

    test("an event that is sent again after it has expired stays a repeat, in every view", async () => {
      const counts = {
        begin: async () => "2026-01-01T00:00:00.000Z",
        read: async () => new Map([["2026-11-20T10", 4]]),
      };
      await using scene = await dueScene(many(2));
      await scene.expire();
      const asset = { tenant: "acme", asset_id: "credit_model" };
      const [before] = await scene.views.load(ASSETS, [asset]);
      scene.log.append(
        messageOf(3, event("0")),
        messageOf(4, event("1", { asset_id: "another", correlation_id: "other content" })),
      );
      expect(await scene.project()).toEqual([]);
      expect(await scene.shown()).toEqual([]);
      expect(await scene.views.load(ASSETS, [asset])).toEqual(before ? [before] : []);
      expect(await scene.views.load(ASSETS, [{ ...asset, asset_id: "another" }])).toEqual([]);
      expect(await findEvent(scene.views, "acme", "evt_0")).toMatchObject({ kind: "expired", sequence: 1 });
      const [hour] = await reconcile({ views: scene.views, log: scene.log, accepted: counts }, "acme", [
        "2026-11-20T10",
      ]);
      expect(hour).toMatchObject({ stored: 4, projected: 2, repeated: 2, state: "balanced" });
    });

    test("a view that is rebuilt beside expired events counts them as before", async () => {
      const members = { correlation_id: "c1", outcome_hash: `sha256:${"a".repeat(64)}` };
      await using scene = await dueScene([
        ...many(3, members),
        event("audit", { ...members, event_type: "assessment.impact_assessment_completed" }),
        event("0", members),
      ]);
      const rowsOf = (projection: Projection) =>
        scene.views.snapshot(projection, async (snapshot) => {
          const rows: Row[] = [];
          for (const table of projection.tables) {
            for await (const page of snapshot.rows(table)) rows.push(...page);
          }
          return rows;
        });
      const others = VIEWS.filter(({ name: view }) => view !== "events" && view !== "cases");
      const before = await Promise.all(others.map(rowsOf));
      await scene.expire();
      const again = others.map((projection) => ({ ...projection, version: projection.version + 1 }));
      for (const projection of again) await scene.views.open(projection);
      const messages = await Promise.all([1, 2, 3, 4, 5].map((sequence) => scene.log.read(sequence)));
      const outcome = await applyBatch({
        projections: again,
        messages: messages.filter((message) => message !== undefined),
        load: scene.views.load,
        now: "",
      });
      await scene.views.commit({ views: again, from: 0, to: 5, ...outcome });
      expect(await Promise.all(again.map(rowsOf))).toEqual(before);
      expect(before.every((rows) => rows.length > 0)).toBe(true);
    });

    test("expiry runs every hour, and at once in a process that has just started", async () => {
      await using scene = await sceneOf(many(1));
      const worker = scene.worker();
      expect((await worker.look(signal)).kind).toBe("finished");
      scene.setNow(EXPIRY_INTERVAL_MS - 1);
      expect((await worker.look(signal)).kind).toBe("not_due");
      expect((await scene.worker().look(signal)).kind).toBe("finished");
      expect((await worker.look(signal)).kind).toBe("not_due");
      scene.setNow(2 * EXPIRY_INTERVAL_MS);
      expect((await worker.look(signal)).kind).toBe("finished");
    });

    test("if a process is killed in the middle of a pass, another one continues at once", async () => {
      await using scene = await dueScene(many(3 * EXPIRY_ROWS_PER_COMMIT_MAX));
      let revisions = 0;
      const dying: ViewStore = {
        ...scene.views,
        revise: async (revision) => {
          if (++revisions > 1) throw new Error("killed");
          return scene.views.revise(revision);
        },
      };
      await expect(scene.worker({ views: dying }).look(signal)).rejects.toThrow("killed");
      expect(await scene.shown()).toHaveLength(2 * EXPIRY_ROWS_PER_COMMIT_MAX);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 2 * EXPIRY_ROWS_PER_COMMIT_MAX });
      expect(await scene.shown()).toEqual([]);
    });

    test("of several projectors that begin at once each event expires once", async () => {
      await using scene = await dueScene(many(2 * EXPIRY_ROWS_PER_COMMIT_MAX));
      const stores = [scene.connect(), scene.connect(), scene.connect()];
      let expired = 0;
      const onExpired = (events: number): void => {
        expired += events;
      };
      await Promise.all(stores.map((views) => scene.worker({ views, onExpired }).look(signal)));
      await scene.worker({ onExpired }).look(signal);
      expect(expired).toBe(2 * EXPIRY_ROWS_PER_COMMIT_MAX);
      expect(await scene.shown()).toEqual([]);
      for (const store of stores) await store.close();
    });

    test("a remade view shows expired events until it has caught up, and no longer", async () => {
      await using scene = await dueScene(many(5));
      const worker = scene.worker();
      await worker.look(signal);
      expect((await worker.look(signal)).kind).toBe("not_due");

      for (const view of VIEWS) {
        await scene.views.open({ ...view, version: view.version + 1 });
        await scene.views.open(view);
      }
      expect((await worker.look(signal)).kind).toBe("behind");
      await scene.project();
      expect(await scene.shown()).toHaveLength(5);
      expect(await worker.look(signal)).toEqual({ kind: "finished", expired: 5 });
      expect(await scene.shown()).toEqual([]);
    });

    test("expired events stay expired in a rebuilt view, whatever holds and policies have come since", async () => {
      await using scene = await dueScene([
        ...many(5, { tags: { a: "red" } }),
        event("kept", { timestamp: "2027-11-20T10:00:00Z" }),
      ]);
      const worker = scene.worker();
      expect(await worker.look(signal)).toEqual({ kind: "finished", expired: 5 });
      const gone = { tenant: "acme", event_id: "evt_0" };
      const before = await scene.views.load(EVENTS, [gone]);
      scene.setPolicy({});
      scene.hold({ asset_id: "credit_model" });
      const rebuilt = await rebuildView(
        { log: scene.log, views: scene.views, clock: () => at(0), onProgress: () => {} },
        eventsProjection,
        signal,
      );
      expect(rebuilt).toMatchObject({ kind: "replaced", position: 6 });
      expect(await scene.shown()).toEqual(["kept"]);
      expect(await scene.views.load(EVENTS, [gone])).toEqual(before);
      expect(await scene.differences()).toEqual([]);
    });

    test("when a view is verified against the log, expired events are no difference, and everything else is", async () => {
      await using scene = await dueScene([
        ...many(3, { legal_bases: ["x"], tags: { a: 1 } }),
        event("kept", { asset_id: "held", tags: { a: 1 } }),
      ]);
      scene.hold({ asset_id: "held" });
      expect(await scene.expire()).toMatchObject({ expired: 3 });
      const { differences } = scene;
      expect(await differences()).toEqual([]);
      const [kept] = await scene.views.load(EVENTS, [{ tenant: "acme", event_id: "evt_kept" }]);
      const [gone] = await scene.views.load(EVENTS, [{ tenant: "acme", event_id: "evt_0" }]);
      if (!kept || !gone) throw new Error("both have rows");
      await scene.views.revise({
        views: [eventsProjection],
        expected: [],
        writes: [
          { kind: "upsert", table: EVENTS, row: { ...kept, occurred: "other" } },
          { kind: "upsert", table: EVENTS, row: { ...gone, counted_from: "left behind" } },
        ],
      });
      expect(await differences()).toEqual(["events different", "events different"]);
    });

    test.each([true, false])(
      "while the view of cases is rebuilt, members of a case are unknown, and nothing expires; with a hold: %p",
      async (isOnHold) => {
        await using scene = await sceneOf([
          event("made", { correlation_id: "c1", metadata: { decision_id: "d1" } }),
          event("held", { metadata: { decision_id: "d1" } }),
        ]);
        scene.setPolicy(SHORT);
        if (isOnHold) scene.hold({ correlation_id: "c1" });
        scene.setNow(YEAR_MS);
        const remade: ViewStore = {
          ...scene.views,
          select: async (query) => {
            const rows = await scene.views.select(query);
            await scene.views.open({ ...CASES, version: CASES.version + 1 });
            await scene.views.open(CASES);
            return rows;
          },
        };
        expect((await scene.worker({ views: remade }).look(signal)).kind).toBe("interrupted");
        expect((await scene.expire()).kind).toBe("behind");
        expect(await scene.shown()).toHaveLength(2);
      },
    );

    /** 250 due events of a decision; after the first page of them a record connects them to a case on hold. */
    const tiedLate = async () => {
      const count = 2.5 * EXPIRY_ROWS_PER_COMMIT_MAX;
      const scene = await dueScene(many(count, { metadata: { decision_id: "d1" } }));
      const tie = event("tie", { correlation_id: "c1", metadata: { decision_id: "d1" } });
      let pauses = 0;
      const worker = (whileBehind: () => Promise<unknown>) =>
        scene.worker({
          pause: async () => {
            if (pauses++ === 0) {
              scene.log.append(messageOf(count + 1, tie));
              scene.hold({ correlation_id: "c1" });
            } else await whileBehind();
          },
        });
      const left = count + 1 - EXPIRY_ROWS_PER_COMMIT_MAX;
      return { scene, worker, left };
    };

    test("a hold keeps events that a record connected to its case after the pass began", async () => {
      const { scene, worker, left } = await tiedLate();
      await using _ = scene;
      expect(await worker(scene.project).look(signal)).toEqual({
        kind: "finished",
        expired: EXPIRY_ROWS_PER_COMMIT_MAX,
      });
      expect(await scene.shown()).toHaveLength(left);
    });

    test("a pass ends if the views stay behind the log's end at the time of a hold, and continues when they have caught up", async () => {
      const { scene, worker, left } = await tiedLate();
      await using _ = scene;
      const same = worker(async () => {});
      expect((await same.look(signal)).kind).toBe("interrupted");
      expect((await same.look(signal)).kind).toBe("behind");
      await scene.project();
      expect(await same.look(signal)).toEqual({ kind: "finished", expired: 0 });
      expect(await scene.shown()).toHaveLength(left);
    });

    test.each([{ asset_id: "credit_model" }, { correlation_id: "c2" }])(
      "a hold that is placed while a step waits because of another hold counts for that step: %p",
      async (placed) => {
        const count = 2.5 * EXPIRY_ROWS_PER_COMMIT_MAX;
        await using scene = await dueScene(many(count, { metadata: { decision_id: "d1" } }));
        scene.hold({ correlation_id: "c1" }, "another");
        const later = { timestamp: at(YEAR_MS).toISOString() };
        const unseen = messageOf(count + 1, event("unseen", later));
        const tie = event("tie", { ...later, correlation_id: "c2", metadata: { decision_id: "d1" } });
        const behind = [
          async () => scene.log.append(unseen),
          async () => {
            scene.hold(placed);
            scene.log.append(messageOf(count + 2, tie));
            await scene.project();
          },
        ];
        const worker = scene.worker({ pause: async () => behind.shift()?.() });
        expect(await worker.look(signal)).toEqual({
          kind: "finished",
          expired: EXPIRY_ROWS_PER_COMMIT_MAX,
        });
        expect(await scene.shown()).toHaveLength(count + 2 - EXPIRY_ROWS_PER_COMMIT_MAX);
      },
    );
  });
};
