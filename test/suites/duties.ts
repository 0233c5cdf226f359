/** What the announcer publishes, with a clock that the test sets. Each database runs it. */
import { describe, expect, test } from "bun:test";
import type { Rules } from "../../src/law/obligations/obligation.ts";
import { readRules, STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { OBLIGATION_STATES, type ObligationState } from "../../src/law/obligations/state.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { announce, keepAnnouncing } from "../../src/views/announcements/announcer.ts";
import {
  ANNOUNCEMENT_NOTES,
  ANNOUNCEMENTS,
  BEGUN,
  TELLINGS,
  TOLD,
  TOLD_FROM_KEY,
  TOLD_FROM_LOG_KEY,
  TOLD_VERSION,
} from "../../src/views/announcements/tables.ts";
import type { Announcement } from "../../src/views/announcements/telling.ts";
import { dutyChanges } from "../../src/views/cases/duty-changes.ts";
import { casesProjection } from "../../src/views/cases/evolve.ts";
import { casesExpiring } from "../../src/views/cases/expiry.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { evolveGroup, refusedLetter } from "../../src/views/kit/evolve-group.ts";
import { ANNOUNCE_DUTIES } from "../../src/views/kit/limits.ts";
import type { Projection } from "../../src/views/kit/projection.ts";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { replayLetter } from "../../src/views/kit/replay.ts";
import type { RowOf } from "../../src/views/store/tables.ts";
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

/** Views, and an announcer whose clock the test sets. */
const setUp = async (create: CreateDatabase) => {
  const database = await create(MOVED);
  const views = database.connect();
  for (const projection of MOVED) await views.open(projection);
  const sent: Announcement[] = [];
  let time = "2026-04-18T10:00:00Z";
  let sequence = 0;
  let failures = 0;
  let hasPublished = false;
  let rules = STANDARD_RULES;
  const dependencies = (from = views) => ({
    views: from,
    log,
    rules,
    publish: async (announcements: readonly Announcement[]) => {
      hasPublished = true;
      sent.push(...announcements);
      if (failures-- > 0) throw new Error("no answer");
      return "stored" as const;
    },
    lastPublished: async () => (hasPublished ? 1 : 0),
    onAnnounced: () => {},
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
    const outcome = await evolveGroup({ projections, messages, load: views.load, now: "" });
    const [from, to] = [(messages[0]?.sequence ?? 0) - 1, messages.at(-1)?.sequence ?? 0];
    const deadLetters = [...outcome.deadLetters, ...letters];
    const result = await views.commit({ views: moved, from, to, ...outcome, deadLetters });
    expect(result).toEqual({ kind: "committed" });
  };
  const project = (messages: readonly StoredMessage[]) => commit(MOVED, messages);
  const told = () =>
    sent.splice(0).map(({ rule, transition, payload }) => `${rule} ${transition} ${payload.state}`);
  return {
    views,
    another: () => database.connect(),
    dependencies,
    told,
    sent,
    setTime: (now: string) => {
      time = now;
    },
    /** An announcer published before, but its views are lost. */
    wasTold: () => {
      hasPublished = true;
    },
    failNext: () => {
      failures = 1;
    },
    /** Sends and projects one event. */
    happens: async (type: string, timestamp: string, metadata: object, members?: object) => {
      await project([happened(type, timestamp, metadata, members)]);
    },
    /** Sends one event that the view of cases cannot take. */
    isRefusedByCases: async (type: string, timestamp: string, metadata: object) => {
      const message = happened(type, timestamp, metadata);
      const letter = refusedLetter(CASES.name, message, "no room", time);
      await commit([eventsProjection], [message], { moved: MOVED, letters: [letter] });
    },
    /** The register holds exactly these duties now, whatever events say. */
    holds: async (duties: readonly RowOf<typeof OBLIGATIONS>[]) => {
      sequence++;
      const upserts = duties.map((row): Write => ({ kind: "upsert", table: OBLIGATIONS, row }));
      const writes = [...upserts, ...dutyChanges("acme", upserts, sequence)];
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
        leader: eventsProjection.name,
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
    /** As with another version of the program, whose rows of cases differ; the first `records` are projected again. */
    makeCasesAgain: async (records: number, cases = NEXT_CASES) => {
      expect(await views.open(cases)).toBe("made_again");
      if (records > 0) await commit([cases], happenedSoFar.slice(0, records));
    },
    ruleBy: (other: Rules) => {
      rules = other;
    },
    catchUpWithCases: async (records: number, cases = NEXT_CASES) =>
      commit([cases], happenedSoFar.slice(records)),
    /** While the stream of duties does not answer. */
    looksInVain: async () => {
      const silent = { ...dependencies(), lastPublished: () => Promise.reject(new Error("no answer")) };
      await expect(announce(silent, new AbortController().signal)).rejects.toThrow("no answer");
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

const dutyIn = (id: string, state: ObligationState, isOther = false): RowOf<typeof OBLIGATIONS> => {
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
  describe(`announcements of duties in ${name}`, () => {
    test("a duty is announced when it opens, when it falls due, when it is missed and when it is met late; never twice", async () => {
      await using at = await setUp(create);
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
      expect(await announce(at.dependencies(), new AbortController().signal)).toBe("told");
      const told = at.sent.map(({ payload }) => payload);
      for (const { id, now, said } of cells)
        expect({ id, told: told.filter((each) => each.obligation_id === id) }).toMatchObject({
          id,
          told: said.map((transition) => ({ transition, state: now })),
        });
      expect(told).toHaveLength(cells.flatMap(({ said }) => said).length);
    });

    test("a late event corrects an earlier announcement", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.at("2026-06-01T00:00:00Z");
      await at.happens("decision.explanation_provided", "2026-04-20T09:00:00Z", { decision_id: "d1" });
      // Whoever acted on the first message must see that nothing was in the log when it was due.
      expect(await at.at("2026-06-01T01:00:00Z")).toEqual(["PIPA-EXPL late_record met"]);
    });

    test("an extension that came after the due time is announced as a late record, and so is what it let be met", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
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

    test("a duty that returns to an earlier state is announced again, even within the stream's deduplication window", async () => {
      await using at = await setUp(create);
      const law = { legal_bases: ["colorado_sb26_189"], correlation_id: "c" };
      const denied = { outcome: "denied" };
      await at.at("2027-01-20T09:00:00Z");
      await at.happens("decision.automated_decision_made", "2027-01-10T09:00:00Z", denied, law);
      await at.happens("decision.explanation_provided", "2027-01-12T09:00:00Z", {}, law);
      const ids: string[] = [];
      const look = async (now: string): Promise<readonly string[]> => {
        at.setTime(now);
        await announce(at.dependencies(), new AbortController().signal);
        for (const { messageId } of at.sent) ids.push(messageId);
        return at.told();
      };
      expect(await look("2027-01-20T10:00:00Z")).toEqual(["CO-ADVERSE open met", "CO-ADVERSE met met"]);
      // With a second decision under the correlation nothing says which of them was explained.
      await at.happens("decision.automated_decision_made", "2027-01-11T09:00:00Z", denied, law);
      expect(await look("2027-01-20T10:01:00Z")).toContain("CO-ADVERSE open open");
      await at.happens(
        "decision.explanation_provided",
        "2027-01-10T10:00:00Z",
        { decision_id: "evt_1" },
        law,
      );
      expect(await look("2027-01-20T10:02:00Z")).toEqual(["CO-ADVERSE met met"]);
      expect(new Set(ids).size).toBe(ids.length);
    });

    test("a duty that an older version announced is not announced again, and falls due in time", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.at("2026-04-18T10:00:00Z");
      await at.views.drop(ANNOUNCEMENT_NOTES.name);
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual([]);
      expect(await at.at("2026-06-01T00:00:00Z")).toContain("PIPA-EXPL late overdue");
    });

    test("if the operator sets other limits, duties follow them as soon as cases are rebuilt", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
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
      // The first look: until then nothing was announced.
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

    test("if a new version of the program has another limit, duties follow it as soon as cases are rebuilt", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.happens("decision.explanation_provided", "2026-05-04T09:00:00Z", { decision_id: "d1" });
      expect(await at.at("2026-05-05T10:00:00Z")).toContain("PIPA-EXPL met met");
      const read = readRules('{"rules":{"PIPA-EXPL":{"limit":{"count":10,"unit":"days"}}}}');
      if (read.kind !== "rules") throw new Error("the limits are valid");
      const next = { ...casesProjection(read.rules, 0), version: CASES.version + 1 };
      await at.makeCasesAgain(1, next);
      expect(await at.at("2026-05-05T11:00:00Z")).toEqual([]);
      await at.catchUpWithCases(1, next);
      expect(await at.at("2026-05-05T12:00:00Z")).toEqual(["PIPA-EXPL late met_late"]);
      expect(await at.at("2026-05-05T13:00:00Z")).toEqual([]);
    });

    test("a duty with an extended limit is announced as open again, until another time", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.at("2026-05-15T00:00:00Z");
      const told = { objection_id: "o1", extension_days: 30, reason: "many" };
      await at.happens("objection.acknowledged", "2026-05-15T00:00:00Z", told);
      expect(await at.at("2026-05-15T01:00:00Z")).toContain("PIPA-EXPL open extended");
    });

    test("a late duty is announced again when its limit turns out to have been extended", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      expect(await at.at("2026-08-01T00:00:00Z")).toContain("PIPA-EXPL late overdue");
      const told = { objection_id: "o1", extension_days: 30, reason: "many" };
      await at.happens("objection.escalated", "2026-05-15T00:00:00Z", told);
      expect(await at.at("2026-08-01T01:00:00Z")).toEqual(["PIPA-EXPL late overdue"]);
      expect(await at.at("2026-08-01T02:00:00Z")).toEqual([]);
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
      await keepAnnouncing({ ...at.dependencies(), lastPublished, logger }, { logEnd: undefined, signal });
      expect([tries, told]).toEqual([
        3,
        [["changes of obligations were not announced, trying again", { detail: "Error: no answer" }]],
      ]);
    });

    test("an announcement that was published but not recorded is published again with the same id", async () => {
      await using at = await setUp(create);
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

    test("an announcement that was published but not recorded opens the duty once, even if it is met before the next look", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("decision.human_review_triggered", "2026-04-18T09:30:00Z", { decision_id: "d1" });
      at.failNext();
      const signal = new AbortController().signal;
      await expect(announce(at.dependencies(), signal)).rejects.toThrow("no answer");
      const [opened] = at.sent.splice(0);
      await at.happens("decision.human_review_completed", "2026-04-18T09:45:00Z", { decision_id: "d1" });
      await announce(at.dependencies(), signal);
      expect(at.sent.map(({ transition }) => transition)).toEqual(["open", "met"]);
      expect(at.sent[0]?.messageId).toBe(opened?.messageId ?? "");
      expect(at.sent[1]?.messageId).not.toBe(opened?.messageId ?? "");
    });

    test.each([false, true])(
      "the newest message is right even if no announcement was recorded while the state changed and changed back; already open: %p",
      async (isKnown) => {
        await using at = await setUp(create);
        const law = { legal_bases: ["colorado_sb26_189"], correlation_id: "c" };
        const decided = "decision.automated_decision_made";
        const explained = "decision.explanation_provided";
        const denied = { outcome: "denied" };
        const signal = new AbortController().signal;
        // Like the stream: a message with a known id is not stored.
        const stored = new Map<string, Announcement>();
        const look = async (isRecorded: boolean) => {
          if (!isRecorded) at.failNext();
          const told = announce(at.dependencies(), signal);
          if (isRecorded) await told;
          else await expect(told).rejects.toThrow("no answer");
          for (const each of at.sent.splice(0))
            if (!stored.has(each.messageId)) stored.set(each.messageId, each);
          return [...stored.values()]
            .filter(({ payload }) => payload.obligation_id === "CO-ADVERSE:evt_1")
            .map(({ transition }) => transition);
        };
        await at.at("2027-01-20T09:00:00Z");
        await at.happens(decided, "2027-01-10T09:00:00Z", denied, law);
        if (isKnown) expect(await look(true)).toEqual(["open"]);
        await at.happens(explained, "2027-01-12T09:00:00Z", {}, law);
        expect(await look(false)).toEqual(["open", "met"]);
        // With a second decision under the correlation nothing says which of them was explained.
        await at.happens(decided, "2027-01-11T09:00:00Z", denied, law);
        expect(await look(false)).toEqual(["open", "met", "open"]);
        const other = { ...law, correlation_id: "d" };
        await at.happens(
          "transparency.result_labeled",
          "2027-01-10T09:10:00Z",
          { decision_id: "evt_1" },
          other,
        );
        await at.happens(explained, "2027-01-10T10:00:00Z", {}, other);
        expect(await look(false)).toEqual(["open", "met", "open", "met"]);
        await at.happens(decided, "2027-01-10T09:30:00Z", denied, other);
        expect(await look(false)).toEqual(["open", "met", "open", "met", "open"]);
        expect(await look(false)).toEqual(["open", "met", "open", "met", "open"]);
        expect(await look(true)).toEqual(["open", "met", "open", "met", "open"]);
        expect(await at.at("2027-01-20T09:00:01Z")).toEqual([]);
      },
    );

    test("of two announcers one records, and the other publishes the same with the same ids", async () => {
      await using at = await setUp(create);
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

    test.each(["publishing", "reading"])(
      "an announcer that was paused while %s publishes nothing behind later announcements of another",
      async (pausedWhile) => {
        await using at = await setUp(create);
        await at.at("2026-04-18T09:00:00Z");
        await at.happens("decision.human_review_triggered", "2026-04-18T09:30:00Z", { decision_id: "d1" });
        await using other = at.another();
        const { signal } = new AbortController();
        const stream: Announcement[] = [];
        const dependencies = (views: ViewStore, before = async () => {}) => ({
          ...at.dependencies(views),
          lastPublished: async () => stream.length,
          publish: async (announcements: readonly Announcement[], after: number) => {
            await before();
            if (after !== stream.length) return "overtaken" as const;
            stream.push(...announcements);
            return "stored" as const;
          },
        });
        // Begun, but not published: it may go out without another commit.
        const killed = dependencies(at.views, () => Promise.reject(new Error("killed")));
        await expect(announce(killed, signal)).rejects.toThrow("killed");
        let isPaused = false;
        const pause = async (): Promise<void> => {
          if (isPaused) return;
          isPaused = true;
          const members = { decision_id: "d1" };
          await at.happens("decision.human_review_completed", "2026-04-18T09:45:00Z", members);
          expect(await announce(dependencies(other), signal)).toBe("told");
        };
        const load: ViewStore["load"] = async (table, keys) => {
          const rows = await at.views.load(table, keys);
          if (pausedWhile === "reading" && table.name === TOLD.name) await pause();
          return rows;
        };
        const paused = dependencies({ ...at.views, load }, pausedWhile === "publishing" ? pause : undefined);
        expect(await announce(paused, signal)).not.toBe("told");
        expect(isPaused).toBe(true);
        expect(stream.map(({ transition }) => transition)).toEqual(["open", "met"]);
      },
    );

    test.each([BEGUN, TOLD, TELLINGS].flatMap(({ name }) => [[name, false] as const, [name, true] as const]))(
      "two announcers publish the same ids even if one records between two reads of the other: after %s, begun before: %p",
      async (table, isBegun) => {
        await using at = await setUp(create);
        await at.at("2026-04-18T09:00:00Z");
        await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
        await using other = at.another();
        const signal = new AbortController().signal;
        if (isBegun) {
          at.failNext();
          await expect(announce(at.dependencies(), signal)).rejects.toThrow("no answer");
        }
        let isStopped = false;
        const load: ViewStore["load"] = async (from, keys) => {
          const rows = await other.load(from, keys);
          if (from.name === table && !isStopped) {
            isStopped = true;
            expect(await announce(at.dependencies(), signal)).toBe("told");
          }
          return rows;
        };
        await announce(at.dependencies({ ...other, load }), signal);
        expect(isStopped).toBe(true);
        const ids = at.sent.splice(0).map(({ messageId }) => messageId);
        expect(new Set(ids).size).toBe(3);
      },
    );

    test("the last announcement shows the last state, even if a killed announcer published another while a second was about to begin", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await using other = at.another();
      const { signal } = new AbortController();
      const stream: Announcement[] = [];
      const publish = async (announcements: readonly Announcement[], after: number) => {
        let last = after;
        for (const each of announcements) {
          if (stream.some(({ messageId }) => messageId === each.messageId)) continue;
          if (stream.length !== last) return "overtaken" as const;
          last = stream.push(each);
        }
        return "stored" as const;
      };
      const dependencies = (views: ViewStore) => ({
        ...at.dependencies(views),
        lastPublished: async () => stream.length,
        publish,
      });
      const [sawMet, sawOpen, isKilled] = [0, 1, 2].map(() => Promise.withResolvers<void>());
      /** Commits when it is allowed to. */
      const held = (views: ViewStore, saw: typeof sawMet, goOn: typeof sawMet) =>
        dependencies({
          ...views,
          commit: async (moving) => {
            saw?.resolve();
            await goOn?.promise;
            return views.commit(moving);
          },
        });
      const open = dutyIn("d", "open");
      await at.holds([{ ...dutyIn("d", "met"), due_at: open.due_at }]);
      const first = held(at.views, sawMet, sawOpen);
      const killed = announce(
        {
          ...first,
          publish: async (...asked) => {
            await publish(...asked);
            throw new Error("killed");
          },
        },
        signal,
      );
      await sawMet?.promise;
      await at.holds([open]);
      const second = announce(held(other, sawOpen, isKilled), signal);
      await expect(killed).rejects.toThrow("killed");
      isKilled?.resolve();
      await second;
      expect(await announce(dependencies(other), signal)).toBe("told");
      expect(stream.map(({ transition, payload }) => `${transition} ${payload.state}`)).toEqual([
        "open met",
        "met met",
        "open open",
      ]);
    });

    test("an announcer that is overtaken records nothing, and publishes in the next look, behind the last message", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("decision.human_review_triggered", "2026-04-18T09:30:00Z", { decision_id: "d1" });
      const behind: number[] = [];
      const overtaken = {
        ...at.dependencies(),
        lastPublished: async () => 7,
        publish: async (_announcements: readonly Announcement[], after: number) => {
          behind.push(after);
          return "overtaken" as const;
        },
      };
      expect(await announce(overtaken, new AbortController().signal)).toBe("superseded");
      expect(behind).toEqual([7]);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual(["HR-CLOSE open open"]);
      // No begun announcement is left.
      expect(await at.views.load(BEGUN, [{ tenant: "acme", obligation_id: "HR-CLOSE:evt_1" }])).toEqual([]);
    });

    test.each([false, true])(
      "nothing is published if cases are rebuilt during the look; begun before: %p",
      async (isBegun) => {
        await using at = await setUp(create);
        await at.at("2026-04-18T09:00:00Z");
        await at.happens("decision.human_review_triggered", "2026-04-18T09:30:00Z", { decision_id: "d1" });
        const { signal } = new AbortController();
        if (isBegun) {
          at.failNext();
          await expect(announce(at.dependencies(), signal)).rejects.toThrow("no answer");
          at.sent.splice(0);
        }
        await using other = at.another();
        let isMade = false;
        const makeAgain = async (): Promise<void> => {
          if (!isMade) await at.makeCasesAgain(1);
          isMade = true;
        };
        const load: ViewStore["load"] = async (table, keys) => {
          const rows = await other.load(table, keys);
          if (isBegun && table.name === TOLD.name) await makeAgain();
          return rows;
        };
        const commit: ViewStore["commit"] = async (moving) => {
          await makeAgain();
          return other.commit(moving);
        };
        const result = await announce(at.dependencies({ ...other, load, commit }), signal);
        expect({ result, isMade, sent: at.sent }).toEqual({ result: "outdated", isMade: true, sent: [] });
      },
    );

    test("a duty whose case has expired is not announced, even when its time comes", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      expect(await at.at("2026-04-18T10:00:00Z")).toContain("PIPA-EXPL open open");
      const gone = await casesExpiring(at.views, {
        tenant: "acme",
        names: ["decision:d1"],
        expiring: new Set(["evt_1"]),
        rules: STANDARD_RULES,
        readHolds: async () => () => false,
      });
      expect(await at.views.revise({ views: [CASES], ...gone })).toEqual({ kind: "revised" });
      expect(await at.at("2026-05-18T15:00:01Z")).toEqual([]);
      expect(await at.at("2026-06-20T00:00:00Z")).toEqual([]);
    });

    test("if many duties change in one commit, each is announced once, with its own transitions in order", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      const count = ANNOUNCE_DUTIES + 7;
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
          position: async (view) => {
            const position = await at.views.position(view);
            if (view === "cases") await at.makeCasesAgain(records);
            return position;
          },
        };
        at.setTime("2026-06-12T00:00:00Z");
        expect(await announce(at.dependencies(upgraded), new AbortController().signal)).toBe("outdated");
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
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.isRefusedByCases("decision.explanation_provided", "2026-04-18T09:30:00Z", {
        decision_id: "d1",
      });
      await at.isRefusedByCases("decision.human_review_triggered", "2026-04-18T09:40:00Z", {
        decision_id: "d2",
      });
      expect(await at.at("2026-04-18T10:00:00Z")).toHaveLength(3);
      expect(await at.rebuildCases()).toMatchObject({ kind: "replaced" });
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual(["PIPA-EXPL met met"]);
      expect(await at.at("2026-04-18T12:00:00Z")).toEqual([]);
      expect(await at.at("2026-04-22T00:00:01Z")).toEqual([
        "HR-CLOSE open due_soon",
        "HR-CLOSE due due_soon",
      ]);
    });

    test("after a rebuild of cases nothing is written for duties that are as announced", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      expect(await at.at("2026-04-18T10:00:00Z")).toHaveLength(3);
      const looked = async (): Promise<readonly string[]> => {
        const written: string[] = [];
        const watched: ViewStore = {
          ...at.views,
          commit: (commit) => {
            written.push(...commit.writes.map((write) => ("table" in write ? write.table.name : write.kind)));
            return at.views.commit(commit);
          },
        };
        expect(await announce(at.dependencies(watched), new AbortController().signal)).toBe("told");
        return written;
      };
      expect(await at.rebuildCases()).toMatchObject({ kind: "replaced" });
      // It writes the version of the view, and nothing else.
      expect(await looked()).toEqual([TOLD_VERSION.name]);
      expect(await looked()).toEqual([]);
      expect(at.told()).toEqual([]);
      expect(await at.at("2026-05-18T15:00:01Z")).toContain("PIPA-EXPL late overdue");
    });

    test("a duty from a replayed dead letter is announced even if cases are rebuilt before the next look", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.isRefusedByCases("objection.received", "2026-04-18T09:00:00Z", received);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      expect(await at.replay(1)).toEqual({ kind: "taken" });
      expect(await at.rebuildCases()).toMatchObject({ kind: "replaced" });
      expect((await at.at("2026-04-18T11:00:00Z")).sort()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
    });

    test("dead letters that a rebuilt view has taken are announced even if the rebuilding process was killed at once", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T09:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.isRefusedByCases("decision.explanation_provided", "2026-04-18T09:30:00Z", {
        decision_id: "d1",
      });
      expect(await at.at("2026-04-18T10:00:00Z")).toHaveLength(3);
      await at.rebuildCases({
        ...at.views,
        replace: async (replacement) => {
          await at.views.replace(replacement);
          throw new Error("killed");
        },
      });
      expect(await at.at("2026-04-18T11:00:00Z")).toEqual(["PIPA-EXPL met met"]);
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

    test("the past is not announced when the first announcer starts", async () => {
      await using at = await setUp(create);
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      expect(await at.at("2026-06-01T00:00:00Z")).toEqual([]);
    });

    test("if nothing was ever announced, events from before the first look are announced", async () => {
      await using at = await setUp(create);
      at.happenUnseen("objection.received", "2026-04-18T09:00:00Z", [received]);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      await at.projectAll();
      expect(await at.at("2026-04-18T10:00:01Z")).toContain("PIPA-EXPL open open");
    });

    test("a duty that begins while the stream of duties does not answer the first look is announced by a later announcer", async () => {
      await using at = await setUp(create);
      await at.happens("objection.received", "2026-04-18T08:00:00Z", {
        objection_id: "o0",
        decision_id: "d0",
      });
      await at.looksInVain();
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
      await at.looksInVain();
      expect((await at.at("2026-04-18T10:00:00Z")).toSorted()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
    });

    test("the past is not announced if cases are rebuilt before the first look succeeds", async () => {
      await using at = await setUp(create);
      await at.happens("objection.received", "2026-04-18T08:00:00Z", received);
      await at.looksInVain();
      expect(await at.rebuildCases()).toMatchObject({ kind: "replaced" });
      const other = { ...received, objection_id: "o2", decision_id: "d2" };
      await at.happens("objection.received", "2026-04-18T09:00:00Z", other);
      expect((await at.at("2026-04-18T10:00:00Z")).toSorted()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
    });

    test("if all views are rebuilt and a duty returns to an earlier state, its announcements have new ids", async () => {
      const [decided, explained] = ["decision.automated_decision_made", "decision.explanation_provided"];
      const [denied, law] = [
        { outcome: "denied" },
        { legal_bases: ["colorado_sb26_189"], correlation_id: "c" },
      ];
      await using before = await setUp(create);
      await before.at("2027-01-20T08:00:00Z");
      await before.happens(decided, "2027-01-10T09:00:00Z", denied, law);
      const { signal } = new AbortController();
      before.setTime("2027-01-20T09:00:00Z");
      await announce(before.dependencies(), signal);
      const opened = before.sent.map(({ messageId }) => messageId);
      expect(before.told()).toEqual(["CO-ADVERSE open open"]);
      await using at = await setUp(create);
      at.wasTold();
      at.happenUnseen(decided, "2027-01-10T09:00:00Z", [denied], law);
      at.happenUnseen(explained, "2027-01-12T09:00:00Z", [{}], law);
      expect(await at.at("2027-01-20T09:01:00Z")).toEqual([]);
      await at.projectAll();
      // The explanation belongs to this decision: the first duty is open again, but the stream says that it is met.
      await at.happens(decided, "2027-01-11T09:00:00Z", denied, law);
      at.setTime("2027-01-20T09:02:00Z");
      await announce(at.dependencies(), signal);
      const ids = at.sent.map(({ messageId }) => messageId);
      expect(at.told()).toContain("CO-ADVERSE open open");
      expect(ids.filter((id) => opened.includes(id))).toEqual([]);
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
      await announce(at.dependencies(), new AbortController().signal, pastEnd);
      expect(at.told().toSorted()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
    });

    test("if all views are rebuilt, a duty that begins while the stream of duties does not answer is announced", async () => {
      await using at = await setUp(create);
      at.wasTold();
      at.happenUnseen("objection.received", "2026-04-18T09:00:00Z", [received]);
      await at.looksInVain();
      const other = { ...received, objection_id: "o2", decision_id: "d2" };
      at.happenUnseen("objection.received", "2026-04-18T09:30:00Z", [other]);
      expect(await at.at("2026-04-18T10:00:00Z")).toEqual([]);
      await at.projectAll();
      expect((await at.at("2026-04-18T10:00:01Z")).toSorted()).toEqual([
        "OBJ-ACK due due_soon",
        "OBJ-ACK open due_soon",
        "PIPA-EXPL open open",
      ]);
    });

    test("if another announcer begins during the first look, that look leaves nothing behind", async () => {
      await using at = await setUp(create);
      await using other = at.another();
      let hasBegun = false;
      const views: typeof other = {
        ...other,
        load: async (table, keys, which) => {
          const rows = await other.load(table, keys, which);
          if (keys.includes(TOLD_FROM_KEY) && !hasBegun) {
            hasBegun = true;
            await at.at("2026-04-18T09:00:00Z");
          }
          return rows;
        },
      };
      await announce(at.dependencies(views), new AbortController().signal);
      expect(hasBegun).toBe(true);
      expect(await at.views.load(TOLD_VERSION, [TOLD_FROM_KEY, TOLD_FROM_LOG_KEY])).toEqual([]);
    });

    test("if the log lost its end and cases were rebuilt, new duties are announced from there on, and older ones fall due in time", async () => {
      await using at = await setUp(create);
      await at.at("2026-04-18T08:00:00Z");
      await at.happens("objection.received", "2026-04-18T09:00:00Z", received);
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

    test("if all views are rebuilt by several announcers, one killed at once, an old duty is announced only when it changes", async () => {
      await using at = await setUp(create);
      const duties = ["1", "2"].map((id) => ({ ...received, objection_id: `o${id}`, decision_id: `d${id}` }));
      at.happenUnseen("objection.received", "2026-04-18T09:00:00Z", duties);
      at.wasTold();
      for (const view of [ANNOUNCEMENT_NOTES, ANNOUNCEMENTS]) await at.views.open(view);
      await using other = at.another();
      const signal = new AbortController().signal;
      for (const views of [at.views, other]) await announce(at.dependencies(views), signal);
      await at.projectAll();
      expect(await at.at("2026-06-01T00:00:00Z")).toEqual([]);
      await at.happens("decision.explanation_provided", "2026-06-02T09:00:00Z", { decision_id: "d1" });
      expect(await at.at("2026-06-02T10:00:00Z")).toEqual([
        "PIPA-EXPL open met_late",
        "PIPA-EXPL late met_late",
      ]);
    });
  });
