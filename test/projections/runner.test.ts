import { expect, test } from "bun:test";
import { DatabaseSync } from "node:sqlite";
import type { LogReader, StoredMessage } from "../../src/log/event-log.ts";
import type { LogFields } from "../../src/telemetry/logger.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { EVENTS } from "../../src/views/events/tables.ts";
import type { Alarm } from "../../src/views/kit/advance.ts";
import { successorOf } from "../../src/views/kit/beside.ts";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "../../src/views/kit/limits.ts";
import type { FirstEvent, Projection, RecordProjection } from "../../src/views/kit/projection.ts";
import { onFirstEvents } from "../../src/views/kit/read-model.ts";
import { createRunner } from "../../src/views/kit/runner.ts";
import { endOfItsLog, endWrites } from "../../src/views/kit/view-end.ts";
import { waitForPosition } from "../../src/views/kit/wait-for-position.ts";
import { INTEGER, rowInteger, type Table, TEXT } from "../../src/views/store/tables.ts";
import { tenantQuery } from "../../src/views/store/tenant-query.ts";
import {
  ViewsBusyError,
  ViewsClosedError,
  ViewsMissingError,
  ViewsUnavailableError,
} from "../../src/views/store/unavailable.ts";
import { DEAD_LETTERS, type ViewStore, type Write } from "../../src/views/store/view-store.ts";
import { until } from "../support/until.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf, poisonMessage, simpleEvent } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const events = (from: number, to: number): StoredMessage[] =>
  Array.from({ length: to - from + 1 }, (_, index) =>
    messageOf(from + index, { event: simpleEvent(`evt_${from + index}`) }),
  );

/** A running runner, and everything it told the logger and the metrics. */
const startRunner = (parts: {
  log: LogReader;
  views: ViewStore;
  logEnd?: number;
  projection?: Projection;
  projections?: readonly [Projection, ...Projection[]];
}) => {
  const stop = new AbortController();
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const alarms: Alarm[] = [];
  const counted = { records: 0, deadLetters: 0, deadLettersOfOthers: 0, commits: 0, position: -1 };
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const runner = createRunner({
    log: parts.log,
    logEnd: parts.logEnd,
    views: parts.views,
    projections: parts.projections ?? [parts.projection ?? eventsProjection],
    logger: {
      isEnabled: () => true,
      request: () => {},
      debug: line("debug"),
      info: line("info"),
      warn: line("warn"),
      error: line("error"),
    },
    metrics: {
      progressed: ({ projection, records, deadLetters, position }) => {
        if (projection !== "events") {
          counted.deadLettersOfOthers += deadLetters;
          return;
        }
        counted.records += records;
        counted.deadLetters += deadLetters;
        counted.commits += records > 0 ? 1 : 0;
        counted.position = position;
      },
      alarmed: ({ alarm }) => {
        alarms.push(alarm);
      },
    },
    clock: () => new Date("2026-11-20T12:00:00Z"),
  });
  const running = runner.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { ...runner, lines, alarms, counted, end, [Symbol.asyncDispose]: end };
};

const setUp = async () => {
  const database = createSqliteDatabase();
  const views = database.connect();
  return {
    views,
    connect: database.connect,
    [Symbol.asyncDispose]: async () => {
      await views.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

const reached = (views: ViewStore, sequence: number) =>
  until(`the view has seen sequence ${sequence}`, async () => (await views.position("events")) >= sequence);

const sequencesIn = async (views: ViewStore, table: typeof EVENTS | typeof DEAD_LETTERS = EVENTS) => {
  const query = { tenant: "acme", columns: ["sequence"], where: [], order: "asc", rowsMax: 10_000 } as const;
  return (await views.select(tenantQuery({ ...query, table }))).map(({ sequence }) => sequence);
};

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("no commit holds both records that were in the log at the start and later ones", async () => {
  await using at = await setUp();
  await using runner = startRunner({ log: createArrayLog(events(1, 10)), views: at.views, logEnd: 6 });
  await reached(at.views, 10);
  await runner.end();
  expect(runner.counted).toMatchObject({ commits: 2, records: 10 });
});

test("records become rows in order, and new records follow", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 5));
  await using runner = startRunner({ log, views: at.views });
  await reached(at.views, 5);
  expect(await sequencesIn(at.views)).toEqual(range(1, 5));
  log.append(...events(6, 8));
  await reached(at.views, 8);
  expect(await sequencesIn(at.views)).toEqual(range(1, 8));
  await until("it is counted", () => runner.counted.position === 8);
  expect(runner.counted).toMatchObject({ records: 8, deadLetters: 0 });
});

