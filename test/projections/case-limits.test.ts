/** One careless name must not make everything one case, nor make a row grow for ever; and where a limit is reached arrival does not show either. */
import { expect, test } from "bun:test";
import { CASE_FACTS_MAX, CASE_NEIGHBOURS_MAX } from "../../src/limits.ts";
import { DECISIONS } from "../../src/projections/cases/registers/decisions.ts";
import { CASE_NODES } from "../../src/projections/cases/tables.ts";
import { PROJECTIONS } from "../../src/projections/registry.ts";
import { createChance } from "../support/histories.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 8, 1, 0, minute)).toISOString();

const decision = (index: number, members: object) => ({
  event_id: `evt_${index}`,
  timestamp: at(index),
  asset_id: "a",
  event_type: "decision.automated_decision_made",
  ...members,
});

const viewOf = async (events: readonly object[], seed?: number) => {
  const messages = events.map((event, index) => messageOf(index + 1, { event }));
  const chance = createChance(seed ?? 0);
  const arriving = seed === undefined ? messages : messages.toSorted(() => chance.next() - 0.5);
  const view = createInMemoryView(...PROJECTIONS);
  for (let start = 0; start < arriving.length; start += 50) {
    expect(await view.take(arriving.slice(start, start + 50))).toEqual([]);
  }
  return { decisions: view.rows(DECISIONS), nodes: view.rows(CASE_NODES) };
};

test("a correlation that few decisions share connects them; one that a whole batch shares does not", async () => {
  const share = (count: number) => [
    ...Array.from({ length: count }, (_, index) =>
      decision(index + 10, { correlation_id: "run-7", metadata: { decision_id: `dec_${index}` } }),
    ),
    {
      ...decision(1, { correlation_id: "run-7" }),
      event_type: "transparency.notice_shown",
      event_id: "evt_notice",
    },
  ];
  const few = await viewOf(share(3));
  expect(few.decisions.filter(({ notice_at }) => notice_at !== null)).toHaveLength(1);
  const most = await viewOf(share(CASE_NEIGHBOURS_MAX));
  expect(most.decisions.filter(({ notice_at }) => notice_at !== null)).toHaveLength(1);
  const tooMany = await viewOf(share(CASE_NEIGHBOURS_MAX + 1));
  expect(tooMany.decisions.every(({ notice_at }) => notice_at === null)).toBe(true);
  const many = await viewOf(share(CASE_NEIGHBOURS_MAX + 40));
  expect(many.decisions).toHaveLength(CASE_NEIGHBOURS_MAX + 40);
  expect(many.decisions.every(({ notice_at }) => notice_at === null)).toBe(true);
  for (const seed of [1, 2]) expect(await viewOf(share(CASE_NEIGHBOURS_MAX + 40), seed)).toEqual(many);
});

test("a name that every event bears keeps the earliest facts and counts them all", async () => {
  const events = Array.from({ length: CASE_FACTS_MAX + 60 }, (_, index) =>
    decision(index, { metadata: { decision_id: "dec_same", outcome: index === 0 ? "denied" : "approved" } }),
  );
  const { decisions, nodes } = await viewOf(events);
  expect(decisions).toMatchObject([{ decision_id: "dec_same", outcome: "denied" }]);
  const [node] = nodes;
  expect(node?.events).toBe(CASE_FACTS_MAX + 60);
  expect(JSON.parse(String(node?.facts))).toHaveLength(CASE_FACTS_MAX);
  for (const seed of [1, 2]) expect(await viewOf(events, seed)).toEqual({ decisions, nodes });
});
