import { expect, test } from "bun:test";
import { LIVE_ROWS_MAX, type LiveAction, type LiveRows, liveRowsAfter, NOTHING_LIVE } from "./live-rows.ts";

const received = (sequence: number): LiveAction => ({
  kind: "received",
  stored: {
    sequence,
    tenant: "t",
    received_at: "2026-11-29T10:00:00Z",
    event: {
      event_id: `evt_${sequence}`,
      timestamp: "2026-11-29T10:00:00Z",
      asset_id: "a",
      event_type: "notice",
    },
  },
});
const many = (count: number): readonly LiveAction[] =>
  Array.from({ length: count }, (_, index) => received(index));
const after = (...actions: readonly LiveAction[]): LiveRows => actions.reduce(liveRowsAfter, NOTHING_LIVE);
const sequences = ({ rows }: LiveRows): readonly number[] => rows.map(({ sequence }) => sequence);

test("the newest are on top, and only so many are kept", () => {
  const { rows } = after(...many(10_000));
  expect([rows.length, rows[0]?.sequence]).toEqual([LIVE_ROWS_MAX, 9_999]);
});

test("during a pause nothing moves, the newest wait, and what is left out is counted where it was", () => {
  const paused = after(received(-1), { kind: "paused" }, ...many(LIVE_ROWS_MAX + 7));
  expect([sequences(paused), paused.waiting.length, paused.leftOut]).toEqual([[-1], LIVE_ROWS_MAX, 7]);
  const { rows, waiting, leftOut } = liveRowsAfter(paused, { kind: "continued" });
  expect([rows.length, rows[0]?.sequence, waiting, leftOut]).toEqual([LIVE_ROWS_MAX, 56, [], 0]);
  expect(rows.at(-1)?.marks).toEqual([{ kind: "left_out", events: 7 }]);
  const few = after(received(1), { kind: "paused" }, received(2), { kind: "continued" });
  expect([sequences(few), few.rows.flatMap(({ marks }) => marks)]).toEqual([[2, 1], []]);
});

test.each([
  [false, "resumed"],
  [true, "lost"],
] as const)("a stream that was broken off is marked beneath the next event (lost: %p)", (isLost, kind) => {
  const state = after(
    { kind: "opened", at: "0", isLost: false },
    received(1),
    { kind: "broken", at: "1" },
    { kind: "broken", at: "2" },
    { kind: "opened", at: "3", isLost },
    received(2),
    received(3),
  );
  expect(state.rows.map(({ marks }) => marks)).toEqual([[], [{ kind, from: "1", to: "3" }], []]);
  expect(state.brokenAt).toBeUndefined();
});
