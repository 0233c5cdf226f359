import { expect, test } from "bun:test";
import { INTEGER, type Row, type Table, TEXT } from "../views/tables.ts";
import type { IndexWrite, PackedWrite, Write } from "../views/view-store.ts";
import { createOverlay } from "./overlay.ts";

const THINGS = {
  name: "things",
  columns: { key: TEXT, count: INTEGER },
  primaryKey: ["key"],
  indexes: [],
} as const satisfies Table;

const upsert = (row: Row): Write => ({ kind: "upsert", table: THINGS, row });
const remove = (key: string): Write => ({ kind: "delete", table: THINGS, key: { key } });

test("only a row that was looked for and not found is written as new", async () => {
  const overlay = createOverlay({ load: async () => [{ key: "there", count: 1 }] });
  await overlay.fetch(["there", "absent", "again"].map((key) => ({ table: THINGS, key: { key } })));
  overlay.apply(["unasked", "there", "absent", "again"].map((key) => upsert({ key, count: 2 })));
  overlay.apply([upsert({ key: "absent", count: 3 }), remove("again")]);
  overlay.apply([upsert({ key: "again", count: 4 })]);
  expect(overlay.writes()).toEqual([
    { kind: "insert", table: THINGS, row: { key: "absent", count: 3 } },
    upsert({ key: "there", count: 2 }),
    upsert({ key: "again", count: 4 }),
    upsert({ key: "unasked", count: 2 }),
  ]);
});

test("a row that is likely new stays so after more writes, and such rows are written together after the new ones", async () => {
  const overlay = createOverlay({ load: async () => [] });
  await overlay.fetch([{ table: THINGS, key: { key: "absent" } }]);
  const likely = (key: string, count: number): Write => ({
    kind: "upsert",
    table: THINGS,
    row: { key, count },
    isLikelyNew: true,
  });
  overlay.apply([likely("one", 1), upsert({ key: "other", count: 1 }), likely("two", 1)]);
  overlay.apply([
    upsert({ key: "one", count: 2 }),
    { kind: "upsert", table: THINGS, row: { key: "two", count: 2 }, indexed: "same" },
    likely("absent", 1),
  ]);
  expect(overlay.writes()).toEqual([
    { kind: "insert", table: THINGS, row: { key: "absent", count: 1 } },
    likely("one", 2),
    likely("two", 2),
    upsert({ key: "other", count: 1 }),
  ]);
});

test("additions to one row become one sum, and the given rows stay unchanged", () => {
  const overlay = createOverlay({ load: async () => [] });
  const COUNTS = {
    name: "counts",
    columns: { tenant: TEXT, one: INTEGER, other: INTEGER },
    primaryKey: ["tenant"],
    indexes: [],
  } as const satisfies Table;
  const rows = [1, 2, 3].map((one) => ({ tenant: "acme", one, other: one === 3 ? -5 : 0 }));
  const add = (row: Row): Write => ({ kind: "add", table: COUNTS, row });
  const given = structuredClone(rows);
  overlay.apply(rows.slice(0, 1).map(add));
  overlay.apply(rows.slice(1).map(add));
  expect(overlay.writes()).toEqual([add({ tenant: "acme", one: 6, other: -5 })]);
  expect(rows).toEqual(given);
});

test("the words of a row wait as their store packs them, unless they cannot be packed: then nothing of that call is written", () => {
  const index = { name: "words" };
  const words = (sequence: number): IndexWrite => ({
    kind: "index",
    index,
    tenant: "acme",
    sequence,
    texts: [],
    labels: [],
    times: [],
  });
  const packed = ({ sequence }: IndexWrite): PackedWrite => {
    if (sequence === 13) throw new Error("13 cannot be packed");
    return { kind: "packed", index, sequence, bytes: new Uint8Array([sequence]), start: 0, end: 1 };
  };
  const overlay = createOverlay({ load: async () => [], packed });
  const gone = { kind: "unindex", index, tenant: "acme", sequence: 3, labels: [] } as const;
  overlay.apply([words(7), upsert({ key: "seven", count: 7 }), gone]);
  expect(() => overlay.apply([upsert({ key: "other", count: 1 }), words(8), words(13)])).toThrow("13");
  expect(overlay.writes()).toEqual([upsert({ key: "seven", count: 7 }), packed(words(7)), gone]);
});
