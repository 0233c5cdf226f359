import { expect, test } from "bun:test";
import { createKeyedMutex } from "./keyed-mutex.ts";

test("work on one subject never overlaps, and work beyond the limit is refused until a turn is over", async () => {
  const mutex = createKeyedMutex();
  const gate = Promise.withResolvers<void>();
  const began: string[] = [];
  const work = (name: string) => async () => {
    began.push(name);
    if (name === "first") await gate.promise;
    if (name === "second") throw new Error("it failed");
    return name;
  };
  const asked = ["first", "second", "third"].map((name) => mutex("a", work(name), 2));
  const settled = Promise.allSettled(asked);
  expect(await mutex("a", work("beyond"), 2)).toEqual({ kind: "overloaded" });
  expect(await mutex("b", work("of another thing"), 2)).toBe("of another thing");
  const late = mutex("a", work("with more room"), 3);
  expect(began.sort()).toEqual(["first", "of another thing"]);
  gate.resolve();
  expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await late).toBe("with more room");
  expect(await mutex("a", work("again"), 2)).toBe("again");
  expect(began).toEqual(["first", "of another thing", "second", "third", "with more room", "again"]);
});
