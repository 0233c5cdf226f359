import { expect, test } from "bun:test";
import { lookAgain } from "./look-again.ts";

test("a reason is told once a minute, however often a look fails for it, and another one at once", async () => {
  const reasons = ["no broker", "no broker", "no disk", "no broker", "no disk"];
  const told: string[] = [];
  const done = new AbortController();
  let looks = 0;
  await lookAgain({
    look: async () => {
      const reason = reasons[looks++];
      if (looks === reasons.length) done.abort();
      throw new Error(reason);
    },
    onFailed: (error) => void told.push(String(error)),
    restMs: 1,
    pause: async () => {},
    signal: done.signal,
  });
  expect([looks, told]).toEqual([5, ["Error: no broker", "Error: no disk"]]);
});
