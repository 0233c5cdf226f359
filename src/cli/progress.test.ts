import { expect, test } from "bun:test";
import { sizeText } from "../terminal/size-text.ts";
import type { Writer } from "./context.ts";
import { createProgress, progressText } from "./progress.ts";

const collecting = (isTerminal: boolean) => {
  const written: string[] = [];
  const err: Writer = {
    isTerminal,
    columns: 60,
    hasColour: false,
    write: async (text) => void written.push(String(text)),
    isHeard: () => true,
    problem: () => undefined,
  };
  return { err, written };
};

test("progress shows count, rate, bytes and the remaining time, of this run alone", () => {
  const before = { count: 6000, bytes: 2_000_000 };
  const report = { count: 8000, bytes: 4_000_000, bytesOf: 10_000_000 };
  expect(progressText({ what: "sending", unit: "events", before }, report, 2)).toBe(
    "sending 8,000 events, 1,000/s, 4.0 of 10.0 MB, 6 s left",
  );
  expect(progressText({ what: "rebuilding cases" }, { count: 500, of: 1000 }, 5)).toBe(
    "rebuilding cases 500 of 1,000, 100/s, 5 s left",
  );
  expect(sizeText(308)).toBe("308 B");
});

test("without a terminal there is a line every five seconds and a last one, and none for a run that ends at once", () => {
  const { err, written } = collecting(false);
  let now = 0;
  const progress = createProgress({ err, what: "sending", elapsedMs: () => now });
  for (now = 0; now <= 12_000; now += 100) progress.report({ count: now });
  progress.end();
  expect(written).toEqual([
    "sending 5,000, 1,000/s\n",
    "sending 10,000, 1,000/s\n",
    "sending 12,000, 992/s\n",
  ]);

  const short = collecting(false);
  const over = createProgress({ err: short.err, what: "sending", elapsedMs: () => 0 });
  over.report({ count: 1 });
  over.end();
  expect(short.written).toEqual([]);
});

test("a progress bar on a terminal stays on its line", () => {
  const { err, written } = collecting(true);
  let now = 0;
  const progress = createProgress({ err, what: "sending", unit: "events", elapsedMs: () => now });
  for (now = 0; now <= 1000; now += 50) progress.report({ count: now, of: 1000 });
  progress.end();
  expect(written.at(-1)).toBe("\n");
  for (const text of written.slice(0, -1)) {
    expect(text).toStartWith("\r");
    expect(text.length).toBe(60);
  }
});

test("--quiet hides progress", () => {
  const { err, written } = collecting(true);
  let now = 0;
  const progress = createProgress({ err, what: "sending", isQuiet: true, elapsedMs: () => now });
  for (now = 0; now <= 10_000; now += 1000) progress.report({ count: now });
  progress.end();
  expect(written).toEqual([]);
});

test("progress is hidden if a program reads JSON there, but a person at a terminal sees it", () => {
  for (const isTerminal of [false, true]) {
    const { err, written } = collecting(isTerminal);
    let now = 0;
    const progress = createProgress({ err, what: "sending", isJson: true, elapsedMs: () => now });
    for (now = 0; now <= 12_000; now += 100) progress.report({ count: now });
    progress.end();
    expect([isTerminal, written.length > 0]).toEqual([isTerminal, isTerminal]);
  }
});
