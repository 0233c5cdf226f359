import { expect, test } from "bun:test";
import { eventFacts } from "../../event/facts.ts";
import { words } from "../../event/words.ts";
import { EVENT_WORDS_MAX } from "../../limits.ts";
import { createEventWords } from "./terms.ts";

const wordsOf = (change: object): readonly string[] => {
  const facts = eventFacts({
    event_id: "evt_1",
    timestamp: "2026-11-20T10:00:00Z",
    asset_id: "model",
    event_type: "objection.received",
    ...change,
  });
  return facts ? createEventWords()(facts) : [];
};

const ALWAYS = ["model", "objection", "received", "objection_received"];

test("an event is found by its names, its tags and the values of its metadata at any depth", () => {
  expect(wordsOf({})).toEqual(ALWAYS);
  expect(wordsOf({ correlation_id: "c-1", trace_id: "t", risk_tier: "high", more: "x" })).toEqual([
    ...ALWAYS,
    ...["c", "1", "c_1"],
  ]);
  expect(wordsOf({ tags: { team: "Risk Team", n: -1.5, on: true } })).toEqual([
    ...ALWAYS,
    ...["team", "risk", "n", "1", "5", "1_5", "on", "true"],
  ]);
  expect(wordsOf({ metadata: { key: "A", deep: [{ x: ["b", 7, null, true] }, []] } })).toEqual([
    ...ALWAYS,
    "a",
    "b",
    "7",
    "true",
  ]);
});

test("if there are too many words, those of names are kept first, then the first others", () => {
  const note = Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(" ");
  const names = Array.from({ length: 16 }, (_, index) => [`k${index}`, `a-b-c-d-e-${index}`] as const);
  const found = wordsOf({ metadata: { note, last: "lost" }, tags: Object.fromEntries(names) });
  expect(new Set(found).size).toBe(EVENT_WORDS_MAX);
  for (const word of [...ALWAYS, "w0", "w100"]) expect(found).toContain(word);
  for (const name of names.flat()) for (const word of words(name)) expect(found).toContain(word);
  expect(found).not.toContain("lost");
});

test("repeated words do not take the place of other words", () => {
  expect(wordsOf({ metadata: { note: "again ".repeat(1000), last: "kept" } })).toContain("kept");
});

test("all names are found, even if they have more words than are kept", () => {
  const tags = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, `v${index}`]));
  const found = wordsOf({ tags, metadata: { note: "lost" } });
  for (let index = 0; index < 300; index++) expect(found).toContain(`v${index}`);
  expect(found).not.toContain("lost");
});
