/** The promises of every text index, in addition to those of the view store (view-store.ts). Each database runs it. */
import { describe, expect, test } from "bun:test";
import { INTEGER, type Row, type Table, TEXT } from "../../src/views/store/tables.ts";
import { tenantQuery } from "../../src/views/store/tenant-query.ts";
import type { Label, TextIndex } from "../../src/views/store/text-index.ts";
import type { IndexWrite, ViewCommit, ViewStore, Write } from "../../src/views/store/view-store.ts";
import { openView } from "./opened-view.ts";
import type { ViewDatabase } from "./view-store.ts";

const THINGS = {
  name: "things",
  columns: { tenant: TEXT, key: TEXT, sequence: INTEGER, colour: TEXT },
  primaryKey: ["tenant", "key"],
  indexes: [["tenant", "sequence"]],
} as const satisfies Table;
const WORDS: TextIndex = { name: "words" };

const VIEW = { name: "things", version: 1, tables: [THINGS], textIndexes: [WORDS] };

const thing = (sequence: number, change: Row = {}): Row => ({
  tenant: "acme",
  key: `k${sequence}`,
  sequence,
  colour: "red",
  ...change,
});
const MARK: Label = ["mark", "m"];
const insert = (row: Row): Write => ({ kind: "insert", table: THINGS, row });
const wordsOf = (
  sequence: number,
  words: readonly string[],
  tenant = "acme",
  beside: Partial<Pick<IndexWrite, "labels" | "times">> = {},
): IndexWrite => ({
  kind: "index",
  index: WORDS,
  tenant,
  sequence,
  words,
  labels: [],
  times: [],
  ...beside,
});
const unindex = (sequence: number): Write => ({ kind: "unindex", index: WORDS, sequence });

/** Sequences of the rows that have the words. */
const matching = async (
  store: ViewStore,
  asked: { words?: readonly string[]; prefixes?: readonly string[]; tenant?: string },
): Promise<readonly unknown[]> => {
  const { words = [], prefixes = [], tenant = "acme" } = asked;
  const where = [{ kind: "matches", index: WORDS, words, prefixes }] as const;
  const columns = ["sequence"] as const;
  const query = tenantQuery({ tenant, table: THINGS, columns, where, order: "asc", rowsMax: 1000 });
  return (await store.select(query)).map(({ sequence }) => sequence);
};

const commitOf = (from: number, to: number, change: Partial<ViewCommit>): ViewCommit => ({
  views: [VIEW],
  from,
  to,
  writes: [],
  deadLetters: [],
  ...change,
});

