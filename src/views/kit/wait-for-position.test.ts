import { expect, test } from "bun:test";
import { until } from "../../../test/support/until.ts";
import { waitForPosition } from "./wait-for-position.ts";

test("reads that wait for a view ask for its position together, and each gets its own answer", async () => {
  const view = { position: 0, asked: 0 };
  const views = {
    position: async () => {
      view.asked++;
      return view.position;
    },
  };
  const wait = { views, projection: "events" };
  const waiting = Array.from({ length: 500 }, (_, index) =>
    waitForPosition({ ...wait, sequence: 1 + (index % 2), timeoutMs: 60_000 }),
  );
  const impatient = waitForPosition({ ...wait, sequence: 2, timeoutMs: 0 });
  const asked = view.asked;
  await until("it was looked at some times more", () => view.asked >= asked + 5);
  expect(view.asked).toBeLessThan(asked + 500);
  expect(await impatient).toBe(false);
  view.position = 1;
  expect(new Set(await Promise.all(waiting.filter((_, index) => index % 2 === 0)))).toEqual(new Set([true]));
  view.position = 2;
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  expect(await waitForPosition({ ...wait, sequence: 2, timeoutMs: 0 })).toBe(true);
});
