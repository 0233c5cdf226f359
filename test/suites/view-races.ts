/** What happens to views at the same moment: replays, rebuilds and the runner must not undo each other's work. Each database runs it. */
import { describe, expect, test } from "bun:test";
import { replayLetter } from "../../src/views/kit/dead-letter-replay.ts";
import type { FirstEvent, Projection, States, StoredRecord } from "../../src/views/kit/projection.ts";
import { rebuildView } from "../../src/views/kit/rebuild.ts";
import { verifyView } from "../../src/views/kit/verify.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { TREES } from "../../src/views/tree/tables.ts";
import { type ArrayLog, createArrayLog } from "../projections/array-log.ts";
import { messageOf, simpleEvent } from "../projections/records.ts";
import { allStandAt, named, now, type Projections, run } from "../projections/running.ts";
import { until } from "../support/until.ts";
import type { CreateDatabase } from "./view-store.ts";

/** The projections; these cannot take one record. */
const failingAt = (sequence: number, ...names: readonly string[]): Projections => {
  const refuse = (records: readonly StoredRecord[]): void => {
    if (records.some((record) => record.sequence === sequence)) throw new TypeError("not today");
  };
  const failing = (projection: Projection): Projection => {
    if (!names.includes(projection.name) || projection.takes === "entries") return projection;
    const { evolve, ...rest } = projection;
    return {
      ...rest,
      evolve: (states: States, records: readonly FirstEvent[]) => {
        refuse(records);
        return evolve(states, records);
      },
    } as Projection;
  };
  const [leader, ...others] = PROJECTIONS;
  return [failing(leader), ...others.map(failing)];
};

const threeRecords = (): ArrayLog =>
  createArrayLog([1, 2, 3].map((sequence) => messageOf(sequence, { event: simpleEvent(`evt_${sequence}`) })));

const verified = (log: ArrayLog, views: ViewStore, name: string, signal = new AbortController().signal) =>
  verifyView({ log, views, clock: now, onProgress: () => {} }, named(name), signal);

const rebuild = (log: ArrayLog, views: ViewStore, projection: Projection) =>
  rebuildView({ log, views, clock: now, onProgress: () => {} }, projection, new AbortController().signal);

