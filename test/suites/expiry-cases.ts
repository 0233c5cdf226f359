/** Cases expire with the last of their events. Each database runs it (test/projections/expiry.test.ts). */
import { describe, expect, test } from "bun:test";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { CASE_FACTS_MAX, CASE_NEIGHBOURS_MAX } from "../../src/limits.ts";
import { findCase } from "../../src/views/cases/queries.ts";
import { DECISIONS } from "../../src/views/cases/registers/decisions.ts";
import { NOTICES } from "../../src/views/cases/registers/notices.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { REGISTERS } from "../../src/views/cases/registers/registers.ts";
import { CASE_NODES } from "../../src/views/cases/tables.ts";
import type { CoverageEntry } from "../../src/views/coverage/coverage.ts";
import { EVENTS } from "../../src/views/events/tables.ts";
import { EXPIRY_INTERVAL_MS } from "../../src/views/kit/limits.ts";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { createRunner } from "../../src/views/kit/runner.ts";
import type { Row, Table } from "../../src/views/store/tables.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { coverageAt } from "../projections/coverage-view.ts";
import { messageOf, type RecordParts } from "../projections/records.ts";
import { silentLogger } from "../support/broker.ts";
import { until } from "../support/until.ts";
import { CASES, createScene, event, RECEIVED, SHORT, VIEWS, YEAR_MS } from "./expiry.ts";
import type { CreateDatabase } from "./view-store.ts";

const signal = new AbortController().signal;
const SUBJECT = `sha256:${"a".repeat(64)}`;
const LAW = { legal_bases: ["ai_basic_law_kr"] };

const about = (id: string, type: string, metadata: object, change: object = {}): RecordParts =>
  event(id, {
    event_type: type,
    subject_hash: SUBJECT,
    correlation_id: "c1",
    timestamp: "2026-11-20T09:00:00Z",
    metadata: { decision_id: "d1", ...metadata },
    ...change,
  });

/** One case with a row in every register. */
const WHOLE_CASE: readonly RecordParts[] = [
  about("notice", "transparency.notice_shown", {}),
  about("made", "decision.automated_decision_made", { outcome: "denied" }, { legal_bases: ["nyc_ll144"] }),
  about("objection", "objection.received", {
    objection_id: "o1",
    objection_type: "appeal",
    reason: "a mistake",
  }),
  about("review", "decision.human_review_completed", { reviewer_id: "r7", final_outcome: "approved" }),
  about("incident", "incident.detected", { incident_id: "i1", incident_class: "property" }),
];

const WAIVED = "OBJ-ACK:evt_objection";

/** As the recorder writes it to the log of the system. */
const WAIVER: RecordParts = {
  tenant: "prooftrail-system",
  event: {
    event_id: "evt_waiver",
    event_type: "system.obligation_waived",
    timestamp: "2026-11-20T10:00:00Z",
    asset_id: "prooftrail",
    correlation_id: "request-1",
    metadata: {
      tenant: "acme",
      actor: "key_1",
      obligation_id: WAIVED,
      reason: "Zoe has withdrawn",
      case_name: "decision:d1",
    },
  },
};

const rowsOf = (views: ViewStore, table: Table): Promise<readonly Row[]> =>
  views.snapshot(CASES, async (snapshot) => {
    const rows: Row[] = [];
    for await (const page of snapshot.rows(table)) rows.push(...page);
    return rows;
  });

/** Names of registers, and how many rows each has. */
const registersOf = async (views: ViewStore): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {};
  for (const { table } of REGISTERS) counts[table.name] = (await rowsOf(views, table)).length;
  return counts;
};

/** By the names of their tables. */
const countsOf = async (views: ViewStore): Promise<Readonly<Record<string, readonly Row[]>>> => {
  const counts: Record<string, readonly Row[]> = {};
  for (const { kind, table } of REGISTERS)
    if (kind === "counts") counts[table.name] = await rowsOf(views, table);
  return counts;
};

const EMPTY = { decisions: 0, notices: 0, objections: 0, human_reviews: 0, incidents: 0, obligations: 0 };

const decision = (views: ViewStore, value = "d1") =>
  findCase(views, "acme", { kind: "decision", value, rules: STANDARD_RULES });