test("a new runner continues at the view's own position", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 5));
  const first = startRunner({ log, views: at.views });
  await reached(at.views, 5);
  await first.end();
  log.append(...events(6, 7));
  await using second = startRunner({ log, views: at.views });
  await reached(at.views, 7);
  expect(log.starts).toEqual([1, 6]);
  expect(second.counted.records).toBe(2);
  expect(await sequencesIn(at.views)).toEqual(range(1, 7));
});

test("a record that cannot be projected becomes a dead letter with the reason, and blocks nothing", async () => {
  await using at = await setUp();
  const log = createArrayLog([
    ...events(1, 1),
    poisonMessage(2),
    poisonMessage(3, '{"tenant":"acme","received_at":"2026","request_id":"0","event":{secret}}'),
    messageOf(4, { event: { event_id: "evt_secret" } }),
    messageOf(5, { event: simpleEvent("evt_1", { asset_id: "secret" }) }),
    ...events(6, 6),
  ]);
  await using runner = startRunner({ log, views: at.views });
  await reached(at.views, 6);
  expect(await sequencesIn(at.views)).toEqual([1, 6]);
  expect(await sequencesIn(at.views, DEAD_LETTERS)).toEqual([4, 5]);
  await until("they are counted", () => runner.counted.deadLetters === 4);
  expect(runner.counted.deadLettersOfOthers).toBe(0);
  const warnings = runner.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields);
  expect(warnings).toMatchObject([
    { projection: "events", sequence: 2, code: "undecodable" },
    { projection: "events", sequence: 3, code: "undecodable" },
    { projection: "events", sequence: 4, code: "invalid_event" },
    { projection: "events", sequence: 5, code: "event_id_conflict" },
  ]);
  expect(JSON.stringify(runner.lines)).not.toContain("secret");
});

test("a rule that throws, or that makes rows nobody can store, costs only the record that caused it", async () => {
  await using at = await setUp();
  const faulty: RecordProjection = {
    ...eventsProjection,
    stateKeys: (records) => {
      if (records.some(({ sequence }) => sequence === 2)) throw new Error("quotes a secret");
      return eventsProjection.stateKeys(records);
    },
    evolve: (states, records) => {
      const has = (sequence: number) => records.some((record) => record.sequence === sequence);
      if (has(3)) throw new TypeError("quotes a secret");
      if (has(4)) return { writes: [{ kind: "upsert", table: EVENTS, row: { tenant: "acme" } }] };
      const { writes } = eventsProjection.evolve(states, records);
      // The database refuses this row, which is that of sequence 1, and not among the rows that were requested.
      const clash = (write: Write): Write =>
        write.kind === "insert" && write.row.sequence === 6
          ? { ...write, row: { ...write.row, event_id: "evt_1" } }
          : write;
      return { writes: writes.map(clash) };
    },
  };
  const log = createArrayLog(events(1, 1));
  await using runner = startRunner({
    log,
    views: at.views,
    projections: [faulty, counting("counts")],
  });
  await reached(at.views, 1);
  log.append(...events(2, 8));
  await reached(at.views, 8);
  expect(await sequencesIn(at.views)).toEqual([1, 5, 7, 8]);
  expect(await sequencesIn(at.views, DEAD_LETTERS)).toEqual([2, 3, 4, 6]);
  await until("they are counted", () => runner.counted.deadLetters === 4);
  expect(runner.counted.deadLettersOfOthers).toBe(0);
  expect(
    runner.lines
      .filter(({ level }) => level === "warn")
      .map(({ fields: { code } }) => code)
      .sort(),
  ).toEqual(["projection_failed", "projection_failed", "row_refused", "row_refused"]);
  expect(JSON.stringify(runner.lines)).not.toContain("secret");
});

