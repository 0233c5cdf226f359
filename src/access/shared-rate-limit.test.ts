import { expect, test } from "bun:test";
import fc from "fast-check";
import { RATES_AGE_MS_MAX } from "../limits.ts";
import { createRateLimiter, type RateDecision } from "./rate-limit.ts";
import { createSharedRateLimiter, type RateCounter } from "./shared-rate-limit.ts";

/** Counters in memory that answer a little later, as a broker does. */
const memoryCounter = (): RateCounter & { questions: number } => {
  const values = new Map<string, number>();
  const counter = {
    questions: 0,
    add: async (
      { holder, unit, window }: { holder: string; unit: string; window: number },
      count: number,
    ) => {
      counter.questions++;
      const name = `${holder} ${unit} ${window}`;
      const value = (values.get(name) ?? 0) + count;
      values.set(name, value);
      await Promise.resolve();
      return value;
    },
  };
  return counter;
};

const fleet = (size: number, counter: RateCounter, nowMs: () => number) =>
  Array.from({ length: size }, () =>
    createSharedRateLimiter({ counter, nowMs, fallback: createRateLimiter(nowMs) }),
  );

const request = (perSecond: number | undefined, count = 1) =>
  ({ keyId: "k", unit: "requests", perSecond, count }) as const;
const allowed = (decisions: readonly RateDecision[]): number =>
  decisions.filter(({ kind }) => kind === "allowed").length;

test("simultaneous requests wait once, together, for a counter that does not answer", async () => {
  const answers: (() => void)[] = [];
  let questions = 0;
  const counter: RateCounter = {
    add: () => {
      questions++;
      return new Promise((resolve) => answers.push(() => resolve(undefined)));
    },
  };
  const [limiter] = fleet(1, counter, () => 5_000);
  const decisions = Promise.all(Array.from({ length: 40 }, () => limiter?.take(request(1000))));
  answers.shift()?.();
  expect((await decisions).map((decision) => decision?.kind)).toEqual(
    Array.from({ length: 40 }, () => "allowed"),
  );
  expect(questions).toBe(1);
});

test("all front ends together let at most the rate through in a second, and use nearly all of it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 5 }), async (rate, size) => {
      let now = 5_000;
      const limiters = fleet(size, memoryCounter(), () => now);
      for (let second = 0; second < 3; second++) {
        const asked = Array.from({ length: rate * 3 + 20 }, (_, index) =>
          limiters[index % size]?.take(request(rate)),
        );
        const decisions = await Promise.all(asked.filter((decision) => decision !== undefined));
        expect(allowed(decisions)).toBeLessThanOrEqual(rate);
        expect(allowed(decisions)).toBeGreaterThanOrEqual(rate - size * Math.ceil(rate / 10));
        now += 1000;
      }
    }),
    { numRuns: 50 },
  );
});

test("a key has to wait only if its rate is used up, whatever arrives while a batch is being asked for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 30 })), {
        minLength: 10,
        maxLength: 25,
        size: "max",
      }),
      async (scheduler, rate, counts) => {
        const add = scheduler.scheduleFunction(memoryCounter().add);
        const [limiter] = fleet(1, { add }, () => 5_000);
        const asked = counts.map(async (count) => {
          await scheduler.schedule(Promise.resolve());
          return { count, decision: await limiter?.take(request(rate, count)) };
        });
        const decisions = await scheduler.waitFor(Promise.all(asked));
        const passed = decisions.reduce(
          (sum, { count, decision }) => sum + (decision?.kind === "allowed" ? count : 0),
          0,
        );
        for (const { decision } of decisions) {
          if (decision?.kind !== "limited") continue;
          const full = decision.retryAfterSeconds - 1;
          expect(passed).toBeGreaterThanOrEqual(full > 0 ? full * rate + 1 : rate - Math.ceil(rate / 10));
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a lease whose answer comes after its second is not spent in the next second", async () => {
  let now = 999;
  const inMemory = memoryCounter();
  let answer = (): void => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const counter: RateCounter = {
    add: async (asked, count) => {
      if (asked.window === 0) await late;
      return inMemory.add(asked, count);
    },
  };
  const [limiter] = fleet(1, counter, () => now);
  const early = limiter?.take(request(1000));
  now = 1000;
  const next = Array.from({ length: 1200 }, () => limiter?.take(request(1000)));
  answer();
  expect((await early)?.kind).toBe("allowed");
  const decisions = await Promise.all(next.filter((decision) => decision !== undefined));
  expect(allowed(decisions)).toBe(1000);
});

