import { expect, test } from "bun:test";
import fc from "fast-check";
import { textWidth } from "../runtime/text-width.ts";
import { createTable, detailLines } from "./table.ts";

interface Row {
  readonly decision_id: string;
  readonly what: unknown;
  readonly made_at: string;
  readonly count: number;
}
const columns = ["decision_id", "what", "count"] as const;
const row = (decision_id: string, what: unknown, count = 1): Row => ({
  decision_id,
  what,
  made_at: "",
  count,
});
const rows = [
  row("dec_4711_long_identifier", "short", 7),
  row("dec_1", "Explain the decision.automated_decision_made", 12),
];

test("without a terminal each row is one line, and later rows are aligned with the same headings", () => {
  const table = createTable<Row>(columns, undefined);
  expect(`\n${table(rows)}${table([row("dec_2", "later")])}`).toBe(`
DECISION                  WHAT                                          COUNT
dec_4711_long_identifier  short                                             7
dec_1                     Explain the decision.automated_decision_made     12
dec_2                     later                                             1
`);
});

test("on a terminal columns wrap, at spaces and the joints of names, and ids stay whole", () => {
  const table = createTable<Row>(columns, 50);
  expect(`\n${table(rows)}`).toBe(`
DECISION                  WHAT               COUNT
dec_4711_long_identifier  short                  7
dec_1                     Explain the           12
                          decision.
                          automated_
                          decision_made
`);
  expect(table([row("dec_4711_even_longer_identifier", "later")])).toStartWith(
    "dec_4711_even_longer_identifier  later",
  );
});

test("whatever the width, no character of a cell is lost, and an id stands on one line", () => {
  const word = fc.stringMatching(/^[a-z_.가-힣]{1,12}$/);
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(text, word, fc.integer({ min: 10, max: 80 }), (what, id, width) => {
      const [, ...lines] = createTable<Row>(
        columns,
        width,
      )([row(id, what)])
        .trimEnd()
        .split("\n");
      expect(lines[0]?.startsWith(id)).toBe(true);
      const shown = lines.join("").replaceAll(/\s/g, "");
      expect([...shown].sort().join("")).toBe([...`${id}${what}1`.replaceAll(/\s/g, "")].sort().join(""));
      const widest = Math.max(...lines.map(textWidth));
      expect(widest).toBeLessThanOrEqual(Math.max(width, Math.max(8, textWidth(id)) + 2 + 10 + 2 + 5));
    }),
  );
});

test("the form of a cell follows from its value; a name cannot look like another line or control the terminal", () => {
  const made = { ...row("a\nevt_9", ["\u001b[31mred", 7]), made_at: "2026-11-20T10:00:00.123Z" };
  const [, line] = createTable<Row>(["decision_id", "what", "made_at"], undefined)([made]).split("\n");
  expect(line).toBe("a\\u{a}evt_9  \\u{1b}[31mred, 7  2026-11-20 10:00:00Z");
  const pairs = [
    ["\u001b[2J", "v\u001b[31m"],
    ["가", "w"],
    ["none", ""],
  ] as const;
  expect(detailLines(pairs, undefined)).toBe("  \\u{1b}[2J  v\\u{1b}[31m\n  가         w\n");
});
