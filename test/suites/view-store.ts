/** The promises of every view store. Each database runs it (test/projections/view-store.test.ts). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SNAPSHOT_ROWS } from "../../src/limits.ts";
import { INTEGER, NULLABLE_TEXT, type Row, type Table, TEXT } from "../../src/views/store/tables.ts";
import { tenantQuery } from "../../src/views/store/tenant-query.ts";
import {
  DEAD_LETTERS,
  type DeadLetter,
  VIEW_ENDS,
  VIEW_REVISIONS,
  VIEWS,
  type ViewCommit,
  type ViewDefinition,
  type ViewRevision,
  type ViewStore,
  type Write,
} from "../../src/views/store/view-store.ts";
import { openView } from "./opened-view.ts";

/** One database, empty at first. */
export interface ViewDatabase extends AsyncDisposable {
  /** Another store on the same database, as another process would have it. */
  connect(): ViewStore;
}

/** `opened`: views that may be open in it already, without rows. It is the same array each time, so that they are not rebuilt for each test. */
export type CreateDatabase = (opened?: readonly ViewDefinition[]) => Promise<ViewDatabase> | ViewDatabase;

const THINGS = {
  name: "things",
  columns: { tenant: TEXT, key: TEXT, sequence: INTEGER, colour: TEXT, note: NULLABLE_TEXT },
  primaryKey: ["tenant", "key"],
  indexes: [
    ["tenant", "sequence"],
    ["tenant", "note", "sequence"],
  ],
} as const satisfies Table;
const MARKS = {
  name: "marks",
  columns: { tenant: TEXT, mark: TEXT, sequence: INTEGER },
  primaryKey: ["tenant", "mark", "sequence"],
  indexes: [],
} as const satisfies Table;
const OTHERS = { ...MARKS, name: "others" } as const satisfies Table;
const VIEW = { name: "things", version: 1, tables: [THINGS, MARKS] };
const OTHER_VIEW = { name: "others", version: 1, tables: [OTHERS] };

const thing = (sequence: number, change: Row = {}): Row => ({
  tenant: "acme",
  key: `k${sequence}`,
  sequence,
  colour: "red",
  note: null,
  ...change,
});
const insert = (row: Row, table: Table = THINGS): Write => ({ kind: "insert", table, row });
const mark = (sequence: number, text: string, tenant = "acme"): Write =>
  insert({ tenant, mark: text, sequence }, MARKS);

const commitOf = (from: number, to: number, change: Partial<ViewCommit> = {}): ViewCommit => ({
  views: [VIEW],
  from,
  to,
  writes: [],
  deadLetters: [],
  ...change,
});

const letter = (sequence: number, change: Partial<DeadLetter> = {}): DeadLetter => ({
  projection: "things",
  sequence,
  tenant: "acme",
  eventId: "evt_1",
  code: "some_code",
  detail: "some reason",
  recordedAt: "2026-11-20T10:00:00.000Z",
  ...change,
});

const allThings = (tenant = "acme") =>
  tenantQuery({ tenant, table: THINGS, columns: ["key"], where: [], order: "asc", rowsMax: 10_000 });

const keysOf = async (store: Pick<ViewStore, "select">, tenant?: string): Promise<readonly unknown[]> =>
  (await store.select(allThings(tenant))).map(({ key }) => key);

const lettersOf = (store: ViewStore, tenant = "acme"): Promise<readonly Row[]> =>
  store.select(
    tenantQuery({
      tenant,
      table: DEAD_LETTERS,
      columns: ["projection", "sequence", "tenant", "event_id", "code", "detail", "recorded_at"],
      where: [],
      order: "asc",
      rowsMax: 100,
    }),
  );