test("if the log goes away midway, the runner continues reading at the view's position", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 9));
  log.failAt(1, "unavailable");
  log.failAt(4, "unavailable");
  log.failAt(8, "unavailable");
  await using runner = startRunner({ log, views: at.views });
  await reached(at.views, 9);
  expect(log.starts).toEqual([1, 1, 4, 8]);
  expect(await sequencesIn(at.views)).toEqual(range(1, 9));
  expect(runner.alarms).toEqual([]);
  expect(runner.lines.filter(({ level }) => level === "warn")).toHaveLength(3);
});

test.each(["skipped", "repeated"] as const)(
  "a sequence that is %s raises an alarm, and the log is read again: nothing is left out or taken twice",
  async (fault) => {
    await using at = await setUp();
    const log = createArrayLog(events(1, 9));
    log.failAt(5, fault);
    await using runner = startRunner({ log, views: at.views });
    await reached(at.views, 9);
    expect(await sequencesIn(at.views)).toEqual(range(1, 9));
    expect(await sequencesIn(at.views, DEAD_LETTERS)).toEqual([]);
    expect(runner.alarms).toEqual(["hole"]);
    const told = fault === "skipped" ? [6, "position 4"] : [5, "position 5"];
    const errors = runner.lines.filter(({ level }) => level === "error");
    expect(errors.map(({ fields }) => [fields.sequence, fields.detail])).toEqual([told]);
  },
);

test("a sequence that never arrives is never skipped", async () => {
  await using at = await setUp();
  const lacking = [...events(1, 3), ...events(5, 9)];
  const log = createArrayLog(lacking);
  async function* follow({ from }: { readonly from: number }) {
    yield lacking.filter(({ sequence }) => sequence >= from);
  }
  await using runner = startRunner({ log: { ...log, follow }, views: at.views });
  await until("it has been noticed twice", () => runner.alarms.length >= 2);
  expect(await at.views.position("events")).toBe(3);
});

test("a view that has processed more than the log holds raises an alarm, and does not count as up to date", async () => {
  await using at = await setUp();
  const first = startRunner({ log: createArrayLog(events(1, 9)), views: at.views });
  await reached(at.views, 9);
  await first.end();
  await using second = startRunner({ log: createArrayLog(events(1, 4)), views: at.views });
  await until("it has been noticed", () => second.alarms.length > 0);
  expect(second.alarms[0]).toBe("ahead_of_log");
});

test("a log that was restored from a copy and has grown again is not taken for the log that the view has processed", async () => {
  await using at = await setUp();
  const first = startRunner({ log: createArrayLog(events(1, 9)), views: at.views });
  await reached(at.views, 9);
  await first.end();
  const others = events(20, 30).map(({ payload, subject }, index) => ({
    payload,
    subject,
    sequence: 5 + index,
  }));
  const grown = createArrayLog([...events(1, 4), ...others]);
  const second = startRunner({ log: grown, views: at.views });
  await until("it has been noticed twice", () => second.alarms.length > 1);
  await second.end();
  expect(second.alarms[0]).toBe("other_log");
  expect(await at.views.position("events")).toBe(9);
  await at.views.drop("events");
  await using third = startRunner({ log: grown, views: at.views });
  await reached(at.views, 15);
  expect(third.alarms).toEqual([]);
});

test("a log without the record at a view's position is not its log; one that grew during the question is", async () => {
  const messages = events(1, 12);
  const ninth = messageOf(9, { event: simpleEvent("evt_9") });
  const end = async (held: readonly StoredMessage[], arriving: readonly StoredMessage[] = []) => {
    const log = createArrayLog(held);
    // The view's position, with the records that arrived meanwhile.
    const position = async () => {
      log.append(...arriving);
      return 9;
    };
    const load = async () =>
      endWrites(["events"], ninth).flatMap((write) => ("row" in write ? [write.row] : []));
    return endOfItsLog({ views: { position, load }, log }, "events");
  };
  expect(await end(messages)).toBe(12);
  expect(await end(messages.slice(0, 8), messages.slice(8, 9))).toBe(9);
  expect(await end(messages.filter((one) => one.sequence !== 9))).toBeUndefined();
  expect(await end(messages.slice(0, 8))).toBeUndefined();
});

