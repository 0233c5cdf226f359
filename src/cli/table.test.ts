import { expect, test } from "bun:test";
import fc from "fast-check";
import { textWidth } from "../terminal/text-width.ts";
import { createTable, detailLines } from "./table.ts";

interface Row {
  readonly id: string;
  readonly name: string;
  readonly count: number;
}
const columns = [
  { title: "ID", value: ({ id }: Row) => id, widthMin: 6, isCutLast: true },
  { title: "NAME", value: ({ name }: Row) => name, widthMin: 6 },
  { title: "COUNT", value: ({ count }: Row) => String(count), isRight: true },
] as const;

const rows: readonly Row[] = [
  { id: "evt_1", name: "a short one", count: 7 },
  { id: "evt_22", name: "a name that is longer than what there is room for", count: 123 },
];

test("values are not shortened without a terminal", () => {
  expect(createTable(columns, undefined).lines(rows)).toBe(
    [
      "ID      NAME                                               COUNT",
      "evt_1   a short one                                            7",
      "evt_22  a name that is longer than what there is room for    123",
      "",
    ].join("\n"),
  );
});

test("lines fit the terminal, and the columns that people copy are shortened last", () => {
  expect(createTable(columns, 32).lines(rows)).toBe(
    [
      "ID      NAME               COUNT",
      "evt_1   a short one            7",
      "evt_22  a name that is l…    123",
      "",
    ].join("\n"),
  );
});

test("later rows are aligned with the same headings", () => {
  const table = createTable(columns, undefined);
  const [first, second] = rows;
  if (!first || !second) throw new Error("there are rows");
  expect(table.lines([second]).split("\n")[0]).toStartWith("ID      NAME");
  expect(table.lines([first])).toBe("evt_1   a short one                                            7\n");
});

test("a name cannot look like another line or control the terminal", () => {
  const [line] = createTable(columns, undefined)
    .lines([{ id: "a\nevt_9", name: "\u001b[31mred", count: 1 }])
    .split("\n")
    .slice(1);
  expect(line).toBe("a\\u{a}evt_9  \\u{1b}[31mred      1");
});

test("a name beside its value cannot control the terminal either", () => {
  const pairs = [
    ["\u001b[2J", "v\u001b[31m"],
    ["가", "w"],
    ["none", undefined],
  ] as const;
  expect(detailLines(pairs, undefined)).toBe("  \\u{1b}[2J  v\\u{1b}[31m\n  가         w\n");
});

test("no line is wider than the terminal, whatever the cells hold, if the terminal has the minimum width", () => {
  const cell = fc.string({ unit: "grapheme", maxLength: 60 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: cell, name: cell, count: fc.nat({ max: 99_999 }) })),
      fc.integer({ min: 21, max: 120 }),
      (some, width) => {
        for (const line of createTable(columns, width).lines(some).split("\n"))
          expect(textWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 200 },
  );
});
