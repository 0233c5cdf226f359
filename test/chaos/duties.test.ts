import { expect, test } from "bun:test";
import { violationsOf } from "./duties.ts";

test("if many messages are missing, the report first says how many, and how much of the stream was read", () => {
  const expected = new Set(Array.from({ length: 30 }, (_, number) => `duty-${number} open`));
  const told = new Map([["duty-0 open", 1]]);
  const [first, second] = violationsOf(expected, told, {
    whole: 0,
    failed: 2,
    lastFailure: "Error: TIMEOUT",
  });
  expect(first).toBe(
    "29 of 30 tellings are not among the 1 on the stream, which was read 0 times, and 2 times not to its end, the last time for: Error: TIMEOUT",
  );
  expect(second).toBe("duty-1 open was not told");
  expect(
    violationsOf(expected, new Map([...expected].map((telling) => [telling, 1])), {
      whole: 1,
      failed: 0,
      lastFailure: "none",
    }),
  ).toEqual([]);
});
