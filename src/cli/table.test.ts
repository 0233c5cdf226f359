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

test("without a terminal every value is whole", () => {
  expect(createTable(columns, undefined).lines(rows)).toBe(
    [
      "ID      NAME                                               COUNT",
      "evt_1   a short one                                            7",
      "evt_22  a name that is longer than what there is room for    123",
      "",
    ].join("\n"),
  );
});

test("on a terminal lines fit, and what people copy is cut last", () => {
  expect(createTable(columns, 32).lines(rows)).toBe(
    [
      "ID      NAME               COUNT",
      "evt_1   a short one            7",
      "evt_22  a name that is l…    123",
      "",
    ].join("\n"),
  );
});

test("rows that come later stand under the same headings", () => {
  const table = createTable(columns, undefined);
  const [first, second] = rows;
  if (!first || !second) throw new Error("there are rows");
  expect(table.lines([second]).split("\n")[0]).toStartWith("ID      NAME");
  expect(table.lines([first])).toBe("evt_1   a short one                                            7\n");
});

test("a name cannot pretend to be another line, nor talk to the terminal", () => {
  const [line] = createTable(columns, undefined)
    .lines([{ id: "a\nevt_9", name: "\u001b[31mred", count: 1 }])
    .split("\n")
    .slice(1);
  expect(line).toBe("a\\u{a}evt_9  \\u{1b}[31mred      1");
});

test("nor can a name that stands beside its value", () => {
  const pairs = [
    ["\u001b[2J", "v\u001b[31m"],
    ["가", "w"],
    ["none", undefined],
  ] as const;
  expect(detailLines(pairs, undefined)).toBe("  \\u{1b}[2J  v\\u{1b}[31m\n  가         w\n");
});

test("whatever stands in the cells, no line is wider than the terminal that has room for the least", () => {
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
