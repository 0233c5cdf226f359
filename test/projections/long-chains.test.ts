/** Names that are connected one by one make one large case; the cost of continuing it must not grow with its square. */
import { expect, test } from "bun:test";
import { CASE_NODES } from "../../src/views/cases/tables.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";

test("a case of ten thousand names is walked once for all events of a step", async () => {
  const names = 10_000;
  const event = (index: number, correlation: number, decision: number) => ({
    event_id: `evt_${index}`,
    timestamp: "2026-11-20T10:00:00Z",
    asset_id: "a",
    event_type: "decision.explanation_provided",
    correlation_id: `c${correlation}`,
    metadata: { decision_id: `d${decision}` },
  });
  const chain = Array.from({ length: names }, (_, index) =>
    messageOf(index + 1, { event: event(index, Math.ceil(index / 2), Math.floor(index / 2)) }),
  );
  const view = createInMemoryView(...PROJECTIONS);
  for (let start = 0; start < names; start += 2000)
    expect(await view.take(chain.slice(start, start + 2000))).toEqual([]);
  expect(view.rows(CASE_NODES)).toHaveLength(names + 1);
});

test("requests get a turn while the chain of names of one event is walked", async () => {
  const event = (index: number) => ({
    event_id: `evt_${index}`,
    timestamp: "2026-11-20T10:00:00Z",
    asset_id: "a",
    event_type: "decision.explanation_provided",
    correlation_id: `c${Math.ceil(index / 2)}`,
    metadata: { decision_id: `d${Math.floor(index / 2)}` },
  });
  const messages = Array.from({ length: 6000 }, (_, index) => messageOf(index + 1, { event: event(index) }));
  const view = createInMemoryView(...PROJECTIONS);
  for (let start = 0; start < messages.length - 1; start += 2000)
    expect(await view.take(messages.slice(start, Math.min(start + 2000, messages.length - 1)))).toEqual([]);
  let turns = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  expect(await view.take(messages.slice(-1))).toEqual([]);
  clearImmediate(counting);
  // It would be two if only the evolving gave turns.
  expect(turns).toBeGreaterThan(4);
});