export const viewStoreSuite = (
  database: string,
  create: () => Promise<ViewDatabase> | ViewDatabase,
): void => {
  const setUp = () => openView(create, VIEW);

  describe(`one state of the views in ${database}`, () => {
    test("lists, rows and positions of every view stay as they were when the snapshot began", async () => {
      await using made = await create();
      await using store = made.connect();
      await store.open(VIEW);
      await store.open(OTHER_VIEW);
      const other = { tenant: "acme", mark: "a", sequence: 1 };
      await store.commit(commitOf(0, 1, { writes: [insert(thing(1))] }));
      const seen = await store.snapshot(VIEW, async (snapshot) => {
        const look = async () => ({
          keys: await keysOf(snapshot),
          others: await snapshot.load(OTHERS, [other]),
          positions: (await snapshot.load(VIEWS, [{ name: "things" }, { name: "others" }])).map(
            ({ position }) => position,
          ),
        });
        const before = await look();
        await store.commit(commitOf(1, 2, { writes: [insert(thing(2))] }));
        await store.commit(commitOf(0, 2, { views: [OTHER_VIEW], writes: [insert(other, OTHERS)] }));
        return { before, after: await look() };
      });
      expect(seen.after).toEqual(seen.before);
      expect(seen.before).toMatchObject({ keys: ["k1"], others: [] });
      expect(seen.before.positions.toSorted()).toEqual([0, 1]);
      expect(await keysOf(store)).toEqual(["k1", "k2"]);
    });

    test("a snapshot returns all rows in the order of their keys, even more rows than one read returns", async () => {
      await using at = await openView(create, VIEW);
      const sequences = Array.from({ length: 2 * SNAPSHOT_ROWS + 1 }, (_, index) => index);
      await at.store.commit(commitOf(0, 1, { writes: sequences.map((sequence) => mark(sequence, "m")) }));
      const seen = await at.store.snapshot(VIEW, async ({ rows }) => {
        const found: unknown[] = [];
        for await (const page of rows(MARKS)) found.push(...page.map(({ sequence }) => sequence));
        return found;
      });
      expect(seen).toEqual(sequences);
    });
  });

  describe(`opening a view in ${database}`, () => {
    test("a new view is empty and stands at 0; opening it again changes nothing", async () => {
      await using made = await create();
      await using store = made.connect();
      expect(await store.position("things")).toBe(0);
      expect(await store.open(VIEW)).toBe("made");
      expect(await store.position("things")).toBe(0);
      expect(await keysOf(store)).toEqual([]);
      await store.commit(commitOf(0, 3, { writes: [insert(thing(3))] }));
      expect(await store.open(VIEW)).toBe("kept");
      expect(await store.position("things")).toBe(3);
      expect(await keysOf(store)).toEqual(["k3"]);
    });

    test("stores that open a view of an empty database at once do not disturb each other", async () => {
      await using made = await create();
      const stores = Array.from({ length: 5 }, () => made.connect());
      const opened = await Promise.all(stores.map((store) => store.open(VIEW)));
      expect(opened.toSorted()).toEqual(["kept", "kept", "kept", "kept", "made"]);
      await Promise.all(stores.map((store) => store.close()));
    });

    test("another version starts again from nothing, with its own tables, and leaves other views alone", async () => {
      await using at = await setUp();
      const { store } = at;
      await store.open(OTHER_VIEW);
      const others = {
        views: [OTHER_VIEW],
        writes: [insert({ tenant: "acme", mark: "m", sequence: 1 }, OTHERS)],
      };
      await store.commit(commitOf(0, 9, { ...others, deadLetters: [letter(8, { projection: "others" })] }));
      await store.commit(commitOf(0, 5, { writes: [insert(thing(5))], deadLetters: [letter(4)] }));

      const { note: _, ...columns } = THINGS.columns;
      const narrower: Table = { ...THINGS, columns, indexes: [["tenant", "sequence"]] };
      expect(await store.load(VIEW_REVISIONS, [{ name: "things" }])).toEqual([]);
      expect(await store.open({ ...VIEW, version: 2, tables: [narrower] })).toBe("rebuilt");
      expect(await store.load(VIEW_REVISIONS, [{ name: "things" }])).toMatchObject([{ revisions: 1 }]);
      expect(await store.position("things")).toBe(0);
      expect(await keysOf(store)).toEqual([]);
      await expect(store.load(MARKS, [{ tenant: "acme", mark: "m", sequence: 1 }])).rejects.toThrow();
      expect((await lettersOf(store)).map(({ projection }) => projection)).toEqual(["others"]);
      expect(await store.position("others")).toBe(9);

      expect(await store.open(VIEW)).toBe("rebuilt");
      expect(await store.load(MARKS, [{ tenant: "acme", mark: "m", sequence: 1 }])).toEqual([]);
    });
  });

  describe(`writing to ${database}`, () => {
    test("loading many keys of several tenants returns every existing row once", async () => {
      await using at = await setUp();
      const { store } = at;
      const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
      const tenants = ["acme", "acme\u001b", "", "b"];
      const things = tenants.flatMap((tenant) => numbers.map((number) => thing(number, { tenant })));
      const marks = numbers.map((sequence) => ({ tenant: "acme", mark: `m${sequence % 3}`, sequence }));
      const some = things.filter((_, index) => index % 3 !== 0);
      const someMarks = marks.filter((_, index) => index % 4 !== 0);
      await store.commit(
        commitOf(0, 1, {
          writes: [...some.map((row) => insert(row)), ...someMarks.map((row) => insert(row, MARKS))],
        }),
      );
      const keys = things.map(({ tenant = "", key = "" }) => ({ tenant, key })).reverse();
      const sorted = (rows: readonly Row[]) =>
        rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
      for (const count of [0, 1, 15, 16, 17, 33, keys.length]) {
        const asked = keys.slice(0, count);
        const there = some.filter((row) =>
          asked.some(({ tenant, key }) => tenant === row.tenant && key === row.key),
        );
        const found = await store.load(THINGS, asked);
        expect(sorted(found)).toEqual(sorted(there));
      }
      expect(sorted(await store.load(MARKS, marks))).toEqual(sorted(someMarks));
    });

    test("the row at or before a key is the last one that differs only in the last column", async () => {
      await using at = await setUp();
      const { store } = at;
      const marks = [3, 7, 1000, Number.MAX_SAFE_INTEGER - 1].map((sequence) => mark(sequence, "m"));
      const others = [mark(4, "l"), mark(5, "n"), mark(6, "m", "other")];
      const writes = [...marks, ...others, insert(thing(1, { key: "a" })), insert(thing(2, { key: "c" }))];
      await store.commit(commitOf(0, 1, { writes }));
      const found = async (...sequences: readonly number[]): Promise<readonly unknown[]> => {
        const keys = sequences.map((sequence) => ({ tenant: "acme", mark: "m", sequence }));
        const rows = await store.load(MARKS, keys, "at_or_before");
        for (const row of rows) expect(row).toMatchObject({ tenant: "acme", mark: "m" });
        return [...new Set(rows.map(({ sequence }) => Number(sequence)))].sort((one, other) => one - other);
      };
      expect(await found(2)).toEqual([]);
      expect(await found(3)).toEqual([3]);
      expect(await found(6)).toEqual([3]);
      expect(await found(0, 4, 7, 8, 999, 10 ** 12)).toEqual([3, 7, 1000]);
      expect(await found(Number.MAX_SAFE_INTEGER)).toEqual([Number.MAX_SAFE_INTEGER - 1]);
      expect(await found()).toEqual([]);
      const [row] = await store.load(THINGS, [{ tenant: "acme", key: "b" }], "at_or_before");
      expect(row).toMatchObject({ key: "a" });
    });

    test("a writer that has not seen the last commit writes nothing", async () => {
      await using at = await setUp();
      const { store } = at;
      await store.commit(commitOf(0, 5, { writes: [insert(thing(5))] }));
      for (const from of [0, 4, 6]) {
        const late = commitOf(from, 9, { writes: [insert(thing(9))], deadLetters: [letter(9)] });
        expect(await store.commit(late)).toEqual({ kind: "superseded", view: "things", position: 5 });
      }
      expect(await keysOf(store)).toEqual(["k5"]);
      expect(await lettersOf(store)).toEqual([]);
      expect(await store.position("things")).toBe(5);
    });

    test("views that move together all move or none does", async () => {
      await using at = await setUp();
      const { store } = at;
      await store.open(OTHER_VIEW);
      const both = { views: [VIEW, OTHER_VIEW], writes: [insert(thing(1)), insert(thing(2))] };
      expect(await store.commit(commitOf(0, 2, both))).toEqual({ kind: "committed" });
      expect([await store.position("things"), await store.position("others")]).toEqual([2, 2]);
      await store.commit(commitOf(2, 3, { views: [OTHER_VIEW] }));
      const late = { ...both, writes: [insert(thing(3))] };
      expect(await store.commit(commitOf(2, 4, late))).toEqual({
        kind: "superseded",
        view: "others",
        position: 3,
      });
      expect([await store.position("things"), await store.position("others")]).toEqual([2, 3]);
      expect(await keysOf(store)).toEqual(["k1", "k2"]);
    });

    test("of several writers at the same position one wins, every time", async () => {
      await using at = await setUp();
      const stores = [at.store, at.another(), at.another()];
      for (let round = 0; round < 10; round++) {
        const results = await Promise.all(
          stores.map((store, writer) =>
            store.commit(
              commitOf(round, round + 1, {
                writes: [insert(thing(round + 1, { colour: `writer ${writer}` }))],
              }),
            ),
          ),
        );
        expect(results.filter(({ kind }) => kind === "committed")).toHaveLength(1);
        expect(results.filter(({ kind }) => kind === "superseded")).toHaveLength(stores.length - 1);
      }
      expect(await keysOf(at.store)).toHaveLength(10);
      for (const store of stores) await store.close();
    });

    test("many new rows read back as they were written; one that exists already, at any place, undoes all", async () => {
      await using at = await setUp();
      const { store } = at;
      const notes = ["\0", "\ud800", "\u001b", null, "é"];
      const rows = Array.from({ length: 100 }, (_, index) =>
        thing(index, { note: notes[index % 5] ?? null }),
      );
      const others: readonly Write[] = [mark(1, "x"), mark(2, "y")];
      const writes = [...rows.slice(0, 70).map((row) => insert(row)), ...others];
      writes.push(...rows.slice(70).map((row) => insert(row)));
      await store.commit(commitOf(0, 100, { writes }));
      const keys = rows.map(({ key = "" }) => ({ tenant: "acme", key }));
      const found = await store.load(THINGS, keys);
      expect(found.toSorted((a, b) => Number(a.sequence) - Number(b.sequence))).toEqual(rows);
      for (const place of [0, 7, 31, 32, 49]) {
        const more = Array.from({ length: 50 }, (_, index) => insert(thing(200 + index)));
        more[place] = insert(thing(place));
        const result = await store.commit(commitOf(100, 101, { writes: more, deadLetters: [letter(101)] }));
        expect(result).toMatchObject({ kind: "unwritable" });
        expect((await keysOf(store)).length).toBe(100);
        expect(await lettersOf(store)).toEqual([]);
      }
    });

    test("the end record of a view is removed and renamed with the view", async () => {
      await using at = await setUp();
      const { store } = at;
      const made = { ...OTHER_VIEW, name: "made", tables: [{ ...OTHERS, name: "made" }] };
      const lettersAre = async () =>
        (await lettersOf(store)).map(({ projection, sequence }) => [projection, sequence]);
      const end = (name: string, position: number, record: string): Write => ({
        kind: "upsert",
        table: VIEW_ENDS,
        row: { name, position, record },
      });
      const ends = async () => {
        const keys = ["things", "others", "made"].map((name) => ({ name }));
        const rows = await store.load(VIEW_ENDS, keys);
        return Object.fromEntries(rows.map(({ name, record }) => [name, record]));
      };
      await store.commit(commitOf(0, 1, { writes: [end("things", 1, "a")] }));
      for (const [view, record] of [
        [OTHER_VIEW, "live"],
        [made, "made"],
      ] as const) {
        await store.open(view);
        const deadLetters = [letter(view === made ? 7 : 6, { projection: view.name })];
        await store.commit(
          commitOf(0, 1, { views: [view], writes: [end(view.name, 1, record)], deadLetters }),
        );
      }
      await store.commit(commitOf(1, 2, { views: [OTHER_VIEW] }));
      expect(await store.replace({ view: OTHER_VIEW, by: made, lagMax: 0 })).toBe("behind");
      const newer = { ...OTHER_VIEW, version: 2 };
      await expect(store.replace({ view: newer, by: made, lagMax: 1 })).rejects.toThrow("another version");
      expect(await lettersAre()).toEqual([
        ["others", 6],
        ["made", 7],
      ]);
      expect(await store.replace({ view: OTHER_VIEW, by: made, lagMax: 1 })).toBe("replaced");
      expect(await ends()).toEqual({ things: "a", others: "made" });
      expect(await lettersAre()).toEqual([["others", 7]]);
      expect([(await store.names()).toSorted(), await store.position("others")]).toEqual([
        ["others", "things"],
        1,
      ]);
      expect(await store.load(VIEW_REVISIONS, [{ name: "others" }])).toMatchObject([{ revisions: 1 }]);
      expect((await store.names()).toSorted()).toEqual(["others", "things"]);
      await store.open(newer);
      await store.drop("things");
      expect(await ends()).toEqual({});
      expect(await store.names()).toEqual(["others"]);
    });

    test("commits of several views at the same time do not mix", async () => {
      await using at = await setUp();
      const { store } = at;
      await store.open(OTHER_VIEW);
      const broken = commitOf(0, 2000, {
        writes: [...Array.from({ length: 2000 }, (_, index) => insert(thing(index))), insert(thing(7))],
      });
      const good = commitOf(0, 1, {
        views: [OTHER_VIEW],
        writes: [insert({ tenant: "acme", mark: "m", sequence: 1 }, OTHERS)],
      });
      const results = await Promise.all([store.commit(broken), store.commit(good)]);
      expect(results.map(({ kind }) => kind)).toEqual(["unwritable", "committed"]);
      expect([await store.position("things"), await store.position("others")]).toEqual([0, 1]);
      expect(await keysOf(store)).toEqual([]);
    });

    test("writes of any kinds in any order have the same result as one by one", async () => {
      await using at = await setUp();
      const { store } = at;
      const keys = ["a", "b", "c", "d"];
      const rows = new Map<string, Row>();
      let position = 0;
      const step = fc.record({ key: fc.constantFrom(...keys), kind: fc.constantFrom("put", "delete") });
      const check = async (steps: readonly { readonly key: string; readonly kind: string }[]) => {
        const writes = steps.map(({ key, kind }, index): Write => {
          const row = thing(position + index, { key });
          const isNew = !rows.has(key);
          if (kind === "delete") {
            rows.delete(key);
            return { kind: "delete", table: THINGS, key: { tenant: "acme", key } };
          }
          rows.set(key, row);
          return { kind: isNew ? "insert" : "upsert", table: THINGS, row };
        });
        const moved = await store.commit(commitOf(position, position + steps.length, { writes }));
        expect(moved).toEqual({ kind: "committed" });
        position += steps.length;
        const found = await store.load(
          THINGS,
          keys.map((key) => ({ tenant: "acme", key })),
        );
        expect(new Map(found.map((row) => [String(row.key), row]))).toEqual(rows);
      };
      await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), check), { endOnFailure: true });
    });

    test("a dead letter is read by its tenant, and the same record again replaces it", async () => {
      await using at = await setUp();
      const { store } = at;
      const unread = letter(2, { tenant: null, eventId: null, code: "undecodable" });
      await store.commit(
        commitOf(0, 3, { deadLetters: [letter(1), unread, letter(3, { tenant: "globex" })] }),
      );
      await store.commit(commitOf(3, 4, { deadLetters: [letter(1, { code: "another_code" })] }));
      expect(await lettersOf(store)).toEqual([
        {
          projection: "things",
          sequence: 1,
          tenant: "acme",
          event_id: "evt_1",
          code: "another_code",
          detail: "some reason",
          recorded_at: "2026-11-20T10:00:00.000Z",
        },
      ]);
      expect(await lettersOf(store, "globex")).toHaveLength(1);
    });
  });

  describe(`reading from ${database}`, () => {
    test("a revision is made only if all rows it builds on are as they were read, and it moves no position", async () => {
      await using at = await setUp();
      const { store } = at;
      const key = (name: string): Row => ({ tenant: "acme", key: name });
      const note = (row: Row): Write => ({ kind: "upsert", table: THINGS, row: { ...row, note: "revised" } });
      const [one, two] = [thing(1), thing(2, { note: "a" })];
      await store.commit(commitOf(0, 2, { writes: [insert(one), insert(two), mark(2, "m")] }));
      const both = [
        { table: THINGS, key: key("k1"), row: one },
        { table: THINGS, key: key("k2"), row: two },
        { table: MARKS, key: { tenant: "acme", mark: "m", sequence: 1 }, row: undefined },
      ];
      const outdated: ViewRevision[] = [
        { views: [{ ...VIEW, version: 2 }], expected: both, writes: [note(one)] },
        { views: [VIEW, OTHER_VIEW], expected: [], writes: [note(one)] },
        {
          views: [VIEW],
          expected: [...both, { table: THINGS, key: key("k3"), row: thing(3) }],
          writes: [note(one)],
        },
        {
          views: [VIEW],
          expected: [
            ...both,
            {
              table: MARKS,
              key: { tenant: "acme", mark: "m", sequence: 2 },
              row: undefined,
            },
          ],
          writes: [note(one)],
        },
        {
          views: [VIEW],
          expected: [{ table: THINGS, key: key("k2"), row: { ...two, note: null } }],
          writes: [note(one)],
        },
      ];
      for (const revision of outdated) expect(await store.revise(revision)).toEqual({ kind: "outdated" });
      expect(await store.load(THINGS, [key("k1")])).toEqual([one]);

      const gone: Write = { kind: "delete", table: MARKS, key: { tenant: "acme", mark: "m", sequence: 2 } };
      const right: ViewRevision = { views: [VIEW], expected: both, writes: [note(one), gone] };
      expect(await store.revise(right)).toEqual({ kind: "revised" });
      expect(await store.load(THINGS, [key("k1")])).toEqual([{ ...one, note: "revised" }]);
      expect(await store.load(MARKS, [{ tenant: "acme", mark: "m", sequence: 2 }])).toEqual([]);
      expect(await store.position("things")).toBe(2);
      expect(await store.revise(right)).toEqual({ kind: "outdated" });
      expect(await store.commit(commitOf(2, 3, { writes: [insert(thing(3))] }))).toEqual({
        kind: "committed",
      });
    });

    test("a commit is made only if the rows that it names are as they were read; otherwise it moves no position", async () => {
      await using at = await setUp();
      const { store } = at;
      const key: Row = { tenant: "acme", key: "k1" };
      const absent = { table: THINGS, key, row: undefined };
      const second = { writes: [insert(thing(2))], expected: [{ table: THINGS, key, row: thing(1) }] };
      expect(await store.commit(commitOf(0, 1, { writes: [insert(thing(1))], expected: [absent] }))).toEqual({
        kind: "committed",
      });
      expect(await store.commit(commitOf(1, 2, { ...second, expected: [absent] }))).toEqual({
        kind: "outdated",
      });
      const note: Write = { kind: "upsert", table: THINGS, row: { ...thing(1), note: "revised" } };
      expect(await store.revise({ views: [VIEW], expected: [], writes: [note] })).toEqual({
        kind: "revised",
      });
      expect(await store.commit(commitOf(1, 2, second))).toEqual({ kind: "outdated" });
      expect(await store.position("things")).toBe(1);
      expect(await store.load(THINGS, [{ tenant: "acme", key: "k2" }])).toEqual([]);
      expect(await store.commit(commitOf(1, 2, { writes: second.writes }))).toEqual({ kind: "committed" });
    });

    test("of several revisions that build on the same row one is made, beside commits", async () => {
      await using at = await setUp();
      const stores = [at.store, at.another(), at.another()];
      const key = { tenant: "acme", key: "k1" };
      await at.store.commit(commitOf(0, 1, { writes: [insert(thing(1))] }));
      for (let round = 1; round <= 10; round++) {
        const [row] = await at.store.load(THINGS, [key]);
        const [commit, ...results] = await Promise.all([
          at.store.commit(commitOf(round, round + 1, { writes: [insert(thing(round + 1))] })),
          ...stores.map((store, writer) =>
            store.revise({
              views: [VIEW],
              expected: [{ table: THINGS, key, row }],
              writes: [{ kind: "upsert", table: THINGS, row: thing(1, { colour: `${round} ${writer}` }) }],
            }),
          ),
        ]);
        expect(commit).toEqual({ kind: "committed" });
        expect(results.map(({ kind }) => kind).sort()).toEqual(["outdated", "outdated", "revised"]);
      }
      expect(await at.store.position("things")).toBe(11);
      for (const store of stores) await store.close();
    });

    /**
     * 1. A commit of many rows is started; it lets other work run while it writes.
     * 2. Meanwhile the view is read again and again, by its own store and by another one.
     * 3. Every read saw none of the rows or all of them, and at least one read fell into the commit.
     */
    test("a read never sees half a commit", async () => {
      await using at = await setUp();
      await using another = at.another();
      const COUNT = 2000;
      const READS = 10;
      /** Every row says with which commit it was written. */
      const rowsOf = (commit: number): Write[] =>
        Array.from({ length: COUNT }, (_, index) => {
          const row = thing(index + 1, { note: String(commit) });
          return { kind: "upsert", table: THINGS, row };
        });
      await at.store.commit(commitOf(0, 1, { writes: rowsOf(1) }));
      let isRead = false;
      let begun = 1;
      let ended = 1;
      const committing = (async () => {
        while (!isRead) {
          begun++;
          const committed = await at.store.commit(commitOf(ended, begun, { writes: rowsOf(begun) }));
          expect(committed).toEqual({ kind: "committed" });
          ended = begun;
        }
      })();
      const notes = tenantQuery({
        tenant: "acme",
        table: THINGS,
        columns: ["note"],
        where: [],
        order: "asc",
        rowsMax: COUNT + 1,
      });
      for (let reads = 0; reads < READS || ended < 3; ) {
        for (const store of [at.store, another]) {
          if (begun > ended) reads++;
          const before = await store.position("things");
          const rows = await store.select(notes);
          const keys = [1, COUNT].map((index) => ({ tenant: "acme", key: `k${index}` }));
          const loaded = new Set((await store.load(THINGS, keys)).map(({ note }) => note));
          expect(loaded.size).toBe(1);
          const after = await store.position("things");
          const [seen, ...others] = new Set(rows.map(({ note }) => Number(note)));
          expect({ count: rows.length, others }).toEqual({ count: COUNT, others: [] });
          expect(seen).toBeWithin(before, after + 1);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      isRead = true;
      await committing;
      expect(await another.position("things")).toBe(ended);
    });
  });
};