test("a key without a limit never asks the counter, and a key with a limit asks ten times a second", async () => {
  const counter = memoryCounter();
  const [limiter] = fleet(1, counter, () => 0);
  for (let index = 0; index < 1000; index++)
    expect(limiter?.take(request(undefined))).toEqual({ kind: "allowed" });
  expect(counter.questions).toBe(0);
  for (let index = 0; index < 1000; index++)
    expect(await limiter?.take(request(1000))).toEqual({ kind: "allowed" });
  expect(counter.questions).toBe(10);
});

test("a batch larger than the rate is allowed, and every front end makes the key pay for it", async () => {
  let now = 10_000;
  const [one, other] = fleet(2, memoryCounter(), () => now);
  expect(await one?.take(request(10, 35))).toEqual({ kind: "allowed" });
  expect(await one?.take(request(10))).toMatchObject({ kind: "limited", retryAfterSeconds: 4 });
  for (const second of [0, 1, 2]) {
    now = 10_000 + second * 1000;
    expect((await other?.take(request(10)))?.kind).toBe("limited");
  }
  now = 13_000;
  expect(await one?.take(request(10))).toMatchObject({ kind: "limited", retryAfterSeconds: 1 });
  expect((await other?.take(request(10)))?.kind).toBe("allowed");
});

test("every front end states how long a key in debt must wait, and asks the counter for it once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 1000 }),
      fc.boolean(),
      async (rate, size, hasLease) => {
        let now = 5_000;
        const counter = memoryCounter();
        const [one, other] = fleet(2, counter, () => now);
        let left = rate;
        if (hasLease && (await other?.take(request(rate)))?.kind === "allowed") left -= Math.ceil(rate / 10);
        if ((await one?.take(request(rate, size)))?.kind !== "allowed") return;
        const debt = size - left;
        // The last second of a debt may have something left, and the front end that allowed the batch does not ask.
        const seconds = 1 + Math.floor(Math.max(0, debt) / rate);
        for (;;) if ((await other?.take(request(rate)))?.kind !== "allowed") break;
        const before = counter.questions;
        expect(await other?.take(request(rate))).toMatchObject({ retryAfterSeconds: seconds });
        expect(counter.questions).toBe(before);
        for (let second = 1; second < seconds; second++) {
          now = 5_000 + second * 1000;
          expect(await other?.take(request(rate))).toMatchObject({ retryAfterSeconds: seconds - second });
        }
        expect(counter.questions).toBe(before);
        now = 5_000 + seconds * 1000;
        expect(await other?.take(request(rate))).toEqual({ kind: "allowed" });
      },
    ),
  );
});

test("the waiting time takes one question for a key without a debt, and about twenty for the longest debt", async () => {
  const counter = memoryCounter();
  const [one] = fleet(1, counter, () => 5_000);
  for (let index = 0; index < 10; index++) await one?.take(request(10));
  const questionsOf = async (limiter: typeof one, rate: number): Promise<number> => {
    const before = counter.questions;
    for (let index = 0; index < 3; index++)
      expect((await limiter?.take(request(rate)))?.kind).toBe("limited");
    return counter.questions - before;
  };
  // The first question is for the lease that is not granted.
  expect(await questionsOf(one, 10)).toBe(2);
  const [debtor, asker] = fleet(2, counter, () => 9_000_000);
  await debtor?.take(request(1, 1000));
  expect(await questionsOf(asker, 1)).toBeLessThanOrEqual(22);
});

test("batches that several front ends allow in one second are all paid for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 5, max: 200 }),
      fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 2, maxLength: 5 }),
      async (rate, sizes) => {
        let now = 5_000;
        const limiters = fleet(sizes.length, memoryCounter(), () => now);
        const take = async (index: number, count: number): Promise<number> =>
          (await limiters[index]?.take(request(rate, count)))?.kind === "allowed" ? count : 0;
        const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
        const takeUntilRefused = async (index: number): Promise<number> => {
          let passed = 0;
          while ((await take(index, 1)) > 0) passed++;
          return passed;
        };
        // Each front end has a part of its lease left when its batch comes.
        let passed = sum(await Promise.all(sizes.map((_, index) => take(index, 1))));
        passed += sum(await Promise.all(sizes.map((count, index) => take(index, count))));
        const seconds = 1 + Math.ceil(passed / rate) + sizes.length;
        for (let second = 1; second < seconds; second++) {
          now = 5_000 + second * 1000;
          passed += sum(await Promise.all(sizes.map((_, index) => takeUntilRefused(index))));
        }
        expect(passed).toBeLessThanOrEqual(rate * seconds);
        now += 1000;
        expect(await take(0, 1)).toBe(1);
      },
    ),
    { numRuns: 50 },
  );
});

