import { expect, test } from "bun:test";
import { LOG_STALL_AGE_MS_MAX } from "../limits.ts";
import { createStallClock } from "./stall-clock.ts";

test("a series of failures lasts from the first to the last, until something is stored", () => {
  let now = 1000;
  const clock = createStallClock(() => now);
  expect(clock.stall()).toBeUndefined();
  clock.failed();
  now += 500;
  expect(clock.stall()).toEqual({ lastedMs: 0, agoMs: 500 });
  clock.failed();
  now += 100;
  expect(clock.stall()).toEqual({ lastedMs: 500, agoMs: 100 });
  clock.cleared();
  expect(clock.stall()).toBeUndefined();
});

test("failures far apart are not a series, so two faults of a client that sends rarely are not a stall", () => {
  let now = 0;
  const clock = createStallClock(() => now);
  clock.failed();
  now += LOG_STALL_AGE_MS_MAX;
  clock.failed();
  expect(clock.stall()).toEqual({ lastedMs: 0, agoMs: 0 });
});
