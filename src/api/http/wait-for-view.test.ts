import { expect, test } from "bun:test";
import type { ViewStore } from "../../views/store/view-store.ts";
import { onceSeen } from "./wait-for-view.ts";

/** A view that another process replaces. */
const createReplaced = () => {
  const stand = { position: 10, revisions: 1 };
  const views: Pick<ViewStore, "position" | "load"> = {
    position: async () => stand.position,
    load: async () => [{ name: "events", revisions: stand.revisions }],
  };
  const replace = (position: number): void => {
    stand.position = position;
    stand.revisions++;
  };
  return { views, stand, replace };
};

const awaiting = (msMax: number) => ({ sequence: 10, until: performance.now() + msMax });

test("a view is read again once it has caught up, if it was replaced meanwhile by one further behind", async () => {
  const { views, stand, replace } = createReplaced();
  const seen: number[] = [];
  const answer = await onceSeen({ views, projections: ["events"], awaited: awaiting(10_000) }, async () => {
    if (seen.length === 0) replace(7);
    seen.push(stand.position);
    // The view continues meanwhile.
    stand.position = 12;
    return seen.length;
  });
  expect([answer, seen]).toEqual([2, [7, 12]]);
});

test("there is no answer from a replaced view that does not catch up in time", async () => {
  const { views, replace } = createReplaced();
  const answer = await onceSeen({ views, projections: ["events"], awaited: awaiting(50) }, async () => {
    replace(7);
    return "of a view further back";
  });
  expect(answer).toBeUndefined();
});
