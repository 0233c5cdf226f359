import { expect, test } from "bun:test";
import { DUPLICATE_WINDOW_MS, RECENT_IDS_MAX } from "../limits.ts";
import { createRecentIds } from "./recent-ids.ts";

const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test("an id is forgotten no later than by the broker, whether or not anybody asks meanwhile", () => {
  for (const age of [0, 0.2, 0.49, 0.51, 3]) {
    for (const pause of [0.01, 0.5, 0.9, 0.99]) {
      let windows = 0;
      const recent = createRecentIds(() => windows * DUPLICATE_WINDOW_MS);
      windows = age;
      recent.remember(["kept"], 3);
      windows = age + pause;
      recent.remember(["later"], 4);
      windows = age + 1;
      expect(recent.sequenceOf("kept")).toBeUndefined();
    }
  }
});

test("a bounded number of ids is kept, the newest ones", () => {
  const recent = createRecentIds(() => 0);
  for (let commit = 0; commit < 100; commit++) recent.remember(ids(`${commit}-`, 1000), commit * 1000 + 1);
  const known = Array.from({ length: 100 }, (_, commit) => recent.sequenceOf(`${commit}-0`)).filter(Boolean);
  expect(known.length).toBeLessThanOrEqual(RECENT_IDS_MAX / 1000);
  expect(recent.sequenceOf("99-999")).toBe(100_000);
});
