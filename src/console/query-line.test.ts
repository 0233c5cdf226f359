import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { joined, valuesIn } from "./comma-list.ts";
import { chosen, completionsOf, parseLine, printLine, type Terms } from "./query-line.ts";

const HOSTILE = [
  "<script>alert(1)</script>",
  "\u202Eredael",
  `a "quoted" 'one'`,
  "-x",
  "a,b",
  "\\,",
  "line\nbreak\r",
  "from:2026-11-01",
  "x".repeat(256),
];

const values = fc
  .uniqueArray(fc.oneof(fc.string({ minLength: 1, unit: "binary" }), fc.constantFrom(...HOSTILE)), {
    minLength: 1,
    maxLength: 4,
  })
  .map(joined);
const word = fc
  .oneof(fc.string({ minLength: 1 }), fc.constantFrom(...HOSTILE))
  .map((text) => text.replaceAll(/\s/g, "_"));
const hash = fc.stringMatching(/^sha256:[0-9a-f]{64}$/);
const terms: fc.Arbitrary<Terms> = fc.record(
  {
    asset_id: values,
    not_asset_id: values,
    correlation_id: values,
    not_trace_id: values,
    event_type: fc.constantFrom("decision.*", "decision.automated_decision_made,notice", "legacy.*"),
    not_risk_tier: fc.constantFrom("low", "high,low"),
    not_legal_basis: fc.constant("gdpr_art_22"),
    subject_hash: hash,
    from: fc.constantFrom("2026-11-01", "2026-11-01T10:00:00Z"),
    to: fc.constant("2026-11-02T10:00:00.5Z"),
    q: fc.array(word, { minLength: 1 }).map((words) => words.join(" ")),
  },
  { requiredKeys: [] },
);

const termsOf = (line: string): Terms => {
  const parsed = parseLine(line);
  if (parsed.kind === "wrong") throw new Error(`${parsed.problem} at ${parsed.from}: ${line}`);
  return Object.fromEntries(Object.entries(parsed.terms).filter(([, value]) => value !== undefined));
};

test("what is printed is read as the same filters, whatever the values are", () => {
  fc.assert(fc.property(terms, (asked) => expect(termsOf(printLine(asked))).toEqual({ ...asked })));
});

test("any line is read or refused at a place, and what was read is printed as the same", () => {
  const pieces = fc.constantFrom("asset_id:", "-", '"', ",", "\\", " ", "from:2026-11-01", "x:", "a", "q:");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((all) => all.join("")),
      ),
      (line) => {
        const parsed = parseLine(line);
        if (parsed.kind === "wrong") expect(line.slice(parsed.from)).toStartWith(parsed.text);
        else expect(termsOf(printLine(parsed.terms))).toEqual(termsOf(line));
      },
    ),
  );
});

test.each<[string, Terms]>([
  [
    'asset_id:credit_model -event_type:decision.made from:2026-11-01 "free words"',
    { asset_id: "credit_model", not_event_type: "decision.made", from: "2026-11-01", q: "free words" },
  ],
  ['asset_id:a asset_id:"b c",d', { asset_id: "a,b c,d" }],
  ['asset_id:"a,b"', { asset_id: "a\\,b" }],
  ["2026-11-01T10:00 half-way a,b", { q: "2026-11-01T10:00 half-way a,b" }],
  ['"http://x"', { q: "http://x" }],
  ["  ", {}],
])("%p is read", (line, asked) => expect(termsOf(line)).toEqual(asked));

test.each([
  ["risk_tier:high assets:x", "unknown_name", "assets:x", 15],
  ["http://x", "unknown_name", "http://x", 0],
  ["asset_id:", "no_value", "asset_id:", 0],
  ["asset_id:a,", "no_value", "asset_id:a,", 0],
  ['asset_id:""', "no_value", 'asset_id:""', 0],
  ['a asset_id:"b', "open_quote", 'asset_id:"b', 2],
  ['asset_id:a"b"', "stray_quote", 'asset_id:a"b"', 0],
  ["-word", "minus_word", "-word", 0],
  ["-from:2026-11-01", "minus_time", "-from:2026-11-01", 0],
  ["to:2026-11-01 to:2026-11-02", "second_time", "to:2026-11-02", 14],
  ["from:yesterday", "bad_time", "from:yesterday", 0],
  ["from:2026-13-01", "bad_time", "from:2026-13-01", 0],
  ["risk_tier:huge", "bad_value", "risk_tier:huge", 0],
  ["subject_hash:Kim", "bad_person", "subject_hash:Kim", 0],
])("%p is refused as %p", (line, problem, text, from) => {
  const parsed: unknown = parseLine(line);
  expect(parsed).toEqual({ kind: "wrong", problem, text, from });
});

describe("a value that is chosen", () => {
  test("alone replaces the others, and is no longer left out", () =>
    expect(chosen({ asset_id: "a,b", not_asset_id: "c,d", q: "w" }, "only", "asset_id", "c")).toEqual({
      asset_id: "c",
      not_asset_id: "d",
      q: "w",
    }));
  test("to be left out joins those that are, and is no longer asked for", () =>
    expect(chosen({ asset_id: "a\\,b,c", not_asset_id: "d" }, "not", "asset_id", "a,b")).toEqual({
      asset_id: "c",
      not_asset_id: "d,a\\,b",
    }));
  test("keeps its text, whatever it is", () => {
    for (const value of HOSTILE)
      expect(valuesIn(chosen({}, "only", "asset_id", value).asset_id ?? "")).toEqual([value]);
  });
});

test.each([
  ["ass", ["asset_id:"]],
  ["x -risk", ["x -risk_tier:"]],
  ["", []],
  ["x ", []],
  ["risk_tier:", ["risk_tier:high ", "risk_tier:low "]],
  ["risk_tier:high,", ["risk_tier:high,low "]],
  ["asset_id:CREDIT", ['asset_id:"a credit model" ']],
  ["asset_id:none", []],
  ['asset_id:"a', []],
])("%p is completed", (line, lines) => {
  const known = (name: string): readonly (readonly [string, string])[] => {
    if (name === "asset_id") return [["a credit model", "Credit"]];
    return name === "risk_tier"
      ? [
          ["high", "High"],
          ["low", "Low"],
        ]
      : [];
  };
  expect(completionsOf(line, known).map((each) => each.line)).toEqual(lines);
});