export const textIndexSuite = (
  database: string,
  create: () => Promise<ViewDatabase> | ViewDatabase,
): void => {
  const setUp = () => openView(create, VIEW);

  describe(`words in ${database}`, () => {
    test("new words replace the old ones of a row, and words are gone when they are removed", async () => {
      await using at = await setUp();
      const { store } = at;
      const writes = [1, 2, 3].flatMap((number) => [
        insert(thing(number)),
        wordsOf(number, ["old", `n${number}`]),
      ]);
      await store.commit(commitOf(0, 3, { writes }));
      const changes = [wordsOf(1, ["new"]), unindex(2), unindex(77)];
      await store.commit(commitOf(3, 4, { writes: changes }));
      expect(await matching(store, { words: ["old"] })).toEqual([3]);
      expect(await matching(store, { prefixes: ["n"] })).toEqual([1, 3]);
      expect(await matching(store, { words: ["new"] })).toEqual([1]);
      // In one commit the last write counts.
      const last = [
        wordsOf(2, ["x"]),
        unindex(2),
        unindex(3),
        wordsOf(3, ["x"]),
        wordsOf(1, ["y"]),
        wordsOf(1, ["x"]),
      ];
      await store.commit(commitOf(4, 5, { writes: last }));
      expect(await matching(store, { words: ["x"] })).toEqual([1, 3]);
      expect(await matching(store, { prefixes: ["y"] })).toEqual([]);
      expect(await matching(store, { words: ["old"] })).toEqual([]);
    });

    test("a prefix that very many words begin with is found too", async () => {
      await using at = await setUp();
      const { store } = at;
      const writes = Array.from({ length: 300 }, (_, index) => [
        insert(thing(index + 1)),
        wordsOf(index + 1, [`id_${index}`, ...(index % 2 ? ["odd", "odd_x"] : ["even"])]),
      ]).flat();
      await store.commit(commitOf(0, 300, { writes }));
      expect(await matching(store, { prefixes: ["id_"] })).toHaveLength(300);
      expect(await matching(store, { prefixes: ["id_29", "od"] })).toEqual([30, 292, 294, 296, 298, 300]);
      expect(await matching(store, { prefixes: ["id_", "odd_"] })).toHaveLength(150);
    });

    test("words are written with the rows of their commit or not at all, and are removed with their view", async () => {
      await using at = await setUp();
      const { store } = at;
      await store.commit(commitOf(0, 1, { writes: [insert(thing(1)), wordsOf(1, ["kept"])] }));
      const broken = [wordsOf(1, ["lost"]), wordsOf(2, ["lost"]), insert(thing(1))];
      expect(await store.commit(commitOf(1, 2, { writes: broken }))).toMatchObject({ kind: "unwritable" });
      expect(await store.commit(commitOf(0, 2, { writes: [wordsOf(1, ["lost"])] }))).toMatchObject({
        kind: "superseded",
      });
      expect(await matching(store, { words: ["lost"] })).toEqual([]);
      expect(await matching(store, { words: ["kept"] })).toEqual([1]);
      expect(await store.open({ ...VIEW, version: 2 })).toBe("rebuilt");
      await store.commit(commitOf(0, 1, { views: [{ ...VIEW, version: 2 }], writes: [insert(thing(1))] }));
      expect(await matching(store, { words: ["kept"] })).toEqual([]);
      expect(await store.open({ name: "things", version: 3, tables: [THINGS] })).toBe("rebuilt");
      await expect(matching(store, { words: ["kept"] })).rejects.toThrow();
    });

    test("the maximum number and length of words is kept and found", async () => {
      await using at = await setUp();
      const { store } = at;
      const long = "𐐨".repeat(64);
      const words = Array.from({ length: 255 }, (_, index) => `${long}_${index}${long.slice(0, 120)}`);
      const writes = [insert(thing(1)), wordsOf(1, [...words, long, "x"], "acme")];
      await store.commit(commitOf(0, 1, { writes }));
      expect(await matching(store, { words: words.slice(0, 200), prefixes: [long] })).toEqual([1]);
      expect(await matching(store, { words: [...words.slice(0, 200), "y"] })).toEqual([]);
    });

    // This includes sequences so far apart that the answer lies in many stretches of the log (tenant-query.ts).
    test.each([1, 40_000])(
      "words, cursor, order and other conditions together match a filter over an array, with sequences %d apart",
      async (apart) => {
        await using at = await setUp();
        const { store } = at;
        const colours = ["red", "green", "blue"];
        const things = Array.from({ length: 60 }, (_, index) => ({
          sequence: (index + 1) * apart,
          colour: colours[index % 3] ?? "",
          words: ["w", `bit${index % 2}`, `n${index}`],
          isMarked: index % 5 === 0,
        }));
        const writes = things.flatMap(({ sequence, colour, words, isMarked }) => [
          insert(thing(sequence, { colour })),
          wordsOf(sequence, words, "acme", { labels: isMarked ? [MARK] : [] }),
        ]);
        await store.commit(commitOf(0, 60 * apart, { writes }));
        const match = { kind: "matches", index: WORDS, words: ["w", "bit1"], prefixes: [] } as const;
        const begun = { ...match, prefixes: ["n"] } as const;
        const isRed = { kind: "equals", column: "colour", value: "red" } as const;
        const isMarked = { kind: "labelled", index: WORDS, label: MARK } as const;
        const placed = (bound: number | undefined) => bound && bound * apart;
        const everyBound = [undefined, 0, 30, 61].flatMap((after) =>
          [undefined, 20].flatMap((above) =>
            [undefined, 45].map((upTo) => ({
              after: placed(after),
              above: placed(above),
              upTo: placed(upTo),
            })),
          ),
        );
        for (const where of [match, begun].flatMap((words) => [
          [words],
          [words, isRed],
          [isRed, words],
          [words, isMarked],
          [isMarked, isRed, words],
        ])) {
          for (const order of ["asc", "desc"] as const) {
            for (const { after, above, upTo } of everyBound) {
              const columns = ["sequence"] as const;
              const bounds = { order, after, above, upTo, rowsMax: 7 };
              const parts = { tenant: "acme", table: THINGS, columns, where, ...bounds };
              const expected = (order === "asc" ? things : things.toReversed())
                .filter((each) => each.words.includes("bit1"))
                .filter((each) => !where.some((one) => one === isRed) || each.colour === "red")
                .filter((each) => !where.some((one) => one === isMarked) || each.isMarked)
                .filter(({ sequence }) => sequence <= (upTo ?? Number.POSITIVE_INFINITY))
                .filter(({ sequence }) => sequence > (above ?? Number.NEGATIVE_INFINITY))
                .filter(
                  ({ sequence }) =>
                    after === undefined || (order === "asc" ? sequence > after : sequence < after),
                );
              expect(await store.select(tenantQuery(parts))).toEqual(
                expected.slice(0, 7).map(({ sequence }) => ({ sequence })),
              );
            }
          }
        }
      },
    );
  });
};
