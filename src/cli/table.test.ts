import { expect, test } from "bun:test";
import fc from "fast-check";
import { textWidth } from "../runtime/text-width.ts";
import { createTable, detailLines } from "./table.ts";

interface Row {
  readonly id: string;
  readonly what: string;
  readonly count: number;
}
const columns = [
  { title: "ID", value: ({ id }: Row) => id, isId: true },
  { title: "WHAT", value: ({ what }: Row) => what },
  { title: "COUNT", value: ({ count }: Row) => String(count), isRight: true },
] as const;

const rows: readonly Row[] = [
  { id: "dec_4711_long_identifier", what: "short", count: 7 },
  { id: "dec_1", what: "Explain the decision.automated_decision_made", count: 12 },
];

test("without a terminal each row is one line, and later rows are aligned with the same headings", () => {
  const table = createTable(columns, undefined);
  expect(table.lines(rows)).toBe(
    [
      "ID                        WHAT                                          COUNT",
      "dec_4711_long_identifier  short                                             7",
      "dec_1                     Explain the decision.automated_decision_made     12",
      "",
    ].join("\n"),
  );
  expect(table.lines([{ id: "dec_2", what: "later", count: 1 }])).toBe(
    "dec_2                     later                                             1\n",
  );
});

test("on a terminal columns wrap, at spaces and the joints of names, and ids stay whole", () => {
  const table = createTable(columns, 50);
  expect(table.lines(rows)).toBe(
    [
      "ID                        WHAT               COUNT",
      "dec_4711_long_identifier  short                  7",
      "dec_1                     Explain the           12",
      "                          decision.",
      "                          automated_",
      "                          decision_made",
      "",
    ].join("\n"),
  );
  const [longer] = table
    .lines([{ id: "dec_4711_even_longer_identifier", what: "later", count: 1 }])
    .split("\n");
  expect(longer).toStartWith("dec_4711_even_longer_identifier  later");
});

test("whatever the width, no character of a cell is lost, and an id stands on one line", () => {
  const word = fc.stringMatching(/^[a-z_.가-힣]{1,12}$/);
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(text, word, fc.integer({ min: 10, max: 80 }), (what, id, width) => {
      const [, ...lines] = createTable(columns, width)
        .lines([{ id, what, count: 1 }])
        .trimEnd()
        .split("\n");
      expect(lines[0]?.startsWith(id)).toBe(true);
      const shown = lines.join("").replaceAll(/\s/g, "");
      expect([...shown].sort().join("")).toBe([...`${id}${what}1`.replaceAll(/\s/g, "")].sort().join(""));
      const widest = Math.max(...lines.map(textWidth));
      expect(widest).toBeLessThanOrEqual(Math.max(width, Math.max(2, textWidth(id)) + 2 + 10 + 2 + 5));
    }),
  );
});

test("a name cannot look like another line or control the terminal", () => {
  const [, line] = createTable(columns, undefined)
    .lines([{ id: "a\nevt_9", what: "\u001b[31mred", count: 1 }])
    .split("\n");
  expect(line).toBe("a\\u{a}evt_9  \\u{1b}[31mred      1");
  const pairs = [
    ["\u001b[2J", "v\u001b[31m"],
    ["가", "w"],
    ["none", undefined],
  ] as const;
  expect(detailLines(pairs, undefined)).toBe("  \\u{1b}[2J  v\\u{1b}[31m\n  가         w\n");
});
