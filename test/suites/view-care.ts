/** Rebuilding, verifying and replaying views while a runner moves them. Each database runs it. */
import { describe, expect, test } from "bun:test";
import { EVENT_ID_SUFFIX_CHARACTERS_MAX, IDENTIFIER_CHARACTERS_MAX } from "../../src/limits.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { ASSETS } from "../../src/views/assets/tables.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { EVENTS } from "../../src/views/events/tables.ts";
import { successorOf } from "../../src/views/kit/beside.ts";
import { replayLetter } from "../../src/views/kit/dead-letter-replay.ts";
import { REPLACE_LAG_MAX } from "../../src/views/kit/limits.ts";
import type { Projection, RecordProjection } from "../../src/views/kit/projection.ts";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { verifyView } from "../../src/views/kit/verify.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { VIEWS, type ViewStore } from "../../src/views/store/view-store.ts";
import { type ArrayLog, createArrayLog } from "../projections/array-log.ts";
import { messageOf, simpleEvent } from "../projections/records.ts";
import { allStandAt, named, now, type Projections, run } from "../projections/running.ts";
import { asTheyArrive, type Chance, createChance } from "../support/histories/chance.ts";
import { makeHistory } from "../support/histories.ts";
import { until } from "../support/until.ts";
import { sequences, textOf } from "./events-search.ts";
import type { CreateDatabase } from "./view-store.ts";

const history = makeHistory({ seed: 5, assets: 4, cases: 30 });
/** U+0000 is stored in another form, so the first of the two sorts after the other. */
const unusual = ["a\0", "a\u0001"].map((asset_id, index) => simpleEvent(`evt_other_${index}`, { asset_id }));
const messages: readonly StoredMessage[] = [...asTheyArrive(history.events, 5), ...unusual].map(
  (event, index) => messageOf(index + 1, { event }),
);

const rebuild = (log: ArrayLog, views: ViewStore, projection: Projection) =>
  rebuildView({ log, views, clock: now, onProgress: () => {} }, projection, new AbortController().signal);

const verified = (log: ArrayLog, views: ViewStore, projection: Projection) =>
  verifyView({ log, views, clock: now, onProgress: () => {} }, projection, new AbortController().signal);

const expectAllEqual = (log: ArrayLog, views: ViewStore): Promise<void> =>
  expectEqual(log, views, PROJECTIONS);

const expectEqual = async (
  log: ArrayLog,
  views: ViewStore,
  projections: readonly Projection[],
): Promise<void> => {
  for (const projection of projections) {
    const { differences } = await verified(log, views, projection);
    expect([projection.name, differences]).toEqual([projection.name, []]);
  }
};

const expectWordsFound = async (views: ViewStore): Promise<void> => {
  const text = textOf("objection explanation_request");
  const expected = history.events.filter(({ event_type, metadata }) => {
    const type = typeof metadata === "object" && metadata !== null && "objection_type" in metadata;
    return event_type === "objection.received" && type && metadata.objection_type === "explanation_request";
  });
  expect(expected.length).toBeGreaterThan(5);
  expect(await sequences(views, { text })).toHaveLength(expected.length);
};

