import { expect, test } from "bun:test";
import { createSqliteDatabase } from "../../../test/projections/sqlite-database.ts";
import { VIEW_MADE_RECORDS_MIN } from "../../limits.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import { INTEGER, type Table, TEXT } from "../store/tables.ts";
import { ViewsUnavailableError } from "../store/unavailable.ts";
import { VIEWS } from "../store/view-store.ts";
import { successorOf } from "./beside.ts";
import { createViewReadiness, openView } from "./view-readiness.ts";

const view = (name: string) => ({ name, version: 3, tables: [] });
const projections = [view("events"), view("cases")];
const SUCCESSOR = successorOf(view("events")).name;

const looking = () => {
  const positions: Record<string, number> = {};
  const stand = { last: 0, isAway: false, looks: 0 };
  const readiness = createViewReadiness({
    views: {
      load: async (table, keys) => {
        expect(table).toBe(VIEWS);
        stand.looks++;
        return keys.map(({ name }) => ({ name: name ?? "", position: positions[String(name)] ?? 0 }));
      },
    },
    log: {
      lastSequence: async () => {
        if (stand.isAway) throw new LogUnavailableError("The event log could not be read.");
        return stand.last;
      },
    },
    projections,
  });
  const check = async (position: number, last: number, names = ["events"]): Promise<string> => {
    positions.events = position;
    stand.last = last;
    return readiness.check(names).then(
      () => "read",
      (error) => String(error.reason),
    );
  };
  return { stand, positions, check, readiness };
};

test("a view that has nothing of a log is not read, and the reason says how far its successor is", async () => {
  const { positions, check } = looking();
  const last = VIEW_MADE_RECORDS_MIN + 1;
  expect(await looking().check(0, 0)).toBe("read");
  expect(await looking().check(0, VIEW_MADE_RECORDS_MIN)).toBe("read");
  expect(await looking().check(1, 1_000_000)).toBe("read");
  expect(await check(0, last, ["cases"])).toBe(
    `The view cases is at record 0 of ${last}, and is read when it has the last of them.`,
  );
  positions[SUCCESSOR] = 600;
  expect(await check(0, last)).toBe(
    `The view events is at record 600 of ${last}, and is read when it has the last of them.`,
  );
  expect(await check(last, last)).toBe("read");
});

test("a view that could be read once is not looked at again, until it is gone", async () => {
  const { stand, check, readiness } = looking();
  expect(await readiness.lookFirst()).toBe(0);
  const { looks } = stand;
  expect(await check(0, 1_000_000)).toBe("read");
  expect(stand.looks).toBe(looks);
  readiness.forget(["events"]);
  expect(await check(0, 1_000_000)).toContain("at record 0 of 1000000");
});

test("views are readable while the log is away, and are looked at again when it is back", async () => {
  const { stand, check, readiness } = looking();
  stand.isAway = true;
  expect(await readiness.lookFirst()).toBeUndefined();
  expect(await check(0, 5000)).toBe("read");
  stand.isAway = false;
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
});

test("the first look gives the end of the log even if the database of the views was lost after it was opened", async () => {
  const readiness = createViewReadiness({
    views: { load: () => Promise.reject(new ViewsUnavailableError("the connection was lost")) },
    log: { lastSequence: async () => 5000 },
    projections,
  });
  expect(await readiness.lookFirst()).toBe(5000);
});

const THINGS = {
  name: "things",
  columns: { id: TEXT, count: INTEGER },
  primaryKey: ["id"],
  indexes: [],
} as const satisfies Table;

test("tables of another version stay if they have the columns that this version reads, and are made again if not", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const things = { name: "things", version: 1, tables: [THINGS] };
  const row = { id: "a", count: 1 };
  expect(await openView(views, things)).toEqual({ code: "made", version: 1 });
  await views.commit({
    ...{ views: [things], from: 0, to: 1, deadLetters: [] },
    writes: [{ kind: "insert", table: THINGS, row }],
  });
  expect(await openView(views, things)).toEqual({ code: "kept", version: 1 });
  expect(await openView(views, { ...things, version: 2 })).toEqual({ code: "older", version: 1 });
  expect(await views.load(THINGS, [{ id: "a" }])).toEqual([row]);
  const wider = { ...THINGS, columns: { ...THINGS.columns, sum: INTEGER } };
  const others = [
    { ...things, version: 3, tables: [wider] },
    { ...things, version: 4, tables: [wider, { ...THINGS, name: "others" }] },
  ];
  for (const other of others)
    expect(await openView(views, other)).toEqual({ code: "made_again", version: other.version });
});
