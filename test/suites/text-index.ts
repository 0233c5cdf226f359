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
    test("a row is found by each of its words, by all of them together, and by the beginning of a word", async () => {
      await using at = await setUp();
      const { store } = at;
      const rows = [
        ["credit", "model", "dec", "42", "dec_42", "대출"],
        ["creditor", "model"],
        ["dec", "42"],
        [],
        ["a", "a"],
      ];
      const writes = rows.flatMap((words, index) => [insert(thing(index + 1)), wordsOf(index + 1, words)]);
      await store.commit(commitOf(0, 5, { writes }));
      for (const [asked, expected] of [
        [{ words: ["credit"] }, [1]],
        [{ words: ["model"] }, [1, 2]],
        [{ words: ["model", "credit"] }, [1]],
        [{ words: ["dec_42"] }, [1]],
        [{ words: ["42", "dec"] }, [1, 3]],
        [{ words: ["creditor", "42"] }, []],
        [{ words: ["대출"] }, [1]],
        [{ words: ["a"] }, [5]],
        [{ prefixes: ["credit"] }, [1, 2]],
        [{ prefixes: ["대"] }, [1]],
        [{ prefixes: ["dec_"] }, [1]],
        [{ prefixes: ["de"] }, [1, 3]],
        [{ prefixes: ["cre", "mod"] }, [1, 2]],
        [{ words: ["creditor"], prefixes: ["mod"] }, [2]],
        [{ words: ["and"] }, []],
        [{ prefixes: ["creditors"] }, []],
      ] as const)
        expect({ asked, found: await matching(store, asked) }).toEqual({ asked, found: [...expected] });
    });

    test("a tenant finds only its own rows, whatever names and texts other tenants have", async () => {
      await using at = await setUp();
      const { store } = at;
      const tenants = ["acme", "acm", "acme-x", "Acme", "a/acme", "acme a", "é", "."];
      const writes = tenants.flatMap((tenant, index) => [
        insert(thing(index + 1, { tenant })),
        wordsOf(index + 1, ["same", "e"], tenant),
      ]);
      // Even a row that is in another tenant's index by mistake is not read.
      writes.push(insert(thing(99, { tenant: "globex" })), wordsOf(99, ["same"]));
      await store.commit(commitOf(0, 99, { writes }));
      for (const [index, tenant] of tenants.entries()) {
        expect(await matching(store, { tenant, words: ["same", "e"] })).toEqual([index + 1]);
        expect(await matching(store, { tenant, prefixes: ["sa"] })).toEqual([index + 1]);
      }
      expect(await matching(store, { tenant: "globex", words: ["same"] })).toEqual([]);
      expect(await matching(store, { tenant: "nobody", prefixes: ["s"] })).toEqual([]);
    });

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

    test("a row is found by its labels, alone or together, and not by a word that looks like a label", async () => {
      await using at = await setUp();
      const { store } = at;
      const labels: readonly (readonly Label[])[] = [
        [MARK, ["tag", "team", "Credit Süd"]],
        [MARK, ["tag", "team", "credit süd"]],
        [
          ["mark", ""],
          ["mark", "m="],
          ["tag", "team=credit", "süd"],
        ],
        [["mark", "\0\ud800"], ["mark", "x".repeat(5000)], MARK],
      ];
      const writes = labels.flatMap((some, index) => [
        insert(thing(index + 1)),
        wordsOf(index + 1, ["mark", "m", "tag"], "acme", { labels: some }),
      ]);
      writes.push(insert(thing(9, { tenant: "globex" })), wordsOf(9, ["m"], "globex", { labels: [MARK] }));
      await store.commit(commitOf(0, 9, { writes }));
      const labelled = async (...asked: readonly Label[]) => {
        const where = asked.map((label) => ({ kind: "labelled", index: WORDS, label }) as const);
        const columns = ["sequence"] as const;
        const parts = { tenant: "acme", table: THINGS, columns, where, order: "asc", rowsMax: 9 } as const;
        return (await store.select(tenantQuery(parts))).map(({ sequence }) => sequence);
      };
      expect(await labelled(MARK)).toEqual([1, 2, 4]);
      expect(await labelled(["tag", "team", "Credit Süd"], MARK)).toEqual([1]);
      expect(await labelled(["tag", "team", "credit", "süd"])).toEqual([]);
      expect(await labelled(["mark", ""], ["mark", "m="])).toEqual([3]);
      expect(await labelled(["mark", "\0\ud800"])).toEqual([4]);
      expect(await labelled(["mark", "\0\ud801"])).toEqual([]);
      expect(await labelled(["mark", "x".repeat(5000)], MARK)).toEqual([4]);
      expect(await labelled(["mark", "x".repeat(5001)])).toEqual([]);
      await store.commit(commitOf(9, 10, { writes: [unindex(1), unindex(2)] }));
      expect(await labelled(MARK)).toEqual([4]);
      expect(await matching(store, { words: ["m"] })).toEqual([3, 4]);
    });

    test("a row is found by a range that contains its time, to the last digit", async () => {
      await using at = await setUp();
      const { store } = at;
      const times = [
        "1999-12-31T23:59:60",
        "2026-11-20T10:00:00",
        "2026-11-20T10:00:00.5",
        "2026-11-21T10:00:00",
      ];
      const writes = times.flatMap((time, index) => [
        insert(thing(index + 1, { colour: time })),
        wordsOf(index + 1, ["w"], "acme", { times: [{ name: "colour", time }] }),
      ]);
      await store.commit(commitOf(0, 4, { writes }));
      const bounds = [undefined, ...times, "2026-11-20T10:00:00.6", "2100-01-01T00:00:00"];
      for (const from of bounds) {
        for (const to of bounds) {
          const where = [{ kind: "within", index: WORDS, column: "colour", from, to }] as const;
          const columns = ["colour"] as const;
          const parts = { tenant: "acme", table: THINGS, columns, where, order: "asc", rowsMax: 9 } as const;
          const found = await store.select(tenantQuery(parts));
          expect({ from, to, found: found.map(({ colour }) => colour) }).toEqual({
            from,
            to,
            found: times.filter((time) => time >= (from ?? "") && time < (to ?? "~")),
          });
        }
      }
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
      expect(await store.open({ ...VIEW, version: 2 })).toBe("made_again");
      await store.commit(commitOf(0, 1, { views: [{ ...VIEW, version: 2 }], writes: [insert(thing(1))] }));
      expect(await matching(store, { words: ["kept"] })).toEqual([]);
      expect(await store.open({ name: "things", version: 3, tables: [THINGS] })).toBe("made_again");
      await expect(matching(store, { words: ["kept"] })).rejects.toThrow();
    });

    test("something that is not a word is refused without the database, in rows and in searches", async () => {
      await using at = await setUp();
      for (const word of ['"', "x/y", "A", "a*", "'", "\0"]) {
        const commit = at.store.commit(commitOf(0, 1, { writes: [wordsOf(1, [word])] }));
        await expect(commit).rejects.toThrow("of ASCII");
        await expect(matching(at.store, { words: [word] })).rejects.toThrow("of ASCII");
      }
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
    test.each([1, 3_000, 40_000])(
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
