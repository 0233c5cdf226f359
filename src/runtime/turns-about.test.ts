import { expect, test } from "bun:test";
import { createTurnsAbout } from "./turns-about.ts";

test("work on one subject never overlaps, and work beyond the limit is refused until a turn is over", async () => {
  const turns = createTurnsAbout();
  const gate = Promise.withResolvers<void>();
  const began: string[] = [];
  const work = (name: string) => async () => {
    began.push(name);
    if (name === "first") await gate.promise;
    if (name === "second") throw new Error("it failed");
    return name;
  };
  const asked = ["first", "second", "third"].map((name) => turns("a", work(name), 2));
  const settled = Promise.allSettled(asked);
  expect(await turns("a", work("beyond"), 2)).toEqual({ kind: "overloaded" });
  expect(await turns("b", work("of another thing"), 2)).toBe("of another thing");
  const late = turns("a", work("with more room"), 3);
  expect(began).toEqual(["first", "of another thing"]);
  gate.resolve();
  expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await late).toBe("with more room");
  expect(await turns("a", work("again"), 2)).toBe("again");
  expect(began).toEqual(["first", "of another thing", "second", "third", "with more room", "again"]);
});
