import { expect, test } from "bun:test";
import { silentLogger } from "../../test/support/broker.ts";
import { until } from "../../test/support/until.ts";
import { LOG_STALL_AGE_MS_MAX, LOG_STALL_MS_MAX } from "../limits.ts";
import { keepStoring } from "./broker-watch.ts";

const told = (keeper: ReturnType<typeof keepStoring>): string =>
  keeper
    .troubles()
    .map(({ detail, advice }) => `${detail} ${advice}`)
    .join();

test("an instance is not ready only while its stall is recent, because without requests nothing else could end the stall", async () => {
  let stall: { lastedMs: number; agoMs: number } | undefined;
  let isClustered = false;
  await using keeper = keepStoring({
    stream: "The event log",
    stall: () => stall,
    msMax: LOG_STALL_MS_MAX,
    ownBroker: undefined,
    isClustered: () => isClustered,
    logger: silentLogger,
  });
  expect(keeper.troubles()).toEqual([]);
  stall = { lastedMs: LOG_STALL_MS_MAX - 1, agoMs: 0 };
  expect(keeper.troubles()).toEqual([]);
  stall = { lastedMs: LOG_STALL_MS_MAX, agoMs: 0 };
  expect(told(keeper)).toContain("has stored nothing for 8 s");
  // What is right for a broker alone would end the last copy of a cluster's log.
  expect(told(keeper)).toContain("SIGKILL");
  isClustered = true;
  expect(told(keeper)).not.toContain("SIGKILL");
  stall = { lastedMs: LOG_STALL_MS_MAX, agoMs: LOG_STALL_AGE_MS_MAX };
  expect(keeper.troubles()).toEqual([]);
});

/** A keeper of a stream in this state, with a broker of its own that records what is asked of it. */
const keeping = (state: { stall: { lastedMs: number; agoMs: number } | undefined; isAwaited?: boolean }) => {
  const seen = { looks: 0, errors: 0, distrusted: 0, revived: [] as (() => void)[] };
  const keeper = keepStoring({
    stream: "The event log",
    stall: () => {
      seen.looks++;
      return state.stall;
    },
    isClustered: () => false,
    isAwaited: () => state.isAwaited ?? false,
    msMax: LOG_STALL_MS_MAX,
    ownBroker: {
      stageInMemory: async () => {},
      untilReady: async () => {},
      revive: () => new Promise((resolve) => seen.revived.push(resolve)),
      distrust: () => {
        seen.distrusted++;
      },
    },
    logger: {
      ...silentLogger,
      error: () => {
        seen.errors++;
      },
    },
  });
  return { keeper, seen };
};

test.concurrent("a stall is reported once, and the broker is revived again and again until it stores", async () => {
  const state: Parameters<typeof keeping>[0] = { stall: { lastedMs: LOG_STALL_MS_MAX, agoMs: 0 } };
  const { keeper, seen } = keeping(state);
  await using _ended = keeper;
  const lookedAgain = async () => {
    const before = seen.looks;
    await until("it has looked again", () => seen.looks > before);
  };
  await until("the broker is being revived", () => seen.revived.length === 1);
  await lookedAgain();
  expect(seen).toMatchObject({ errors: 1, revived: { length: 1 } });
  seen.revived[0]?.();
  await until("it is revived again", () => seen.revived.length === 2);
  expect(seen.errors).toBe(1);
  seen.revived[1]?.();
  state.stall = undefined;
  await lookedAgain();
  state.stall = { lastedMs: LOG_STALL_MS_MAX, agoMs: 0 };
  await until("another stall is told of", () => seen.errors === 2);
});

test("a broker is distrusted at the end after one failure or while it owes an answer, but not if it stores", async () => {
  for (const [state, distrusted] of [
    [{ stall: undefined }, 0],
    [{ stall: { lastedMs: 0, agoMs: 0 } }, 1],
    [{ stall: undefined, isAwaited: true }, 1],
  ] as const) {
    const { keeper, seen } = keeping(state);
    await keeper[Symbol.asyncDispose]();
    expect({ state, distrusted: seen.distrusted }).toEqual({ state, distrusted });
  }
});