test("each front end keeps the rate on its own while the counter does not answer", async () => {
  const silent: RateCounter = { add: async () => undefined };
  const [limiter] = fleet(1, silent, () => 0);
  const decisions = [];
  for (let index = 0; index < 30; index++)
    decisions.push((await limiter?.take(request(10))) ?? { kind: "allowed" as const });
  expect(allowed(decisions)).toBe(10);
});

test("a clock that is set back does not block a key for what it has already paid", async () => {
  let now = 7_200_000;
  const [one, other] = fleet(2, memoryCounter(), () => now);
  expect(await one?.take(request(10, 35))).toEqual({ kind: "allowed" });
  expect((await other?.take(request(10)))?.kind).toBe("limited");
  now = 3_600_000;
  for (const limiter of [one, other]) expect(await limiter?.take(request(10))).toEqual({ kind: "allowed" });
});

test("a clock that is set back by less than a debt cancels no debt", async () => {
  let now = 10_000;
  const limiters = fleet(2, memoryCounter(), () => now);
  expect(await limiters[0]?.take(request(10, 100))).toEqual({ kind: "allowed" });
  for (const limiter of limiters) expect((await limiter?.take(request(10)))?.kind).toBe("limited");
  now = 15_000;
  for (const limiter of limiters) expect((await limiter?.take(request(10)))?.kind).toBe("limited");
  now = 12_000;
  for (const limiter of limiters)
    expect(await limiter?.take(request(10))).toMatchObject({ kind: "limited", retryAfterSeconds: 8 });
});

test("a request for more than the rest of the lease is refused without asking the counter", async () => {
  const counter = memoryCounter();
  const [limiter] = fleet(1, counter, () => 5_000);
  // These are leases of three, and the last one of two.
  for (let index = 0; index < 25; index++)
    expect(await limiter?.take(request(26))).toEqual({ kind: "allowed" });
  const before = counter.questions;
  expect(await limiter?.take(request(26, 2))).toMatchObject({ kind: "limited", retryAfterSeconds: 1 });
  expect(await limiter?.take(request(26))).toEqual({ kind: "allowed" });
  expect(counter.questions).toBe(before);
});

test("a debt lasts no longer than counters are kept", async () => {
  const [limiter] = fleet(1, memoryCounter(), () => 5_000);
  const seconds = RATES_AGE_MS_MAX / 1000;
  expect(await limiter?.take(request(1, 2 * seconds))).toEqual({ kind: "allowed" });
  expect(await limiter?.take(request(1))).toMatchObject({ kind: "limited", retryAfterSeconds: seconds });
});

/** Answers this many questions and no more. */
const answeringOnly = (answers: number, counter: RateCounter) => {
  const asked = { questions: 0 };
  const add: RateCounter["add"] = async (...question) =>
    asked.questions++ < answers ? counter.add(...question) : undefined;
  return { asked, add };
};

test("a batch does not wait again for a counter that stopped answering what the batch owes", async () => {
  const counter = answeringOnly(1, memoryCounter());
  const [limiter] = fleet(1, counter, () => 5_000);
  expect(await limiter?.take(request(10, 35))).toEqual({ kind: "allowed" });
  expect(counter.asked.questions).toBe(4);
  expect(await limiter?.take(request(10))).toMatchObject({ kind: "limited", retryAfterSeconds: 4 });
});

test("the waiting time is based on what the counter has answered so far", async () => {
  const counter = memoryCounter();
  const [debtor] = fleet(1, counter, () => 5_000);
  expect(await debtor?.take(request(10, 95))).toEqual({ kind: "allowed" });
  const [asker] = fleet(1, answeringOnly(2, counter), () => 5_000);
  expect(await asker?.take(request(10))).toMatchObject({ kind: "limited", retryAfterSeconds: 2 });
});
