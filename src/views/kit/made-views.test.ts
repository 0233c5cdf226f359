import { expect, test } from "bun:test";
import { createSqliteDatabase } from "../../../test/projections/sqlite-database.ts";
import { until } from "../../../test/support/until.ts";
import { VIEW_LAG_RECORDS_MAX, VIEW_MADE_RECORDS_MIN } from "../../limits.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import { ViewsUnavailableError, ViewsUnmadeError } from "../store/unavailable.ts";
import { VIEW_GOALS, VIEWS } from "../store/view-store.ts";
import { createMadeViews } from "./made-views.ts";

const looking = () => {
  const stand = { position: 0, last: 0, isAway: false, looks: 0 };
  const madeViews = createMadeViews({
    views: {
      load: async (table, keys) => {
        if (table !== VIEWS) return [];
        stand.looks++;
        return keys.map((key) => ({ ...key, position: stand.position }));
      },
      revise: async () => ({ kind: "revised" }),
    },
    log: {
      lastSequence: async () => {
        if (stand.isAway) throw new LogUnavailableError("The event log could not be read.");
        return stand.last;
      },
    },
  });
  const check = async (position: number, last: number, names = ["events"]): Promise<string> => {
    Object.assign(stand, { position, last });
    return madeViews.check(names).then(
      () => "made",
      (error) => String(error.reason),
    );
  };
  return { stand, check, lookFirst: madeViews.lookFirst };
};

/** The answer at the first look of a process. */
const firstLook = (position: number, last: number): Promise<string> => looking().check(position, last);

test("a view is being built if it lacks half of the log or too much for readiness, unless only a little is missing", async () => {
  const small = VIEW_MADE_RECORDS_MIN;
  expect(await firstLook(0, 0)).toBe("made");
  expect(await firstLook(0, small)).toBe("made");
  expect(await firstLook(0, small + 1)).toBe(
    "The view events is at record 0 of 1001, and is read when it has the last of them.",
  );
  expect(await firstLook(5000, 10_000)).toBe("made");
  expect(await firstLook(4999, 10_000)).toBe(
    "The view events is at record 4999 of 10000, and is read when it has the last of them.",
  );
  expect(await firstLook(1_000_000 - VIEW_LAG_RECORDS_MAX, 1_000_000)).toBe("made");
  expect(await firstLook(949_999, 1_000_000)).toContain("at record 949999 of 1000000");
});

test("a view is ready once it reaches the end that the log had at the first look, and is not looked at again", async () => {
  const { stand, check } = looking();
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
  expect(await check(4999, 9000)).toContain("at record 4999 of 5000");
  expect(await check(5000, 9000)).toBe("made");
  const { looks } = stand;
  expect(await check(0, 1_000_000)).toBe("made");
  expect(stand.looks).toBe(looks);
});

test("the first look gives the end of the log, even while views are being built, and nothing if the log is away", async () => {
  const { stand, lookFirst } = looking();
  Object.assign(stand, { last: 5000 });
  expect(await lookFirst(["events"])).toBe(5000);
  Object.assign(stand, { isAway: true });
  expect(await lookFirst(["events"])).toBeUndefined();
});

test("the first look gives the end of the log even if the database of the views was lost after it was opened", async () => {
  const madeViews = createMadeViews({
    views: {
      load: () => Promise.reject(new ViewsUnavailableError("the connection was lost")),
      revise: async () => ({ kind: "revised" }),
    },
    log: { lastSequence: async () => 5000 },
  });
  expect(await madeViews.lookFirst(["events"])).toBe(5000);
});

test("a view needs only the records that exist if the log was restored from a copy meanwhile", async () => {
  const { check } = looking();
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
  expect(await check(2000, 3000)).toContain("at record 2000 of 3000");
  expect(await check(3000, 3000)).toBe("made");
});

test("views are readable while the log is away, and are looked at again when it is back", async () => {
  const { stand, check } = looking();
  stand.isAway = true;
  expect(await check(0, 5000)).toBe("made");
  stand.isAway = false;
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
});

test("a view that was being built when the log went away is not readable before it reaches its end", async () => {
  const { stand, check } = looking();
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
  stand.isAway = true;
  expect(await check(4999, 9000)).toContain("at record 4999 of 5000");
  expect(await check(5000, 9000)).toBe("made");
});

test("every requested view is looked at, even after one that is being built", async () => {
  const { check } = looking();
  expect(await check(0, 5000, ["events", "cases"])).toContain("The view events is at record 0 of 5000");
  expect(await check(5000, 20_000, ["cases"])).toBe("made");
});