test("views that were all restored from a copy catch up, even while no event arrives", async () => {
  const database = createSqliteDatabase();
  await using _ = { [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
  await using views = database.connect();
  await using runner = startRunner({ log: createArrayLog(events(1, 9)), views });
  await reached(views, 9);
  const file = new DatabaseSync(database.path, { timeout: 5000 });
  file.exec("BEGIN; DELETE FROM events WHERE sequence > 4; DELETE FROM event_terms WHERE rowid > 4");
  file.exec("UPDATE views SET position = 4 WHERE name = 'events'; COMMIT");
  file.close();
  await reached(views, 9);
  expect(await sequencesIn(views)).toEqual(range(1, 9));
  expect(runner.alarms).toEqual([]);
});

test("two runners on one view write every record once, and one takes over when the other ends", async () => {
  await using at = await setUp();
  await using otherViews = at.connect();
  const log = createArrayLog(events(1, 3));
  const first = startRunner({ log, views: at.views });
  await reached(at.views, 3);
  await using second = startRunner({ log, views: otherViews });
  await until("the second has read the position", () => second.counted.position === 3);
  for (let sequence = 4; sequence <= 30; sequence++) {
    log.append(...events(sequence, sequence));
    await reached(at.views, sequence);
  }
  await first.end();
  log.append(...events(31, 33));
  await reached(at.views, 33);
  expect(await sequencesIn(at.views)).toEqual(range(1, 33));
  expect(await sequencesIn(at.views, DEAD_LETTERS)).toEqual([]);
  expect(first.counted.records + second.counted.records).toBe(33);
  const standBys = [...first.lines, ...second.lines].filter(({ message }) => message.includes("standing by"));
  expect(standBys.length).toBeGreaterThan(0);
  expect(standBys.length).toBeLessThanOrEqual(2);
});

test("a runner of an older version leaves a newer version's view alone, and says once that it is standing by", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 3));
  await using older = startRunner({ log, views: at.views });
  await reached(at.views, 3);
  await using newerViews = at.connect();
  const newerProjection = { ...eventsProjection, version: eventsProjection.version + 1 };
  await using newer = startRunner({ log, views: newerViews, projection: newerProjection });
  await until("the newer has made the view again", () => newer.counted.records === 3);
  const standBys = () => older.lines.filter(({ message }) => message.includes("standing by")).length;
  for (const sequence of [4, 5]) {
    log.append(...events(sequence, sequence));
    await reached(newerViews, sequence);
    await until("the older has tried and looks again", () => older.counted.position === sequence);
    expect(standBys()).toBe(1);
  }
  expect(older.counted.records).toBe(3);
  expect(await newerViews.open(newerProjection)).toBe("kept");
  expect(await sequencesIn(newerViews)).toEqual(range(1, 5));
});

test("if the database has no room for many records, the runner takes a few at a time, and more as soon as there is room", async () => {
  await using at = await setUp();
  const last = 3 * PROJECTION_RECORDS_PER_COMMIT_MAX;
  const idle: RecordProjection = { ...eventsProjection, stateKeys: () => [], evolve: () => ({ writes: [] }) };
  const taken: number[] = [];
  const roomFor = (from: number): number => (from < 2000 ? 900 : Number.POSITIVE_INFINITY);
  const fits = async <Result>(from: number, to: number, commit: () => Promise<Result>): Promise<Result> => {
    if (to - from > roomFor(from)) throw new Error("database or disk is full");
    taken.push(to - from);
    return commit();
  };
  const views: ViewStore = {
    ...at.views,
    commit: (moving) => fits(moving.from, moving.to, () => at.views.commit(moving)),
  };
  await using _runner = startRunner({ log: createArrayLog(events(1, last)), views, projection: idle });
  await reached(at.views, last);
  expect(taken.slice(0, 2)).toEqual([250, 500]);
  expect(Math.max(...taken)).toBe(PROJECTION_RECORDS_PER_COMMIT_MAX);
});

const CHANGED_ROWS: readonly (readonly [readonly ("outdated" | "unwritable")[]])[] = [
  [["outdated"]],
  [["unwritable", "outdated"]],
];
test.each(CHANGED_ROWS)(
  "if the database answers %p, because somebody else changed its rows, the records are taken again at once",
  async (kinds) => {
    await using at = await setUp();
    const results = [...kinds];
    const views: ViewStore = {
      ...at.views,
      commit: async (commit) => {
        const kind = results.shift();
        if (kind === undefined) return at.views.commit(commit);
        return kind === "outdated" ? { kind } : { kind, detail: "it was locked" };
      },
    };
    await using runner = startRunner({ log: createArrayLog(events(1, 1)), views });
    await reached(at.views, 1);
    expect(runner.counted.deadLetters).toBe(0);
    expect(await sequencesIn(at.views)).toEqual([1]);
    expect(runner.lines.filter(({ level }) => level !== "info" && level !== "debug")).toEqual([]);
  },
);

