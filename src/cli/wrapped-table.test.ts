import { expect, test } from "bun:test";
import fc from "fast-check";
import { textWidth } from "../terminal/text-width.ts";
import { createWrappedTable } from "./wrapped-table.ts";

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

test("without a terminal each row is one line", () => {
  expect(createWrappedTable(columns, undefined).lines(rows)).toBe(
    [
      "ID                        WHAT                                          COUNT",
      "dec_4711_long_identifier  short                                             7",
      "dec_1                     Explain the decision.automated_decision_made     12",
      "",
    ].join("\n"),
  );
});

test("on a terminal columns wrap, at spaces and the joints of names, and ids stay whole", () => {
  expect(createWrappedTable(columns, 50).lines(rows)).toBe(
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
});

test("whatever the width, no character of a cell is lost, and an id stands on one line", () => {
  const word = fc.stringMatching(/^[a-z_.가-힣]{1,12}$/);
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(text, word, fc.integer({ min: 10, max: 80 }), (what, id, width) => {
      const [, ...lines] = createWrappedTable(columns, width)
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