/** Views that have processed all messages, and that nobody moves any more. */
const allSeen = async (create: CreateDatabase) => {
  await using stack = new AsyncDisposableStack();
  const views = stack.use(stack.use(await create(PROJECTIONS)).connect());
  const log = createArrayLog(messages);
  const runner = run(log, views);
  await allStandAt(views, messages.length);
  await runner.end();
  const kept = stack.move();
  return { log, views, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

/** A text that cannot be compressed: its characters are random, with four bytes each. */
const longText = (chance: Chance, characters: number, from = 0x20000, count = 0xa000): string =>
  Array.from({ length: characters }, () => String.fromCodePoint(from + chance.below(count))).join("");

/** The characters that names may consist of, as the first character and how many. */
const CHARACTERS = {
  "characters of four bytes": [0x20000, 0xa000],
  // No database stores these unchanged (src/views/store/tables.ts).
  "halves of pairs": [0xdc00, 0x400],
  "U+0000": [0, 1],
} as const;

/** Events of all kinds that are listed in registers, with the longest names and words that are understood. */
const longestEvents = ([from, count]: readonly [from: number, count: number]): readonly StoredMessage[] => {
  const chance = createChance(5);
  const name = () => longText(chance, IDENTIFIER_CHARACTERS_MAX, from, count);
  const [asset_id, decision_id, objection_id, incident_id, assessment_id] = [
    name(),
    name(),
    name(),
    name(),
    name(),
  ];
  const word = () => longText(chance, 300, from, count);
  const said: readonly (readonly [type: string, metadata: object])[] = [
    ["decision.automated_decision_made", { decision_id, outcome: word() }],
    ["transparency.notice_shown", { decision_id, channel: word(), locale: word(), policy_version: word() }],
    ["objection.received", { decision_id, objection_id, objection_type: word(), reason: word() }],
    ["objection.resolved", { objection_id, resolution: word(), reason: word() }],
    ["decision.human_review_triggered", { decision_id, reviewer_id: word(), triggered_by: word() }],
    ["decision.human_review_completed", { decision_id, final_outcome: word(), reason: word() }],
    ["incident.detected", { incident_id, incident_class: word(), severity: word(), root_cause: word() }],
    ["assessment.impact_assessment_started", { assessment_id, assessment_type: word(), version: word() }],
    ["assessment.risk_classification_changed", { from: word(), to: word(), reason: word(), actor: word() }],
    ["model.model_deployed", { model: word(), model_version: name() }],
    ["ai_inference", { source_id: name(), source_sequence: 7 }],
  ];
  return said.map(([event_type, metadata], index) =>
    messageOf(index + 1, {
      event: {
        event_id: `evt_${longText(chance, EVENT_ID_SUFFIX_CHARACTERS_MAX)}`,
        timestamp: `2026-11-20T09:59:59.${"1234567890".repeat(7)}Z`,
        asset_id,
        event_type,
        correlation_id: name(),
        asset_version: name(),
        trace_id: name(),
        subject_hash: `sha256:${"ab".repeat(32)}`,
        risk_tier: "high",
        legal_bases: ["pipa_37_2_kr", "a".repeat(64)],
        metadata,
      },
    }),
  );
};

export const viewCareSuite = (database: string, create: CreateDatabase): void => {
  describe(`verifying, rebuilding and replaying views in ${database}`, () => {
    test("a snapshot sees one state of a view while the view is rebuilt, and others can read meanwhile", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      const tries: string[] = [];
      const watched: ViewStore = {
        ...views,
        replace: async (replacement) => {
          const result = await views.replace(replacement);
          tries.push(result);
          return result;
        },
      };
      const { events, made } = await views.snapshot(named("events"), async ({ position, rows }) => {
        expect(position).toBe(messages.length);
        const made = rebuild(log, watched, named("events"));
        await until("it was tried", () => tries.length > 0);
        expect(await sequences(views, { text: textOf("objection") })).not.toEqual([]);
        let events = 0;
        for await (const page of rows(EVENTS)) events += page.length;
        // It is not awaited in here, because it may wait for the end of this snapshot.
        return { events, made: { ended: made } };
      });
      expect(events).toBe(messages.length);
      expect((await made.ended).kind).toBe("replaced");
      expect(tries.at(-1)).toBe("replaced");
    });

    test("a view that is behind its earlier position is verified when it has caught up", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      let looks = 0;
      const live: ViewStore = {
        ...views,
        snapshot: (view, visit) =>
          views.snapshot(view, (state) => visit(looks++ > 1 ? state : { ...state, position: 1 })),
      };
      const found = await verified(log, live, named("assets"));
      expect(found).toMatchObject({ position: messages.length, differences: [] });
    });

    test("if a view has processed more than the log holds, it is not verified, no view that follows it is rebuilt, and both errors say so", async () => {
      await using seen = await allSeen(create);
      const log = createArrayLog(messages.slice(0, -3));
      const seenMore = "seen 3 records more than the log holds, which lost its end or is another one";
      await expect(verified(log, seen.views, named("assets"))).rejects.toThrow(`it has ${seenMore}`);
      const rebuilt = await rebuildView(
        { log, views: seen.views, clock: now, onProgress: () => {} },
        named("cases"),
        new AbortController().signal,
      );
      expect(rebuilt).toEqual({ kind: "given_up", reason: `the view of events has ${seenMore}` });
      await expectAllEqual(seen.log, seen.views);
    });

    test("a view that has processed far more than the log holds is rebuilt: the extra records do not count as its lead", async () => {
      await using seen = await allSeen(create);
      const { views } = seen;
      const to = messages.length + 2 * REPLACE_LAG_MAX;
      const moved = { views: [named("events")], from: messages.length, to, writes: [], deadLetters: [] };
      expect(await views.commit(moved)).toEqual({ kind: "committed" });
      const rebuilt = await rebuild(seen.log, views, named("events"));
      expect(rebuilt).toMatchObject({ kind: "replaced", position: messages.length });
    });

    test("a view that reads rows of the events view is verified when that view has caught up", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      let looks = 0;
      const live: ViewStore = {
        ...views,
        load: async (table, keys, ...which) => {
          const rows = await views.load(table, keys, ...which);
          if (table !== VIEWS || keys[0]?.name !== "events" || looks++ > 2) return rows;
          return rows.map((row) => ({ ...row, position: 1 }));
        },
      };
      const found = await verified(log, live, named("sources"));
      expect(found).toMatchObject({ position: messages.length, differences: [] });
      expect(looks).toBeGreaterThan(3);
    });

    test.each(Object.entries(CHARACTERS))(
      "the longest names and words that an event may have fit into every view, if they are %s",
      async (_, characters) => {
        await using made = await create(PROJECTIONS);
        await using views = made.connect();
        const longest = longestEvents(characters);
        const log = createArrayLog(longest);
        const runner = run(log, views);
        await allStandAt(views, longest.length);
        await runner.end();
        for (const { name } of PROJECTIONS) expect(await views.deadLetters(name, 0, 10)).toEqual([]);
        await expectAllEqual(log, views);
      },
    );

    test("every view equals one made from the log now; a changed, lost or added row is named", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      await expectAllEqual(log, views);

      await views.commit({
        views: [named("assets")],
        from: messages.length,
        to: messages.length,
        writes: [{ kind: "delete", table: ASSETS, key: { tenant: "acme", asset_id: "a\u0001" } }],
        deadLetters: [],
      });
      const ofAssets = await verified(log, views, named("assets"));
      expect(ofAssets.differences.map(({ table, kind }) => [table, kind])).toEqual([["assets", "missing"]]);

      const [one, two] = await views.load(
        EVENTS,
        history.events.slice(0, 2).map(({ event_id }) => ({ tenant: "acme", event_id })),
      );
      if (!one || !two) throw new Error("the events are there");
      const key = { tenant: "acme", event_id: two.event_id ?? "" };
      await views.commit({
        views: [named("events")],
        from: messages.length,
        to: messages.length,
        writes: [
          { kind: "upsert", table: EVENTS, row: { ...one, occurred: "1999" } },
          { kind: "delete", table: EVENTS, key },
          { kind: "insert", table: EVENTS, row: { ...two, event_id: "evt_forged" } },
        ],
        deadLetters: [],
      });
      const { differences } = await verified(log, views, named("events"));
      expect(new Set(await views.names())).toEqual(new Set(PROJECTIONS.map(({ name }) => name)));
      expect(differences.map(({ table, kind }) => [table, kind]).sort()).toEqual([
        ["events", "different"],
        ["events", "missing"],
        ["events", "unexpected"],
      ]);
    });

    test.each(["events", "cases", "activity", "sources"])(
      "%s is rebuilt while events arrive, and nothing is lost or counted twice",
      async (name) => {
        await using made = await create();
        await using views = made.connect();
        await using others = made.connect();
        const log = createArrayLog(messages.slice(0, 300));
        await using runner = run(log, views);
        await allStandAt(views, 300);
        const rebuilding = rebuild(log, others, named(name));
        for (let start = 300; start < messages.length; start += 40) {
          log.append(...messages.slice(start, start + 40));
          await views.position("events");
        }
        expect(await rebuilding).toMatchObject({ kind: "replaced" });
        // Once more, over a view that was swapped in before.
        expect(await rebuild(log, others, named(name))).toMatchObject({ kind: "replaced" });
        await allStandAt(views, messages.length);
        await runner.end();
        // Beside the replaced view all others moved as before; that is checked at once.
        await expectEqual(log, views, name === "cases" ? PROJECTIONS : [named(name)]);
        for (const store of [views, others]) await expectWordsFound(store);
      },
    );

    test("a view of another version answers with its old rows until the new ones have caught up, also if that is interrupted", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      const [leader, ...followers] = PROJECTIONS;
      const assets = named("assets");
      const key = { tenant: "acme", asset_id: "a\u0001" };
      const eventsOf = async () => (await views.load(ASSETS, [key]))[0]?.events;
      const before = await eventsOf();
      expect(before).toBeGreaterThan(0);
      // Its rows say otherwise, in the same columns.
      const newer: Projection = {
        ...eventsProjection,
        name: assets.name,
        version: assets.version + 1,
        tables: assets.tables,
        textIndexes: [],
        expireAlike: async () => {},
        stateKeys: () => [],
        evolve: (_states, records) => ({
          writes: records.some(({ sequence }) => sequence === messages.length)
            ? [{ kind: "upsert", table: ASSETS, row: { ...row, events: 0 } }]
            : [],
        }),
      };
      const [row] = await views.load(ASSETS, [key]);
      const projections: Projections = [leader, ...followers.map((each) => (each === assets ? newer : each))];
      const name = successorOf(newer).name;
      const stopped = new AbortController();
      const stopping: ViewStore = {
        ...views,
        // The successor gets no further than half of the log.
        commit: async (commit) => {
          if (commit.views.some((each) => each.name === name) && commit.to > messages.length / 2) {
            stopped.abort();
            throw new Error("no room");
          }
          return views.commit(commit);
        },
      };
      const first = run(log, stopping, projections);
      await until("it has begun", () => stopped.signal.aborted);
      log.append(messageOf(messages.length + 1, { event: simpleEvent("evt_later") }));
      await until("the others move on", async () => (await views.position("events")) > messages.length);
      await first.end();
      expect(await eventsOf()).toBe(before);
      expect(await views.position("assets")).toBe(messages.length);
      await using _second = run(log, views, projections);
      await allStandAt(views, messages.length + 1, projections);
      expect(await eventsOf()).toBe(0);
      expect(await views.names()).not.toContain(name);
    });

    test("an interrupted rebuild leaves the view as it was, and nothing behind", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      const stopping = new AbortController();
      stopping.abort();
      const rebuilt = await rebuildView(
        { log, views, clock: now, onProgress: () => {} },
        named("cases"),
        stopping.signal,
      );
      expect(rebuilt.kind).toBe("given_up");
      await expectAllEqual(log, views);
    });

    test("a rebuild that another rebuild of the same view overtakes says so at any step, and the other one is complete", async () => {
      await using seen = await allSeen(create);
      const { log, views } = seen;
      const signal = new AbortController().signal;
      const overtaking = () => rebuild(log, views, named("cases"));
      let other: ReturnType<typeof overtaking> | undefined;
      const once = async () => {
        other ??= overtaking();
        await other;
      };
      const places: Readonly<Record<string, (store: ViewStore) => ViewStore>> = {
        "before it has read anything": (store) => ({
          ...store,
          open: async (view) => {
            const opened = await store.open(view);
            await once();
            return opened;
          },
        }),
        "before it expires what has gone": (store) => ({
          ...store,
          snapshot: async (view, visit) => {
            await once();
            return store.snapshot(view, visit);
          },
        }),
        "before it takes the place": (store) => ({
          ...store,
          replace: async (replacement) => {
            await once();
            return store.replace(replacement);
          },
        }),
      };
      for (const [place, overtaken] of Object.entries(places)) {
        other = undefined;
        const parts = { log, views: overtaken(views), clock: now, onProgress: () => {} };
        const rebuilt = await rebuildView(parts, named("cases"), signal);
        const reason = "another rebuild of it started, and continues";
        expect([place, rebuilt]).toEqual([place, { kind: "given_up", reason }]);
        expect(await other).toMatchObject({ kind: "replaced" });
      }
      await expectAllEqual(log, views);
    });

    test("a dead letter can be replayed when its projection can take it, and the other views take the events that they had skipped", async () => {
      await using made = await create(PROJECTIONS);
      await using views = made.connect();
      const log = createArrayLog([
        messageOf(1, { event: simpleEvent("evt_1") }),
        messageOf(2, { event: simpleEvent("evt_2") }),
        messageOf(3, { event: { ...simpleEvent("evt_1"), asset_id: "other" } }),
      ]);
      const events = eventsProjection;
      const faulty: RecordProjection = {
        ...events,
        evolve: (states, records) => {
          if (records.some(({ sequence }) => sequence === 2)) throw new TypeError("not today");
          return events.evolve(states, records);
        },
      };
      const [, ...followers] = PROJECTIONS;
      const runner = run(log, views, [faulty, ...followers]);
      await allStandAt(views, 3);
      await runner.end();
      const letters = async () => (await views.deadLetters("events", 0, 10)).map(({ sequence }) => sequence);
      expect(await letters()).toEqual([2, 3]);

      const dependencies = { log, views, now };
      const replay = (sequence: number) =>
        replayLetter(dependencies, PROJECTIONS, { projection: "events", sequence });
      expect(await replay(2)).toEqual({ kind: "taken" });
      expect(await replay(3)).toMatchObject({ kind: "refused", code: "event_id_conflict" });
      expect(await letters()).toEqual([3]);
      for (const projection of PROJECTIONS) {
        const { differences } = await verified(log, views, projection);
        expect([projection.name, differences]).toEqual([projection.name, []]);
      }
    });
  });
};