test("stopping ends the runner after its current commit, whatever it waits for", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, PROJECTION_RECORDS_PER_COMMIT_MAX * 2));
  let finishCommit = (): void => undefined;
  const mayFinish = new Promise<void>((resolve) => {
    finishCommit = resolve;
  });
  let isCommitting = false;
  const views: ViewStore = {
    ...at.views,
    commit: async (commit) => {
      isCommitting = true;
      await mayFinish;
      return at.views.commit(commit);
    },
  };
  const busy = startRunner({ log, views });
  await until("a commit runs", () => isCommitting);
  const ended = busy.end();
  finishCommit();
  await ended;
  const successor = successorOf(eventsProjection).name;
  expect(await at.views.position(successor)).toBe(PROJECTION_RECORDS_PER_COMMIT_MAX);

  const retrying = startRunner({
    log: { ...log, lastSequence: () => Promise.reject(new Error("away")) },
    views,
  });
  await until("it waits to try again", () => retrying.lines.some(({ level }) => level === "error"));
  await retrying.end();

  const idle = startRunner({ log, views });
  await until("it waits for records", () => idle.counted.position === PROJECTION_RECORDS_PER_COMMIT_MAX * 2);
  await idle.end();
});

test("a read that waits for a sequence gets it when another process has projected it, and gives up in time", async () => {
  await using at = await setUp();
  await using reader = at.connect();
  const log = createArrayLog(events(1, 3));
  await using _runner = startRunner({ log, views: at.views });
  const wait = { views: reader, projection: "events" };
  expect(await waitForPosition({ ...wait, sequence: 3, timeoutMs: 10_000 })).toBe(true);
  expect(await waitForPosition({ ...wait, sequence: 4, timeoutMs: 30 })).toBe(false);
  const waiting = waitForPosition({ ...wait, sequence: 4, timeoutMs: 10_000 });
  log.append(...events(4, 4));
  expect(await waiting).toBe(true);
});

/** Counts the events of the only asset. */
const COUNTS = {
  name: "counts",
  columns: { tenant: TEXT, asset_id: TEXT, count: INTEGER },
  primaryKey: ["tenant", "asset_id"],
  indexes: [],
} as const satisfies Table;
const counting = (name: string, version = 1): Projection => {
  const table = { ...COUNTS, name };
  const key = ({ tenant, facts }: FirstEvent) => ({ tenant, asset_id: facts.assetId });
  return onFirstEvents({
    name,
    version,
    tables: [table],
    stateKeys: (events) => events.map((event) => ({ table, key: key(event) })),
    evolve: (states, found) => {
      const [first] = found;
      if (!first) return [];
      const known = states.get(table, key(first));
      const count = (known ? rowInteger(known, "count") : 0) + found.length;
      return [{ kind: "upsert", table, row: { ...key(first), count } }];
    },
  });
};
const countIn = async (views: ViewStore, name: string) =>
  (await views.load({ ...COUNTS, name }, [{ tenant: "acme", asset_id: "credit_model" }]))[0]?.count;

test("a repeated event counts once, both within the group of the first one and long after it", async () => {
  await using at = await setUp();
  const again = (sequence: number, id: string) => messageOf(sequence, { event: simpleEvent(id) });
  const log = createArrayLog([...events(1, 3), again(4, "evt_2")]);
  await using _runner = startRunner({
    log,
    views: at.views,
    projections: [eventsProjection, counting("counts")],
  });
  await reached(at.views, 4);
  expect(await countIn(at.views, "counts")).toBe(3);
  log.append(again(5, "evt_1"), again(6, "evt_9"));
  await reached(at.views, 6);
  expect(await countIn(at.views, "counts")).toBe(4);
});