/** Processes on one database, one after the other or at the same time. */
const processes = async () => {
  const database = createSqliteDatabase();
  const views = database.connect();
  const view = { name: "events", version: 1, tables: [] };
  await views.open(view);
  let last = 0;
  let isFull = false;
  const writes: Promise<unknown>[] = [];
  const start = async () => {
    const madeViews = createMadeViews({
      views: {
        load: views.load,
        revise: (revision) => {
          const write = isFull ? Promise.reject(new Error("disk full")) : views.revise(revision);
          writes.push(write);
          return write;
        },
      },
      log: { lastSequence: async () => last },
    });
    await madeViews.lookFirst(["events"]);
    return (): Promise<string> =>
      madeViews.check(["events"]).then(
        () => "made",
        (error) => String(error.reason),
      );
  };
  return {
    start,
    grow: (to: number) => {
      last = to;
    },
    fill: (full: boolean) => {
      isFull = full;
    },
    move: async (to: number): Promise<void> => {
      const from = await views.position("events");
      expect(await views.commit({ views: [view], from, to, writes: [], deadLetters: [] })).toEqual({
        kind: "committed",
      });
    },
    /** A process that looks does not wait for its write. */
    goals: async () => {
      await Promise.allSettled(writes);
      return views.load(VIEW_GOALS, [{ name: "events" }]);
    },
    [Symbol.asyncDispose]: async () => {
      await views.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

test("a view whose build was interrupted must reach the end seen at the first start, not be merely near the end at the next", async () => {
  await using at = await processes();
  at.grow(5000);
  expect(await (await at.start())()).toContain("at record 0 of 5000");
  await at.move(4000);
  at.grow(5200);
  const next = await at.start();
  expect(await next()).toContain("at record 4000 of 5000");
  await at.move(5000);
  expect([await next(), await at.goals()]).toEqual(["made", []]);
  at.grow(6000);
  // Now the view is only behind.
  expect(await (await at.start())()).toBe("made");
});

test("a view that the log has left far behind must reach the end of the log at the later start", async () => {
  await using at = await processes();
  at.grow(5000);
  const first = await at.start();
  await at.move(4000);
  at.grow(100_000);
  const other = await at.start();
  expect([await first(), await other()]).toEqual([
    expect.stringContaining("at record 4000 of 5000"),
    expect.stringContaining("at record 4000 of 100000"),
  ]);
  await at.move(90_000);
  expect([await other(), await (await at.start())()]).toEqual([
    expect.stringContaining("at record 90000 of 100000"),
    expect.stringContaining("at record 90000 of 100000"),
  ]);
});

test("the furthest end of several processes is kept until the view reaches it, whichever process reaches its own end first", async () => {
  await using at = await processes();
  at.grow(5000);
  const first = await at.start();
  at.grow(20_000);
  const second = await at.start();
  expect([await second(), await at.goals()]).toEqual([
    expect.stringContaining("at record 0 of 20000"),
    [{ name: "events", position: 20_000 }],
  ]);
  await at.move(5000);
  expect([await first(), await at.goals()]).toEqual(["made", [{ name: "events", position: 20_000 }]]);
  await at.move(12_000);
  // The second process was killed. For a new process the view alone would seem near the end.
  const next = await at.start();
  expect(await next()).toContain("at record 12000 of 20000");
  await at.move(20_000);
  expect([await next(), await at.goals()]).toEqual(["made", []]);
});

test("a view needs only the records that exist if the log was restored from a copy between two starts", async () => {
  await using at = await processes();
  at.grow(5000);
  await at.start();
  await at.move(2900);
  at.grow(3000);
  const next = await at.start();
  expect(await next()).toContain("at record 2900 of 3000");
  at.grow(8000);
  await at.move(3000);
  expect([await next(), await at.goals()]).toEqual(["made", []]);
});

test("a view's end is the same if the database takes no writes, and it is stored once the database takes them", async () => {
  await using at = await processes();
  at.grow(5000);
  at.fill(true);
  const first = await at.start();
  expect([await first(), await at.goals()]).toEqual([expect.stringContaining("at record 0 of 5000"), []]);
  at.fill(false);
  await first();
  expect(await at.goals()).toMatchObject([{ position: 5000 }]);
  await at.move(5000);
  at.fill(true);
  expect(await first()).toBe("made");
  at.fill(false);
  expect([await (await at.start())(), await at.goals()]).toEqual(["made", []]);
});

test("a request does not wait until a view's end is stored, and only one write waits if the database is locked for long", async () => {
  let writes = 0;
  const madeViews = createMadeViews({
    views: {
      load: async (table, keys) => (table === VIEWS ? keys.map((key) => ({ ...key, position: 0 })) : []),
      revise: () => {
        writes++;
        return new Promise(() => {});
      },
    },
    log: { lastSequence: async () => 5000 },
  });
  const answers: unknown[] = [];
  for (let asked = 0; asked < 3; asked++)
    void madeViews.check(["events"]).catch((error: unknown) => answers.push(error));
  await until("all were answered", () => answers.length === 3);
  expect(answers.every((answer) => answer instanceof ViewsUnmadeError)).toBe(true);
  expect(writes).toBe(1);
});
