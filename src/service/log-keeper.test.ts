import { expect, test } from "bun:test";
import { LOG_STALL_AGE_MS_MAX, LOG_STALL_MS_MAX } from "../limits.ts";
import { keepStoring } from "./log-keeper.ts";

const logger = {
  isEnabled: () => false,
  request() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

test("a stall makes the instance not ready only while it is fresh: without requests nothing else could ever end it", () => {
  let stall: { lastedMs: number; agoMs: number } | undefined;
  using keeper = keepStoring({
    stream: "The event log",
    stall: () => stall,
    msMax: LOG_STALL_MS_MAX,
    ownBroker: undefined,
    logger,
  });
  expect(keeper.problem()).toBeUndefined();
  stall = { lastedMs: LOG_STALL_MS_MAX - 1, agoMs: 0 };
  expect(keeper.problem()).toBeUndefined();
  stall = { lastedMs: LOG_STALL_MS_MAX, agoMs: 0 };
  expect(keeper.problem()).toContain("has stored nothing for 8 s");
  stall = { lastedMs: LOG_STALL_MS_MAX, agoMs: LOG_STALL_AGE_MS_MAX };
  expect(keeper.problem()).toBeUndefined();
});
