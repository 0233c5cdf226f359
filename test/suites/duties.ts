/** What is published of obligations, with a clock that the test sets. Each database runs it. */
import { describe, expect, test } from "bun:test";
import { OBLIGATION_STATES, type ObligationState, type Rules } from "../../src/law/obligations/obligation.ts";
import { readRules, STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { casesProjection } from "../../src/views/cases/evolve.ts";
import { casesExpiring } from "../../src/views/cases/expiry.ts";
import { agendaChanges, OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import {
  type DutyMessage,
  keepNotifying,
  NOTIFIED,
  NOTIFIED_VIEW,
  notify,
} from "../../src/views/duty-notifications/notifier.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { applyBatch, letterOf } from "../../src/views/kit/apply-batch.ts";
import { replayLetter } from "../../src/views/kit/dead-letter-replay.ts";
import { NOTIFIED_DUTIES } from "../../src/views/kit/limits.ts";
import type { Projection } from "../../src/views/kit/projection.ts";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import type { Row } from "../../src/views/store/tables.ts";
import type { DeadLetter, ViewStore, Write } from "../../src/views/store/view-store.ts";
import { createArrayLog } from "../projections/array-log.ts";
import { messageOf } from "../projections/records.ts";
import { silentLogger } from "../support/broker.ts";
import { table } from "../support/documents.ts";
import { CASES } from "./expiry.ts";
import type { CreateDatabase } from "./view-store.ts";

/** The views that duties depend on; the first one leads. */
const MOVED: readonly [Projection, ...Projection[]] = [eventsProjection, CASES];

const NEXT_CASES: Projection = { ...CASES, version: CASES.version + 1 };

interface Sent {
  readonly messageId: string;
  readonly obligation_id: string;
  readonly rule: string;
  readonly transition: string;
  readonly state: string;
}

/** Views, and a notifier whose clock the test sets. */
const setUp = async (create: CreateDatabase) => {
  const database = await create(MOVED);
  const views = database.connect();
  for (const projection of MOVED) await views.open(projection);
  const sent: Sent[] = [];
  /** Like the stream, which stores a message with a known id once. */
  const known = new Set<string>();
  let time = "2026-04-18T10:00:00Z";
  let sequence = 0;
  let failing: "before" | "after" | undefined;
  let rules = STANDARD_RULES;
  let version = CASES.version;
  const dependencies = (from = views) => ({
    views: from,
    log,
    cases: { version },
    rules,
    publish: async (messages: readonly DutyMessage[]) => {
      const fails = failing;
      failing = undefined;
      if (fails === "before") throw new Error("no answer");
      for (const { messageId, payload } of messages)
        if (!known.has(messageId)) sent.push({ messageId, ...JSON.parse(payload) });
      for (const { messageId } of messages) known.add(messageId);
      if (fails === "after") throw new Error("no answer");
    },
    lastPublished: async () => known.size,
    onNotified: () => {},
    onPosition: () => {},
    logger: silentLogger,
    now: () => new Date(time),
  });
  const happenedSoFar: StoredMessage[] = [];
  const log = { lastSequence: async () => sequence };
  const happened = (type: string, timestamp: string, metadata: object, members = {}): StoredMessage => {
    sequence++;
    const message = messageOf(sequence, {
      receivedAt: new Date(time).toISOString(),
      event: {
        event_id: `evt_${sequence}`,
        event_type: type,
        timestamp,
        asset_id: "a.b",
        legal_bases: ["pipa_37_2_kr"],
        metadata,
        ...members,
      },
    });
    happenedSoFar.push(message);
    return message;
  };
  const commit = async (
    projections: readonly Projection[],
    messages: readonly StoredMessage[],
    { moved = projections, letters = [] }: { moved?: typeof projections; letters?: DeadLetter[] } = {},
  ) => {
    const outcome = await applyBatch({ projections, messages, load: views.load, now: "" });
    const [from, to] = [(messages[0]?.sequence ?? 0) - 1, messages.at(-1)?.sequence ?? 0];
    const deadLetters = [...outcome.deadLetters, ...letters];
    const result = await views.commit({ views: moved, from, to, ...outcome, deadLetters });
    expect(result).toEqual({ kind: "committed" });
  };
  const project = (messages: readonly StoredMessage[]) => commit(MOVED, messages);
  const told = () => sent.splice(0).map(({ rule, transition, state }) => `${rule} ${transition} ${state}`);
  return {
    views,
    another: () => database.connect(),
    dependencies,
    told,
    sent,
    setTime: (now: string) => {
      time = now;
    },
    /** Something was published before, but the views are lost. */
    wasTold: () => void known.add("earlier"),
    /** The next publishing fails, before or after the stream has stored the messages. */
    failNext: (when: typeof failing = "after") => {
      failing = when;
    },
    /** Sends and projects one event. */
    happens: async (type: string, timestamp: string, metadata: object, members?: object) => {
      await project([happened(type, timestamp, metadata, members)]);
    },
    /** Sends one event that the view of cases cannot take. */
    isRefusedByCases: async (type: string, timestamp: string, metadata: object) => {
      const message = happened(type, timestamp, metadata);
      const letter = letterOf(CASES.name, message, { code: "row_refused", detail: "no room", now: time });
      await commit([eventsProjection], [message], { moved: MOVED, letters: [letter] });
    },
    /** The register holds exactly these duties now, whatever events say. */
    holds: async (duties: readonly Row[]) => {
      sequence++;
      const upserts = duties.map((row): Write => ({ kind: "upsert", table: OBLIGATIONS, row }));
      const writes = [...upserts, ...agendaChanges("acme", upserts, sequence)];
      const moved = { views: MOVED, from: sequence - 1, to: sequence, writes, deadLetters: [] };
      expect(await views.commit(moved)).toEqual({ kind: "committed" });
    },
    replay: (letter: number) =>
      replayLetter({ log: createArrayLog(happenedSoFar), views, now: () => new Date(time) }, MOVED, {
        projection: CASES.name,
        sequence: letter,
      }),
    rebuildCases: async (by = views) => {
      const clock = (): Date => new Date(time);
      const dependencies = {
        log: createArrayLog(happenedSoFar),
        views: by,
        clock,
      };
      const onProgress = (): void => {};
      const { signal } = new AbortController();
      return await rebuildView({ ...dependencies, onProgress }, CASES, signal);
    },
    /** Sends several events; only `projectAll` projects them. */
    happenUnseen: (type: string, timestamp: string, metadata: readonly object[], members?: object) => {
      for (const each of metadata) happened(type, timestamp, each, members);
    },
    /** As with an older copy of the log that was restored. */
    logEndsAt: (end: number) => {
      sequence = end;
      happenedSoFar.splice(end);
    },
    /** Projects everything, as into views that were empty. */
    projectAll: async () => {
      for (const message of happenedSoFar) await project([message]);
    },
    /** Sends several events, and projects them in one group. */
    happenTogether: async (type: string, timestamp: string, metadata: readonly object[]) => {
      await project(metadata.map((each) => happened(type, timestamp, each)));
    },
    /** This program reads rows of an older version, while it builds its own. */
    upgrade: () => {
      version++;
    },
    /** As with another version of the program, whose rows of cases differ; the first `records` are projected again. */
    makeCasesAgain: async (records: number, cases = NEXT_CASES) => {
      expect(await views.open(cases)).toBe("rebuilt");
      version = cases.version;
      if (records > 0) await commit([cases], happenedSoFar.slice(0, records));
    },
    ruleBy: (other: Rules) => {
      rules = other;
    },
    catchUpWithCases: async (records: number, cases = NEXT_CASES) =>
      commit([cases], happenedSoFar.slice(records)),
    at: async (now: string) => {
      time = now;
      expect(await notify(dependencies(), new AbortController().signal)).toBe("done");
      return told();
    },
    [Symbol.asyncDispose]: async () => {
      await views.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

const received = { objection_id: "o1", decision_id: "d1", objection_type: "explanation_request" };

/** What puts a duty into each state on 18 April 2026, and another time at which it may be due in that state. */
const DUTY_IN = {
  open: { status: "open", due_at: "2026-05-01T23:59:59", other: "2026-05-02T23:59:59" },
  extended: { status: "open", due_at: "2026-05-01T23:59:59", other: "2026-05-02T23:59:59" },
  due_soon: { status: "open", due_at: "2026-04-20T23:59:59", other: "2026-04-21T23:59:59" },
  overdue: { status: "open", due_at: "2026-04-17T23:59:59", other: "2026-04-16T23:59:59" },
  breached: { status: "breached", due_at: "2026-04-17T10:00:00", other: "2026-04-16T10:00:00" },
  waived: { status: "waived", due_at: "2026-04-17T23:59:59", other: "2026-04-16T23:59:59" },
  met: { status: "met", due_at: "2026-04-20T23:59:59", other: "2026-04-21T23:59:59" },
  met_late: { status: "met_late", due_at: "2026-04-17T23:59:59", other: "2026-04-16T23:59:59" },
} as const satisfies Readonly<Record<ObligationState, object>>;

const dutyIn = (id: string, state: ObligationState, isOther = false): Row => {
  const { status, due_at, other } = DUTY_IN[state];
  const isMet = status === "met" || status === "met_late";
  return {
    tenant: "acme",
    obligation_id: id,
    rule: "HR-CLOSE",
    law: "policy",
    asset_id: "a.b",
    subject_hash: null,
    decision_id: null,
    objection_id: null,
    incident_id: null,
    started_at: "2026-04-01T00:00:00",
    started_recorded_at: "2026-04-01T00:00:00",
    started_by: "evt_1",
    started_sequence: 1,
    due_at: isOther ? other : due_at,
    earliest_decision_at: null,
    extensions: state === "extended" ? 1 : 0,
    extended_recorded_at: null,
    stopped_at: isMet ? "2026-04-18T00:00:00" : null,
    stopped_recorded_at: isMet ? "2026-04-18T00:00:00" : null,
    stopped_by: isMet ? "evt_2" : null,
    stopped_sequence: isMet ? 2 : null,
    recorded_late: 0,
    waived_at: null,
    waived_by: null,
    waived_reason: null,
    waived_sequence: null,
    status,
  };
};

export const dutiesSuite = (name: string, create: CreateDatabase): void =>
  describe(`notifications of obligations in ${name}`, () => {
    /** A person has objected, after the first look. */
    const objected = async () => {
      const at = await setUp(create);
      await at.at("2026-04-18T08:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      return at;
    };

    test("a duty is announced when it opens, when it falls due, when it is missed and when it is met late; never twice", async () => {
      await using at = await objected();
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

    test("each pair of last announced and current state is announced as streams/README.md says", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      const [head = [], ...rows] = table("streams/README.md", "told last");
      expect(head.slice(1)).toEqual([...OBLIGATION_STATES]);
      expect(rows.map(([last]) => last)).toEqual([
        "nothing",
        ...OBLIGATION_STATES,
        "the same with another due_at",
      ]);
      const cells = rows.flatMap(([last, ...said]) =>
        OBLIGATION_STATES.map((now, index) => ({
          id: `${last} ${now}`,
          last:
            last === "the same with another due_at" ? now : OBLIGATION_STATES.find((each) => each === last),
          now,
          isOther: last === "the same with another due_at",
          said: (said[index] ?? "").split(", ").filter((transition) => transition !== ""),
        })),
      );
      await at.holds(cells.flatMap(({ id, last }) => (last === undefined ? [] : [dutyIn(id, last)])));
      await at.at("2026-04-18T10:00:00Z");
      await at.holds(cells.map(({ id, now, isOther }) => dutyIn(id, now, isOther)));
      at.setTime("2026-04-18T11:00:00Z");
      expect(await notify(at.dependencies(), new AbortController().signal)).toBe("done");
      const told = at.sent;
      for (const { id, now, said } of cells)
        expect({ id, told: told.filter((each) => each.obligation_id === id) }).toMatchObject({
          id,
          told: said.map((transition) => ({ transition, state: now })),
        });
      expect(told).toHaveLength(cells.flatMap(({ said }) => said).length);
    });

    test("an extension that came after the due time is announced as a late record, and so is what it let be met", async () => {
      await using at = await objected();
      await at.at("2026-06-01T00:00:00Z");
      await at.happens("objection.acknowledged", "2026-05-10T09:00:00Z", {
        ...received,
        extension_days: 30,
        reason: "many",
      });
      expect(await at.at("2026-06-01T01:00:00Z")).toContain("PIPA-EXPL late_record extended");
      await at.happens("decision.explanation_provided", "2026-06-01T02:00:00Z", { decision_id: "d1" });
      expect(await at.at("2026-06-01T03:00:00Z")).toEqual(["PIPA-EXPL late_record met"]);
    });

    test("an obligation that waits for a decision does not fall due, and is announced as met or breached with it", async () => {
      await using at = await setUp(create);
      const law = { legal_bases: ["nyc_ll144"] };
      await at.at("2026-04-01T09:00:00Z");
      for (const decision_id of ["d1", "d2"])
        await at.happens("transparency.notice_shown", "2026-04-01T15:00:00Z", { decision_id }, law);
      expect(await at.at("2026-04-01T16:00:00Z")).toEqual([
        "LL144-NOTICE open open",
        "LL144-NOTICE open open",
      ]);
      // The tool may be used from 15 April on.
      for (const now of ["2026-04-10T00:00:00Z", "2026-04-16T00:00:00Z", "2026-06-01T00:00:00Z"])
        expect(await at.at(now)).toEqual([]);
      const made = "decision.automated_decision_made";
      await at.happens(made, "2026-06-01T00:00:00Z", { decision_id: "d1" }, law);
      expect(await at.at("2026-06-01T01:00:00Z")).toEqual(["LL144-NOTICE met met"]);
      await at.happens(made, "2026-04-14T15:00:00Z", { decision_id: "d2" }, law);
      expect(await at.at("2026-06-01T02:00:00Z")).toEqual(["LL144-NOTICE breached breached"]);
    });

    test("if the operator sets other limits, duties follow them as soon as cases are rebuilt", async () => {
      await using at = await objected();
      await at.at("2026-04-18T10:00:00Z");
      const read = readRules('{"rules":{"PIPA-EXPL":{"limit":{"count":10,"unit":"days"}}}}');
      if (read.kind !== "rules") throw new Error("the limits are valid");
      at.ruleBy(read.rules);
      await at.makeCasesAgain(1, casesProjection(read.rules, read.version));
      expect(await at.at("2026-04-20T10:00:00Z")).toEqual(["PIPA-EXPL open open"]);
      expect(await at.at("2026-04-28T15:00:01Z")).toContain("PIPA-EXPL late overdue");
    });

    test("after a change of version or limits, duties that began before the first look are announced in time, and late ones when an event changes them", async () => {
      await using at = await setUp(create);
      const began = ["2026-04-01T09:00:00Z", "2026-04-12T09:00:00Z", "2026-04-17T09:00:00Z"];
      for (const [index, timestamp] of began.entries())
        await at.happens("decision.human_review_triggered", timestamp, { decision_id: `d${index}` });
      // The views were lost: what the log holds by the first look is the past.
      at.wasTold();
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      await at.makeCasesAgain(0);
      await at.catchUpWithCases(0);
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual([]);
      expect(await at.at("2026-04-21T00:00:01Z")).toEqual([
        "HR-CLOSE open due_soon",
        "HR-CLOSE due due_soon",
      ]);
      expect(await at.at("2026-04-23T00:00:00Z")).toEqual(["HR-CLOSE open overdue", "HR-CLOSE late overdue"]);
      expect(await at.at("2026-04-28T00:00:00Z")).toEqual(["HR-CLOSE late overdue"]);
    });

    test("while the stream of duties does not answer, each try fails for one reason, which is told once a minute", async () => {
      await using at = await setUp(create);
      const ending = new AbortController();
      const told: unknown[] = [];
      let tries = 0;
      const lastPublished = () => {
        if (++tries === 3) ending.abort();
        return Promise.reject(new Error("no answer"));
      };
      const logger = {
        ...silentLogger,
        warn: (message: string, fields: unknown) => void told.push([message, fields]),
      };
      const { signal } = ending;
      await keepNotifying({ ...at.dependencies(), lastPublished, logger }, { logEnd: undefined, signal });
      expect([tries, told]).toEqual([
        3,
        [["publishing obligation changes failed; trying again", { detail: "Error: no answer" }]],
      ]);
    });

    test("if many duties change in one commit, each is announced once, with its own transitions in order", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      const count = NOTIFIED_DUTIES + 7;
      const many = Array.from({ length: count }, (_, index) => ({
        objection_id: `o${index}`,
        decision_id: `d${index}`,
        objection_type: "explanation_request",
      }));
      await at.happenTogether("objection.received", "2026-04-18T09:00:00Z", many);
      const counts = new Map<string, number>();
      for (const each of await at.at("2026-04-18T10:00:00Z")) counts.set(each, (counts.get(each) ?? 0) + 1);
      expect(Object.fromEntries(counts)).toEqual({
        "OBJ-ACK open due_soon": count,
        "OBJ-ACK due due_soon": count,
        "PIPA-EXPL open open": count,
      });
      expect(await at.at("2026-04-18T10:00:01Z")).toEqual([]);
      // As many due times pass at once.
      expect(await at.at("2026-05-11T14:59:00Z")).toHaveLength(count);
      expect(await at.at("2026-05-11T14:59:01Z")).toEqual([]);
    });

    test("from rows of an older version nothing is published, even when the time comes", async () => {
      await using at = await objected();
      await at.at("2026-04-18T10:00:00Z");
      at.upgrade();
      expect(await at.at("2026-05-18T15:00:01Z")).toEqual([]);
    });

    test("if cases were rebuilt, duties that fall due wait for their case", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", {
        objection_id: "o0",
        decision_id: "d0",
      });
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.at("2026-04-18T10:00:00Z");
      await at.makeCasesAgain(1);
      expect(await at.at("2026-05-18T15:00:01Z")).toEqual([]);
      await at.catchUpWithCases(1);
      expect(await at.at("2026-05-18T15:00:02Z")).toContain("PIPA-EXPL late overdue");
    });

    test.each([0, 1])(
      "if cases are rebuilt during a look, the look announces nothing from rows that lack later records, %i records in",
      async (records) => {
        await using at = await setUp(create);
        await at.at("2026-04-18T09:00:00Z");
        const first = { ...received, objection_id: "o0", decision_id: "d0" };
        await at.happens("objection.received", "2026-04-18T09:00:00Z", first);
        await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
        const longer = { ...first, extension_days: 30, reason: "many" };
        await at.happens("objection.acknowledged", "2026-04-20T09:00:00Z", longer);
        await at.at("2026-04-20T10:00:00Z");
        const upgraded: ViewStore = {
          ...at.views,
          load: async (table, ...asked) => {
            const rows = await at.views.load(table, ...asked);
            if (table.name === "views") await at.makeCasesAgain(records);
            return rows;
          },
        };
        at.setTime("2026-06-12T00:00:00Z");
        await notify(at.dependencies(upgraded), new AbortController().signal);
        expect(at.told()).toEqual([]);
        await at.catchUpWithCases(records);
        expect((await at.at("2026-06-12T00:00:01Z")).sort()).toEqual([
          "OBJ-ACK late overdue",
          "PIPA-EXPL due due_soon",
          "PIPA-EXPL late overdue",
        ]);
      },
    );

    test("a duty from a replayed dead letter is announced, and falls due in time", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.isRefusedByCases("objection.received", "2026-04-18T09:00:00Z", received);
      await at.happens("decision.explanation_provided", "2026-04-18T09:00:00Z", { decision_id: "d2" });
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      expect(await at.replay(1)).toEqual({ kind: "taken" });
      expect((await at.at("2026-04-18T11:00:00Z")).sort()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
      expect(await at.at("2026-05-18T15:00:01Z")).toContain("PIPA-EXPL late overdue");
    });

    test("dead letters that a rebuilt view has taken correct duties at once, and begin new ones when their time comes", async () => {
      await using at = await objected();
      await at.isRefusedByCases("decision.explanation_provided", "2026-04-18T09:30:00Z", {
        decision_id: "d1",
      });
      await at.isRefusedByCases("decision.human_review_triggered", "2026-04-18T09:40:00Z", {
        decision_id: "d2",
      });
      expect(await at.at("2026-04-18T10:00:00Z")).toHaveLength(3);
      expect(await at.rebuildCases()).toMatchObject({ kind: "replaced" });
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual(["PIPA-EXPL met met"]);
      expect(await at.rebuildCases()).toMatchObject({ kind: "replaced" });
      expect(await at.at("2026-04-18T12:00:00Z")).toEqual([]);
      expect(await at.at("2026-04-22T00:00:01Z")).toEqual([
        "HR-CLOSE open due_soon",
        "HR-CLOSE due due_soon",
      ]);
    });

    test("an obligation that is breached in a leap second is announced, and so are later ones", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T08:00:00Z");
      const law = { legal_bases: ["nyc_ll144"] };
      await at.happens("decision.automated_decision_made", "2030-12-31T23:59:60Z", {}, law);
      await at.happens("objection.received", "2026-04-18T09:00:00Z", {});
      const told = await at.at("2026-04-18T10:00:00Z");
      expect(told).toContain("LL144-NOTICE breached breached");
      expect(told).toContain("OBJ-ACK open due_soon");
    });

    test("if all views are rebuilt, a duty that is still open falls due in time", async () => {
      await using at = await setUp(create);
      at.wasTold();
      at.happenUnseen("objection.received", "2026-04-18T09:00:00Z", [received]);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      await at.projectAll();
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual([]);
      expect(await at.at("2026-05-18T15:00:01Z")).toContain("PIPA-EXPL late overdue");
    });

    test("if all views are rebuilt, a duty that begins between the start and the first look is announced", async () => {
      await using at = await setUp(create);
      at.wasTold();
      at.happenUnseen("objection.received", "2026-04-18T09:00:00Z", [received]);
      const pastEnd = await at.dependencies().log.lastSequence();
      await at.projectAll();
      const other = { ...received, objection_id: "o2", decision_id: "d2" };
      await at.happens("objection.received", "2026-04-18T09:30:00Z", other);
      at.setTime("2026-04-18T10:00:00Z");
      await notify(at.dependencies(), new AbortController().signal, pastEnd);
      expect(at.told().toSorted()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
    });

    test("if the log lost its end and cases were rebuilt, new duties are announced from there on, and older ones fall due in time", async () => {
      await using at = await objected();
      for (const decision_id of ["d2", "d3"])
        await at.happens("decision.explanation_provided", "2026-04-18T09:00:00Z", { decision_id });
      expect(await at.at("2026-04-18T10:00:00Z")).toHaveLength(3);
      at.logEndsAt(1);
      await at.makeCasesAgain(1);
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual([]);
      const other = { ...received, objection_id: "o2", decision_id: "d2" };
      at.happenUnseen("objection.received", "2026-04-18T11:00:00Z", [other]);
      await at.catchUpWithCases(1);
      expect(await at.at("2026-04-18T12:00:00Z")).toContain("PIPA-EXPL open open");
      const late = (await at.at("2026-05-18T15:00:01Z")).filter((said) => said === "PIPA-EXPL late overdue");
      expect(late).toHaveLength(2);
    });

    test("a duty whose case has expired is not announced, even when its time comes", async () => {
      await using at = await objected();
      expect(await at.at("2026-04-18T10:00:00Z")).toContain("PIPA-EXPL open open");
      const gone = await casesExpiring(at.views, {
        tenant: "acme",
        events: new Map(["objection:o1", "decision:d1"].map((node) => [node, new Set(["evt_1"])])),
        rules: STANDARD_RULES,
        isHeld: () => false,
      });
      expect(await at.views.revise({ views: [CASES], ...gone })).toEqual({ kind: "revised" });
      expect(await at.at("2026-05-18T15:00:01Z")).toEqual([]);
      expect(await at.at("2026-06-20T00:00:00Z")).toEqual([]);
    });

    test("what v0.1.0 announced is not published again by a newer version, and falls due in time", async () => {
      await using at = await setUp(create);
      const boundaries = { ...NOTIFIED, name: "obligation_boundaries" };
      await at.views.open({ ...NOTIFIED_VIEW, tables: [NOTIFIED, boundaries] });
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      const rows = [
        { obligation_id: "OBJ-ACK:evt_1", state: "due_soon", due_at: "2026-05-11T14:58:59" },
        { obligation_id: "PIPA-EXPL:evt_1", state: "open", due_at: "2026-05-18T14:59:59" },
      ];
      const writes = rows.map(
        (row): Write => ({ kind: "upsert", table: NOTIFIED, row: { tenant: "acme", ...row } }),
      );
      await at.views.commit({ views: [NOTIFIED_VIEW], from: 0, to: 1, writes, deadLetters: [] });
      expect((await at.at("2026-04-18T11:00:00Z")).filter((said) => said.startsWith("PIPA"))).toEqual([]);
      expect(await at.at("2026-06-01T00:00:00Z")).toContain("PIPA-EXPL late overdue");
    });

    // 1. Kill a notifier before one of its calls to the database or the stream, and after that call. 2. Let an event change the obligation back.
    // 3. Let another notifier go on. 4. Each message is stored once, and the newest one is right.
    test.each(
      (["commit", "publish", "revise"] as const).flatMap((step) =>
        (["before", "after"] as const).flatMap((when) => [
          [step, when, false] as const,
          [step, when, true] as const,
        ]),
      ),
    )(
      "killed at %s, %s it: nothing is lost or stored twice; changed back meanwhile: %p",
      async (step, when, isChanged) => {
        await using at = await setUp(create);
        const stream: Sent[] = [];
        const { signal } = new AbortController();
        await at.at("2026-04-18T09:00:00Z");
        const open = dutyIn("d", "open");
        await at.holds([open]);
        expect(await at.at("2026-04-18T09:00:01Z")).toEqual(["HR-CLOSE open open"]);
        await at.holds([{ ...dutyIn("d", "met"), due_at: DUTY_IN.open.due_at }]);
        at.setTime("2026-04-18T09:00:02Z");
        if (step === "publish") at.failNext(when);
        const killed = async <Result>(call: () => Promise<Result>): Promise<Result> => {
          if (when === "after") await call();
          throw new Error("no answer");
        };
        const views: ViewStore = {
          ...at.views,
          ...(step === "commit" && { commit: (moving) => killed(() => at.views.commit(moving)) }),
          ...(step === "revise" && { revise: (revision) => killed(() => at.views.revise(revision)) }),
        };
        await expect(notify(at.dependencies(views), signal)).rejects.toThrow("no answer");
        if (isChanged) await at.holds([open]);
        await using other = at.another();
        at.setTime("2026-04-18T09:00:03Z");
        expect(await notify(at.dependencies(other), signal)).toBe("done");
        stream.push(...at.sent.splice(0));
        const isUnseen = isChanged && step === "commit" && when === "before";
        const said = stream.map(({ transition, state }) => `${transition} ${state}`);
        expect(said).toEqual(isUnseen ? [] : ["met met", ...(isChanged ? ["open open"] : [])]);
        expect(await at.at("2026-04-18T09:00:04Z")).toEqual([]);
      },
    );

    test("a notifier that was paused while it published deletes no newer message of another", async () => {
      await using at = await setUp(create);
      await using other = at.another();
      const { signal } = new AbortController();
      await at.at("2026-04-18T09:00:00Z");
      await at.holds([dutyIn("d", "open")]);
      const paused = at.dependencies(other);
      const publish = async (messages: readonly DutyMessage[]): Promise<void> => {
        await paused.publish(messages);
        expect(await at.at("2026-04-18T09:00:01Z")).toEqual(["HR-CLOSE open open"]);
        await at.holds([{ ...dutyIn("d", "met"), due_at: DUTY_IN.open.due_at }]);
        at.setTime("2026-04-18T09:00:02Z");
        at.failNext("before");
        await expect(notify(at.dependencies(), signal)).rejects.toThrow("no answer");
      };
      expect(await notify({ ...paused, publish }, signal)).toBe("outdated");
      expect(await at.at("2026-04-18T09:00:03Z")).toEqual(["HR-CLOSE met met"]);
    });

    test("of two notifiers at once each message is stored once, and none is lost", async () => {
      await using at = await setUp(create);
      await using other = at.another();
      const { signal } = new AbortController();
      await at.at("2026-04-18T09:00:00Z");
      for (let round = 0; round < 10; round++) {
        const states = round % 2 === 0 ? (["open", "met"] as const) : (["met", "open"] as const);
        await at.holds([dutyIn("one", states[0]), dutyIn("two", states[1])]);
        at.setTime(`2026-04-18T10:00:0${round}Z`);
        await Promise.all([notify(at.dependencies(), signal), notify(at.dependencies(other), signal)]);
      }
      await notify(at.dependencies(), signal);
      const saidOf = (id: string) =>
        at.sent.filter((each) => each.obligation_id === id).map(({ transition }) => transition);
      const turns = Array.from({ length: 5 }, () => ["open", "met"]).flat();
      expect(saidOf("one")).toEqual(turns);
      expect(saidOf("two")).toEqual(["open", ...turns.slice(1), "open"]);
    });

    test("if nothing was ever published, what the log held before the first look is published", async () => {
      await using at = await setUp(create);
      at.happenUnseen("objection.received", "2026-04-18T09:00:00Z", [received]);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      await at.projectAll();
      expect(await at.at("2026-04-18T10:00:01Z")).toContain("PIPA-EXPL open open");
    });
  });