export const viewRacesSuite = (database: string, create: CreateDatabase): void => {
  describe(`replays, rebuilds and the runner at the same time, in ${database}`, () => {
    /** Views that have processed three records, and a way to hold back a runner's next commit. */
    const scene = async (projections: Projections = PROJECTIONS) => {
      await using stack = new AsyncDisposableStack();
      const made = stack.use(await create(PROJECTIONS));
      const views = stack.use(made.connect());
      const log = threeRecords();
      const runner = run(log, views, projections);
      await allStandAt(views, 3, projections);
      await runner.end();
      const replay = (projection: string) =>
        replayLetter({ log, views, now }, PROJECTIONS, { projection, sequence: 2 });
      const letters = async (projection: string) => (await views.deadLetters(projection, 0, 10)).length;
      /** What another process does after a runner has computed with the current rows and before it writes. */
      const whileRunnerComputes = async (work: (other: ViewStore) => Promise<unknown>): Promise<void> => {
        const [computed, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const held: ViewStore = {
          ...views,
          commit: async (commit) => {
            if (commit.to === 4) {
              computed.resolve();
              await goOn.promise;
            }
            return views.commit(commit);
          },
        };
        await using other = made.connect();
        await using second = run(log, held);
        log.append(messageOf(4, { event: simpleEvent("evt_4") }));
        await computed.promise;
        const working = work(other);
        await until("the other has done what it can do now", () =>
          Promise.race([working.then(() => true), new Promise<boolean>((end) => setTimeout(end, 300, true))]),
        );
        goOn.resolve();
        await working;
        await allStandAt(views, 4);
        await second.end();
      };
      const kept = stack.move();
      return {
        log,
        views,
        replay,
        letters,
        whileRunnerComputes,
        [Symbol.asyncDispose]: () => kept.disposeAsync(),
      };
    };

    test("one replay settles the dead letters of one record in several views, and counts the record once", async () => {
      await using at = await scene(failingAt(2, "events", "activity"));
      expect(await at.replay("events")).toEqual({ kind: "taken" });
      expect(await at.letters("activity")).toBe(0);
      expect(await at.replay("activity")).toMatchObject({ kind: "failed" });
      for (const name of ["activity", "ledger", "assets"])
        expect((await verified(at.log, at.views, name)).differences).toEqual([]);
    });

    /** Three records; these views cannot take the second, whose event is then sent again. */
    const sentAgain = async (...names: readonly string[]) => {
      const at = await scene(failingAt(2, ...names));
      at.log.append(messageOf(4, { event: simpleEvent("evt_2") }));
      await using runner = run(at.log, at.views);
      await allStandAt(at.views, 4);
      await runner.end();
      return at;
    };

    test("a dead letter whose event was sent again is taken if the ledger has a dead letter of it too", async () => {
      await using at = await sentAgain("events", "ledger");
      expect(await at.replay("events")).toEqual({ kind: "taken" });
      expect((await verified(at.log, at.views, "ledger")).differences).toEqual([]);
    });

    test("a dead letter whose event was sent again stays if the ledger saw it before, until the views are rebuilt", async () => {
      await using at = await sentAgain("events");
      expect(await at.replay("events")).toMatchObject({ kind: "refused", code: "repeated_event" });
      expect(await at.letters("events")).toBe(1);
      for (const name of ["events", "ledger"]) await rebuild(at.log, at.views, named(name));
      expect(await at.letters("events")).toBe(0);
      for (const name of ["events", "ledger"])
        expect((await verified(at.log, at.views, name)).differences).toEqual([]);
    });

    test("a dead letter stays while the leading view is rebuilt, because that view cannot tell which came first", async () => {
      await using at = await scene(failingAt(2, "assets"));
      await at.views.drop("events");
      await at.views.open(named("events"));
      expect(await at.replay("assets")).toMatchObject({ kind: "failed" });
      expect(await at.letters("assets")).toBe(1);
    });

    test("a replay beside a running runner is kept", async () => {
      await using at = await scene(failingAt(2, "assets"));
      await at.whileRunnerComputes((views) =>
        replayLetter({ log: at.log, views, now }, PROJECTIONS, { projection: "assets", sequence: 2 }),
      );
      expect(await at.letters("assets")).toBe(0);
      expect((await verified(at.log, at.views, "assets")).differences).toEqual([]);
    });

    test("a rebuild beside a running runner is not overwritten with old rows", async () => {
      await using at = await scene();
      const [row] = await at.views.load(named("assets").tables[0] ?? TREES, [
        { tenant: "acme", asset_id: "credit_model" },
      ]);
      if (!row) throw new Error("the asset is known");
      const tampered = {
        kind: "upsert",
        table: named("assets").tables[0] ?? TREES,
        row: { ...row, events: 77 },
      } as const;
      await at.views.revise({ views: [named("assets")], expected: [], writes: [tampered] });
      await at.whileRunnerComputes((views) => rebuild(at.log, views, named("assets")));
      expect((await verified(at.log, at.views, "assets")).differences).toEqual([]);
    });

    test("an interrupted verification says so, and does not report that the view differs", async () => {
      await using at = await scene();
      const verifying = verified(at.log, at.views, "assets", AbortSignal.abort());
      expect((await verifying.catch((error: unknown) => error)) instanceof Error).toBe(true);
    });

    test("an older program cannot replace a newer view's rows with its own", async () => {
      const older = named("assets");
      const newer = { ...older, version: older.version + 1 };
      const [leader, ...others] = PROJECTIONS;
      const projections: Projections = [leader, ...others.map((each) => (each === older ? newer : each))];
      await using at = await scene(projections);
      await expect(rebuild(at.log, at.views, older)).rejects.toThrow("of another version");
      await using _runner = run(at.log, at.views, projections);
      at.log.append(messageOf(4, { event: simpleEvent("evt_4") }));
      await allStandAt(at.views, 4, projections);
    });
  });
};
