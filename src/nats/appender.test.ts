import { expect, test } from "bun:test";
import { RECENT_IDS_MAX } from "../limits.ts";
import { createRecentIds } from "./appender.ts";

test("a bounded number of ids is kept, the newest ones", () => {
  const recent = createRecentIds(() => 0);
  for (let commit = 0; commit < 100; commit++)
    recent.remember(
      Array.from({ length: 1000 }, (_, index) => `${commit}-${index}`),
      commit * 1000 + 1,
    );
  const known = Array.from({ length: 100 }, (_, commit) => recent.sequenceOf(`${commit}-0`)).filter(Boolean);
  expect(known.length).toBeLessThanOrEqual(RECENT_IDS_MAX / 1000);
  expect(recent.sequenceOf("99-999")).toBe(100_000);
});