export const caseExpirySuite = (name: string, create: CreateDatabase): void => {
  const sceneOf = async (records: readonly RecordParts[]) => {
    const scene = await createScene(await create(VIEWS), records);
    scene.setPolicy(SHORT);
    scene.setNow(YEAR_MS);
    return scene;
  };

  describe(`expiry of cases in ${name}`, () => {
    test("with its last event a case leaves every register, and its waiver too; what it counted stays counted", async () => {
      await using scene = await sceneOf([...WHOLE_CASE, WAIVER]);
      const { views } = scene;
      const before = await decision(views);
      expect(before?.events).toBe(WHOLE_CASE.length);
      expect(before?.obligations.filter(({ status }) => status === "waived")).toMatchObject([
        { id: WAIVED, waiver: { by: "key_1", reason: "Zoe has withdrawn" } },
      ]);
      expect(Object.entries(await registersOf(views)).filter(([, rows]) => rows === 0)).toEqual([]);
      const counted = await countsOf(views);
      expect(counted.coverage?.filter(({ waived }) => waived === 1)).toHaveLength(1);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: WHOLE_CASE.length });
      const rowsCounted = Object.entries(counted).map(([name, rows]) => [name, rows.length]);
      expect(await registersOf(views)).toEqual({ ...EMPTY, ...Object.fromEntries(rowsCounted) });
      expect(await countsOf(views)).toEqual(counted);
      expect(await decision(views)).toMatchObject({ hasExpired: true, events: 0, is: { facts: [] } });
      expect(await scene.differences()).toEqual([]);
    });

    test("a covered duty stays covered, even if none of its evidence is left to show", async () => {
      const outcome_hash = `sha256:${"b".repeat(64)}`;
      const ends = { metadata: { assessment_type: "bias_audit" } };
      await using scene = await sceneOf([
        ...WHOLE_CASE,
        event("created", { event_type: "asset.created", asset_version: "1" }),
        event("output", { event_type: "ai_inference", outcome_hash }),
        event("label", { event_type: "transparency.result_labeled", outcome_hash }),
        event("audit", { event_type: "assessment.impact_assessment_completed", ...ends }),
      ]);
      const now = "2026-12-01T00:00:00Z";
      const before = await coverageAt(scene.views, "acme", now);
      const applicable = before.filter(({ due }) => due > 0);
      expect(applicable.filter(({ in_time }) => in_time > 0).map(({ duty }) => duty)).toEqual(
        expect.arrayContaining(["labeling", "notice", "bias_audit", "lifecycle"]),
      );
      await scene.expire();
      expect(await scene.shown()).toEqual([]);
      const after = await coverageAt(scene.views, "acme", now);
      const known = ({ last_evidence_at: _, example_event_ids: __, ...entry }: CoverageEntry) => entry;
      expect(after.map(known)).toEqual(before.map(known));
      const [notice] = after.filter(({ law, duty }) => law === "any" && duty === "notice");
      expect(notice).toMatchObject({ state: "covered", last_evidence_at: null, example_event_ids: [] });
      const examples = after.flatMap(({ example_event_ids }) => example_event_ids);
      expect(examples).toEqual([]);
      const timed = after.flatMap((entry) => (entry.last_evidence_at === null ? [] : [entry.duty]));
      expect(new Set(timed)).toEqual(new Set(["labeling", "bias_audit", "lifecycle"]));
      expect(await scene.differences()).toEqual([]);
    });

    test("if some evidence has expired, the newest that is left are the examples", async () => {
      const labels = Array.from({ length: 8 }, (_, index) =>
        event(`label_${index}`, {
          event_type: "transparency.result_labeled",
          timestamp: `2026-11-20T0${index}:00:00Z`,
          outcome_hash: SUBJECT,
          ...(index < 4 && LAW),
        }),
      );
      const output = event("output", { event_type: "ai_inference", outcome_hash: SUBJECT });
      await using scene = await sceneOf([output, ...labels]);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 5 });
      const entries = await coverageAt(scene.views, "acme", "2027-12-01T00:00:00Z");
      expect(entries.filter(({ duty }) => duty === "labeling")).toEqual([
        expect.objectContaining({
          in_time: 1,
          last_evidence_at: "2026-11-20T07:00:00Z",
          example_event_ids: ["evt_label_3", "evt_label_2", "evt_label_1"],
        }),
      ]);
    });

    test("while one of its events is left the whole case stays, including what has expired of it", async () => {
      await using scene = await sceneOf([
        ...WHOLE_CASE,
        about("law", "decision.explanation_provided", {}, LAW),
      ]);
      const before = await registersOf(scene.views);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: WHOLE_CASE.length });
      expect(await scene.shown()).toEqual(["law"]);
      expect(await registersOf(scene.views)).toEqual(before);
      expect((await decision(scene.views))?.is.facts).toHaveLength(WHOLE_CASE.length + 1);
      scene.setNow(6 * YEAR_MS);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
      expect(await registersOf(scene.views)).toMatchObject(EMPTY);
      expect(await scene.differences()).toEqual([]);
    });

    test("a hold on one asset keeps the whole case until the hold is released", async () => {
      await using scene = await sceneOf([
        ...WHOLE_CASE,
        about("held", "decision.explanation_provided", {}, { asset_id: "held" }),
      ]);
      const before = await registersOf(scene.views);
      scene.hold({ asset_id: "held" });
      await scene.expire();
      expect(await scene.shown()).toEqual(["held"]);
      expect(await registersOf(scene.views)).toEqual(before);
      scene.release();
      await scene.expire();
      expect(await registersOf(scene.views)).toMatchObject(EMPTY);
    });

    describe("a notice without a name", () => {
      const members = { event_type: "transparency.notice_shown", subject_hash: SUBJECT };
      const shown = event("nameless", { ...members, timestamp: "2026-11-20T08:00:00Z" });
      const made = about("made", "decision.automated_decision_made", { outcome: "denied" });
      const noticeAt = async (views: ViewStore) =>
        (await rowsOf(views, DECISIONS)).map((row) => row.notice_at);

      test("stays with the decision after its own event has expired", async () => {
        const kept = about("made", "decision.automated_decision_made", { outcome: "denied" }, LAW);
        await using scene = await sceneOf([shown, kept]);
        expect(await noticeAt(scene.views)).toEqual(["2026-11-20T08:00:00"]);
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
        expect(await rowsOf(scene.views, NOTICES)).toEqual([]);
        expect(await noticeAt(scene.views)).toEqual(["2026-11-20T08:00:00"]);
        expect(await scene.differences()).toEqual([]);
        scene.setNow(6 * YEAR_MS);
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
        expect(await registersOf(scene.views)).toMatchObject(EMPTY);
        expect(await scene.differences()).toEqual([]);
      });

      const waiting = (id: string, timestamp: string, ...laws: readonly string[]) => {
        const legal_bases = ["nyc_ll144", ...laws];
        return event(id, { ...members, timestamp, legal_bases });
      };
      const waitingIn = async (views: ViewStore) =>
        (await rowsOf(views, OBLIGATIONS)).flatMap((row) =>
          row.status === "waiting" ? [row.obligation_id] : [],
        );

      test("does not wait again when the decision after it has expired", async () => {
        await using scene = await sceneOf([
          waiting("kept", "2026-11-20T08:00:00Z", ...LAW.legal_bases),
          made,
        ]);
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
        expect(await registersOf(scene.views)).toMatchObject({ decisions: 0, notices: 1 });
        expect(await waitingIn(scene.views)).toEqual([]);
        expect(await scene.differences()).toEqual([]);
        const later = waiting("later", "2026-11-20T09:00:00Z");
        scene.log.append(messageOf(3, { ...later, receivedAt: "2027-11-20T10:00:00.000Z" }));
        await scene.project();
        expect(await waitingIn(scene.views)).toEqual([]);
      });

      test("is on hold with the case of the decision that it belongs to", async () => {
        await using scene = await sceneOf([shown, made]);
        scene.hold({ correlation_id: "c1" });
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 0 });
        scene.release();
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 2 });
      });
    });

    test.each([{ asset_id: "credit_model" }, { correlation_id: "c1" }])(
      "the rest of a case stays whole under a hold that came after some of its events had expired: %p",
      async (held) => {
        await using scene = await sceneOf([
          ...WHOLE_CASE,
          about("law", "decision.explanation_provided", {}, { ...LAW, asset_id: "other" }),
        ]);
        const before = await registersOf(scene.views);
        expect(await scene.expire()).toEqual({ kind: "finished", expired: WHOLE_CASE.length });
        scene.hold(held);
        scene.setNow(6 * YEAR_MS);
        // Its last event stays too: without it the case would go, and with it what the hold keeps.
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 0 });
        expect(await scene.shown()).toEqual(["law"]);
        expect(await registersOf(scene.views)).toEqual(before);
        expect(await scene.differences()).toEqual([]);
        scene.release();
        expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
        expect(await registersOf(scene.views)).toMatchObject(EMPTY);
        expect(await scene.differences()).toEqual([]);
      },
    );

    test("a late event brings its case back whole, which expires again with it; a repeat changes nothing", async () => {
      await using scene = await sceneOf(WHOLE_CASE);
      const { views, log } = scene;
      const before = await registersOf(views);
      await scene.expire();
      log.append(messageOf(6, WHOLE_CASE[1] ?? event("none")));
      expect(await scene.project()).toEqual([]);
      expect(await registersOf(views)).toMatchObject(EMPTY);
      const late = { ...about("late", "objection.received", { objection_id: "o2" }) };
      const received = new Date(Date.parse(RECEIVED) + YEAR_MS).toISOString();
      log.append(messageOf(7, { ...late, receivedAt: received }));
      expect(await scene.project()).toEqual([]);
      expect(await registersOf(views)).toMatchObject({ decisions: 1, objections: 2, incidents: 1 });
      expect((await registersOf(views)).notices).toBe(before.notices ?? 0);
      const found = await decision(views);
      expect(found).toMatchObject({ hasExpired: false, events: WHOLE_CASE.length + 1 });
      expect(await scene.shown()).toEqual(["late"]);
      expect(await scene.differences()).toEqual([]);
      scene.setNow(2 * YEAR_MS);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
      expect(await registersOf(views)).toMatchObject(EMPTY);
      expect(await scene.differences()).toEqual([]);
    });

    test("a case that expires while the projector computes with it comes back whole", async () => {
      await using scene = await sceneOf(WHOLE_CASE);
      const late = about("late", "objection.received", { objection_id: "o2" });
      scene.log.append(messageOf(6, { ...late, receivedAt: "2027-11-20T10:00:00.000Z" }));
      let looks = 0;
      await scene.project(async () => {
        if (looks++ > 0) return;
        // A worker that does not know of the new record yet.
        const worker = scene.worker({ log: { lastSequence: async () => 5 } });
        expect(await worker.look(signal)).toMatchObject({ kind: "finished", expired: 5 });
      });
      expect(looks).toBe(2);
      expect(await registersOf(scene.views)).toMatchObject({ decisions: 1, objections: 2, incidents: 1 });
      expect(await scene.differences()).toEqual([]);
    });

    test("an event that arrives while its case expires keeps the case", async () => {
      await using scene = await sceneOf(WHOLE_CASE);
      const before = await registersOf(scene.views);
      const late = about("late", "decision.explanation_provided", {});
      let isCome = false;
      const views: ViewStore = {
        ...scene.views,
        revise: async (revision) => {
          if (!isCome && revision.writes.some((write) => "table" in write && write.table === CASE_NODES)) {
            isCome = true;
            scene.log.append(messageOf(6, { ...late, receivedAt: "2027-11-20T10:00:00.000Z" }));
            await scene.project();
          }
          return scene.views.revise(revision);
        },
      };
      expect(await scene.worker({ views }).look(signal)).toEqual({ kind: "finished", expired: 5 });
      expect(isCome).toBe(true);
      expect(await registersOf(scene.views)).toEqual(before);
      expect(await scene.differences()).toEqual([]);
    });

    test("a projector and a concurrent expiry of cases do not block each other, and every view is right at the end", async () => {
      const count = 240;
      const made = (id: number, members: object = {}) =>
        about(`made_${id}`, "decision.automated_decision_made", { decision_id: `d${id}` }, members);
      const old = Array.from({ length: count }, (_, id) => made(id, { correlation_id: `c${id % 80}` }));
      await using scene = await sceneOf(old);
      await using other = scene.connect();
      const metrics = { progressed: () => {}, alarmed: () => {} };
      const clock = () => new Date();
      const stopping = new AbortController();
      const { log } = scene;
      const runner = createRunner({
        projections: VIEWS,
        log,
        views: other,
        logger: silentLogger,
        metrics,
        clock,
      });
      const running = runner.run(stopping.signal);
      const expired: number[] = [];
      let isDone = false;
      const worker = scene.worker({ onExpired: (events) => void expired.push(events) });
      const looking = (async () => {
        while ((await worker.look(signal)).kind !== "finished")
          await new Promise((resolve) => setImmediate(resolve));
        isDone = true;
      })();
      let sequence = count;
      while (!isDone || sequence < 2 * count) {
        await new Promise((resolve) => setImmediate(resolve));
        if (sequence - (await other.position("cases")) > count) continue;
        sequence++;
        const late = about(`late_${sequence}`, "objection.received", { decision_id: `d${sequence % count}` });
        log.append(messageOf(sequence, { ...late, receivedAt: "2027-11-20T10:00:00.000Z" }));
      }
      await looking;
      expect(expired.reduce((sum, events) => sum + events)).toBe(count);
      await until("the projector has seen all", async () => (await other.position("cases")) === sequence);
      stopping.abort();
      await running;
      expect(await scene.differences()).toEqual([]);
    });

    test("if expiry is killed at any step, the next pass has the same result", async () => {
      for (let stepsMax = 0; stepsMax < 5; stepsMax++) {
        await using scene = await sceneOf(WHOLE_CASE);
        let steps = 0;
        const dying: ViewStore = {
          ...scene.views,
          revise: async (revision) => {
            if (steps++ >= stepsMax) throw new Error("killed");
            return scene.views.revise(revision);
          },
        };
        const died = scene.worker({ views: dying }).look(signal);
        await died.catch((error: unknown) => expect(String(error)).toContain("killed"));
        scene.setNow(YEAR_MS + EXPIRY_INTERVAL_MS);
        expect((await scene.worker().look(signal)).kind).toBe("finished");
        expect(await scene.shown()).toEqual([]);
        expect(await registersOf(scene.views)).toMatchObject(EMPTY);
        expect(await scene.differences()).toEqual([]);
      }
    });

    test("a case of more events than are kept is shown as long as one of them is", async () => {
      const many = Array.from({ length: CASE_FACTS_MAX }, (_, index) =>
        about(`old_${index}`, "decision.explanation_provided", {}),
      );
      const made = about("made", "decision.automated_decision_made", { outcome: "denied" });
      await using scene = await sceneOf([made, ...many]);
      await scene.expire();
      expect(await registersOf(scene.views)).toMatchObject({ decisions: 0 });
      const late = about("late", "human_review.note", {}, { timestamp: "2027-11-20T10:00:00Z" });
      const receivedAt = "2027-11-20T10:00:00.000Z";
      scene.log.append(messageOf(CASE_FACTS_MAX + 2, { ...late, receivedAt }));
      await scene.project();
      expect((await decision(scene.views))?.is.facts.map(({ id }) => id)).not.toContain("evt_late");
      expect(await registersOf(scene.views)).toMatchObject({ decisions: 1 });
      expect(await scene.differences()).toEqual([]);
      scene.setNow(2 * YEAR_MS);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
      expect(await registersOf(scene.views)).toMatchObject({ decisions: 0 });
    });

    test("a case whose events have expired goes when it is no longer connected with others", async () => {
      const made = (id: string, members: object) =>
        about(`made_${id}`, "decision.automated_decision_made", { decision_id: id }, members);
      await using scene = await sceneOf([made("d1", {}), made("d2", LAW)]);
      const { views, log } = scene;
      await scene.expire();
      expect(await registersOf(views)).toMatchObject({ decisions: 2 });
      const more = Array.from({ length: CASE_NEIGHBOURS_MAX }, (_, index) => made(`more_${index}`, LAW));
      log.append(...more.map((record, index) => messageOf(index + 3, record)));
      await scene.project();
      expect(await registersOf(views)).toMatchObject({ decisions: CASE_NEIGHBOURS_MAX + 1 });
      expect((await decision(views))?.hasExpired).toBe(true);
      expect(await scene.differences()).toEqual([]);
    });

    test.each([
      ["expires before", () => Promise.resolve()],
      ["expires meanwhile", (scene: Awaited<ReturnType<typeof sceneOf>>) => scene.expire()],
    ] as const)(
      "a case that %s is not in a rebuilt view, even if its asset is on hold by then",
      async (when, meanwhile) => {
        await using scene = await sceneOf(WHOLE_CASE);
        const { views, log } = scene;
        if (when === "expires before") await scene.expire();
        // Called when all records are read into the new view.
        const snapshot: ViewStore["snapshot"] = async (...asked) => {
          await meanwhile(scene);
          scene.setPolicy({});
          scene.hold({ asset_id: "credit_model" });
          return views.snapshot(...asked);
        };
        const dependencies = {
          log,
          views: { ...views, snapshot },
          clock: () => new Date(),
        };
        const rebuilt = await rebuildView({ ...dependencies, onProgress: () => {} }, CASES, signal);
        expect(rebuilt.kind).toBe("replaced");
        expect(await registersOf(views)).toMatchObject(EMPTY);
        expect((await decision(views))?.hasExpired).toBe(true);
        expect(await scene.differences()).toEqual([]);
      },
    );

    test("an event that shows again, as in a view that took the place of another meanwhile, expires again and counts once", async () => {
      await using scene = await sceneOf(WHOLE_CASE);
      const { views } = scene;
      const key = { tenant: "acme", event_id: "evt_made" };
      const [row] = await views.load(EVENTS, [key]);
      await scene.expire();
      const writes = row ? [{ kind: "upsert", table: EVENTS, row } as const] : [];
      await views.revise({ views: [VIEWS[0]], expected: [], writes });
      expect(await scene.shown()).toEqual(["made"]);
      expect(await scene.expire()).toEqual({ kind: "finished", expired: 1 });
      expect(await scene.differences()).toEqual([]);
    });
  });
};
