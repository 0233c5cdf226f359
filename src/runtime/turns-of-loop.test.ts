import { expect, test } from "bun:test";
import { setImmediate as otherWork } from "node:timers/promises";
import { createTurnsOfLoop } from "./turns-of-loop.ts";

/** Works of these lengths that are asked for at once; tells in which turn of the event loop each began and ended. */
const runAtOnce = async (lengthsMs: readonly number[]) => {
  let turn = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turn++) await otherWork();
  })();
  let nowMs = 0;
  const inTurn = createTurnsOfLoop(() => nowMs);
  const works = await Promise.all(
    lengthsMs.map((lengthMs, index) =>
      inTurn(async () => {
        const began = turn;
        // As of SQLite: rows that are there at once, however often they are waited for.
        for (let reads = 0; reads < 100; reads++) await Promise.resolve();
        nowMs += lengthMs;
        return { index, began, ended: turn };
      }),
    ),
  );
  isOver = true;
  await counting;
  return works;
};

test("long work begins and ends in a turn of its own, in the order in which it was asked for", async () => {
  const works = await runAtOnce([200, 200, 200]);
  expect(new Set(works.map(({ began }) => began)).size).toBe(3);
  expect(works.map(({ began }) => began)).toEqual(works.map(({ began }) => began).toSorted((a, b) => a - b));
  for (const { began, ended } of works) expect(ended).toBe(began);
});

test("short work shares turns, and what comes after long work does not", async () => {
  const works = await runAtOnce([...Array(100).fill(0.1), 200, 0.1, 200]);
  // A hundred take 10 ms, and a turn 5.
  const shared = new Set(works.slice(0, 100).map(({ began }) => began));
  expect(shared.size).toBeLessThanOrEqual(4);
  const [long, short, last] = works.slice(100);
  expect(short?.began).toBeGreaterThan(long?.ended ?? 0);
  expect(last?.began).toBe(short?.began);
});

test("work that waits is not waited for, and work that fails holds nobody up", async () => {
  const inTurn = createTurnsOfLoop(() => 0);
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = inTurn(() => promise);
  const failing = inTurn(() => Promise.reject(new Error("no")));
  const thrown = inTurn(() => {
    throw new Error("at once");
  });
  const next = inTurn(async () => "next");
  expect(await next).toBe("next");
  expect(await failing.catch(String)).toBe("Error: no");
  expect(await thrown.catch(String)).toBe("Error: at once");
  resolve("waited");
  expect(await waiting).toBe("waited");
});
