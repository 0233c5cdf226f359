import { expect, test } from "bun:test";
import type { Writer } from "./context.ts";
import { type ProgressOptions, progressFor, type Report } from "./progress.ts";

/** What is written if each report comes at its time, in milliseconds. */
const written = (
  reports: readonly (readonly [ms: number, report: Report])[],
  {
    isTerminal = false,
    flags = [] as readonly string[],
    ...options
  }: Partial<ProgressOptions> & {
    readonly isTerminal?: boolean;
    readonly flags?: readonly string[];
  } = {},
): readonly string[] => {
  const texts: string[] = [];
  const err: Writer = {
    isTerminal,
    columns: 60,
    hasColour: false,
    write: async (text) => void texts.push(String(text)),
    isHeard: () => true,
    problem: () => undefined,
  };
  let now = 0;
  const input = { isSet: (flag: string) => flags.includes(flag) };
  const progress = progressFor(input, { err }, { what: "sending", ...options }, () => now);
  for (const [ms, report] of reports) {
    now = ms;
    progress.report(report);
  }
  progress.end();
  return texts;
};

const everyTenth = (untilMs: number) =>
  Array.from({ length: untilMs / 100 + 1 }, (_, at) => [at * 100, { count: at * 100 }] as const);

test("progress shows count, rate, bytes and the remaining time, of this run alone", () => {
  const of = { bytesOf: 10_000_000 };
  const resumed = [
    [0, { count: 6000, bytes: 2_000_000, ...of }],
    [10_000, { count: 8000, bytes: 4_000_000, ...of }],
  ] as const;
  expect(written(resumed, { unit: "events" })).toEqual([
    "sending 8,000 events, 200/s, 4.0 of 10.0 MB, 30 s left\n",
  ]);
  const rebuilt = [
    [0, { count: 0, of: 1000 }],
    [5000, { count: 500, of: 1000 }],
  ] as const;
  expect(written(rebuilt, { what: "rebuilding cases" })).toEqual([
    "rebuilding cases 500 of 1,000, 100/s, 5 s left\n",
  ]);
});

test("without a terminal there is a line every five seconds and a last one, and none for a run that ends at once", () => {
  expect(written(everyTenth(12_000))).toEqual([
    "sending 5,000, 1,000/s\n",
    "sending 10,000, 1,000/s\n",
    "sending 12,000, 1,000/s\n",
  ]);
  expect(written([[0, { count: 1 }]])).toEqual([]);
});

test("a progress bar on a terminal stays on its line", () => {
  const reports = everyTenth(1000).map(([ms, { count }]) => [ms, { count, of: 1000 }] as const);
  const texts = written(reports, { isTerminal: true, unit: "events" });
  expect(texts.at(-1)).toBe("\n");
  for (const text of texts.slice(0, -1)) expect([text[0], text.length]).toEqual(["\r", 60]);
});

// With --json a program reads JSON there, and a person sees progress at a terminal.
test.each([
  ["--quiet", true, false],
  ["--json", true, true],
  ["--json", false, false],
])("with %s, on a terminal: %p, it is shown: %p", (flag, isTerminal, isShown) => {
  expect(written(everyTenth(12_000), { isTerminal, flags: [flag] }).length > 0).toBe(isShown);
});