test("a new view catches up while the others move on, and then moves with them", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 2500));
  const first = startRunner({ log, views: at.views });
  await reached(at.views, 2500);
  await first.end();
  log.append(...events(2501, 2600));
  const projections = [eventsProjection, counting("early"), counting("late")] as const;
  // One of them has processed some records already, so there are three positions at once.
  await at.views.open(projections[1]);
  await at.views.commit({ views: [projections[1]], from: 0, to: 700, writes: [], deadLetters: [] });
  await using second = startRunner({ log, views: at.views, projections });
  await until("all stand at the end", async () => {
    const positions = await Promise.all(projections.map(({ name }) => at.views.position(name)));
    return positions.every((position) => position === 2600);
  });
  expect(await countIn(at.views, "early")).toBe(1900);
  expect(await countIn(at.views, "late")).toBe(2600);
  log.append(...events(2601, 2610));
  await until("they move together", async () => (await countIn(at.views, "late")) === 2610);
  expect(await countIn(at.views, "early")).toBe(1910);
  expect(second.alarms).toEqual([]);
});

test("while a new view catches up, the leading view gets its turns, and does not overtake the other's turns while events arrive", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 1000));
  const first = startRunner({ log, views: at.views });
  await reached(at.views, 1000);
  await first.end();
  log.append(...events(1001, 1100));
  const moved: (readonly [name: string, to: number])[] = [];
  let failures = 1;
  let [last, leader] = [1100, 1000];
  const beyond: number[] = [];
  const views: ViewStore = {
    ...at.views,
    commit: async (commit) => {
      // After a failure it tries a few records at a time, so that each turn is short.
      if (failures-- > 0) throw new Error("no room");
      for (const { name } of commit.views) moved.push([name, commit.to]);
      if (commit.views[0]?.name === "events") {
        leader = commit.to;
        if (last < 1200) log.append(...events(++last, last));
      } else if (commit.to > leader) beyond.push(commit.to);
      return at.views.commit(commit);
    },
  };
  const projections = [eventsProjection, counting("late")] as const;
  await using _second = startRunner({ log, views, projections });
  await until("both stand at the end", async () => (await at.views.position("late")) === 1200);
  const leaders = moved.findIndex(([name, to]) => name === "events" && to === 1100);
  const others = moved.findIndex(([name, to]) => name === "late" && to === 1000);
  expect([leaders >= 0, leaders < others || others < 0]).toEqual([true, true]);
  const [firstOfOthers, lastOfLeader] = [
    moved.findIndex(([name]) => name === "late"),
    moved.findLastIndex(([name, to]) => name === "events" && to === 1200),
  ];
  expect(firstOfOthers).toBeLessThan(lastOfLeader);
  expect(beyond).toEqual([]);
});

test("if the leading view is rebuilt, no view moves beyond it", async () => {
  await using at = await setUp();
  const log = createArrayLog(events(1, 2500));
  const counts = counting("counts");
  const first = startRunner({ log, views: at.views, projections: [eventsProjection, counts] });
  await reached(at.views, 2500);
  await first.end();
  const newer = { ...eventsProjection, version: eventsProjection.version + 1 };
  log.append(...events(2501, 2520));
  await using _second = startRunner({ log, views: at.views, projections: [newer, counts] });
  await until("both stand at the end", async () => (await at.views.position("counts")) === 2520);
  expect(await at.views.position("events")).toBe(2520);
  expect(await countIn(at.views, "counts")).toBe(2520);
});

test("the runner recovers when the database is back: an unreachable database is a warning, an unwritable one an error", async () => {
  await using at = await setUp();
  const failures: Error[] = [
    new ViewsUnavailableError("connect ECONNREFUSED"),
    new ViewsBusyError("cannot execute in a read-only transaction", "25006"),
    new ViewsClosedError("password authentication failed"),
    new ViewsMissingError("relation does not exist"),
    new Error("database or disk is full"),
  ];
  const views: ViewStore = {
    ...at.views,
    commit: async (commit) => {
      const failure = failures.shift();
      if (failure) throw failure;
      return at.views.commit(commit);
    },
  };
  await using runner = startRunner({ log: createArrayLog(events(1, 3)), views });
  await reached(at.views, 3);
  const stops = runner.lines.filter(({ message }) => message.startsWith("projecting stopped"));
  expect(stops.map(({ level }) => level)).toEqual(["warn", "error", "error", "error", "error"]);
});
