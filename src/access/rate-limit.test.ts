import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RATE_SHARES_MAX } from "../limits.ts";
import type { Principal } from "./authenticate.ts";
import type { ApiKeyRecord } from "./key-record.ts";
import {
  createKeyLimiter,
  createRateLimiter,
  perSecondLimit,
  type RateCounter,
  type RateDecision,
  type RateLimit,
  type RateShares,
  rateSharesOf,
} from "./rate-limit.ts";

/** Counters in memory that answer a little later, as a broker does. */
const memoryCounter = (): RateCounter & { questions: number } => {
  const values = new Map<string, number>();
  const counter = {
    questions: 0,
    add: async ({ holder, unit, window }: Parameters<RateCounter["add"]>[0], count: number) => {
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
  Array.from({ length: size }, () => createRateLimiter({ counter, nowMs }));

const requests = (perSecond: number) => perSecondLimit("k", "requests", perSecond);
const allowed = (decisions: readonly (RateDecision | undefined)[]): number =>
  decisions.filter((decision) => decision?.kind === "allowed").length;

test("all front ends together let at most the rate through in a second, and use nearly all of it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 5 }), async (rate, size) => {
      let now = 5_000_000;
      const limiters = fleet(size, memoryCounter(), () => now);
      const lost = size * Math.ceil(rate / 10);
      for (let second = 0; second < 4; second++) {
        let passed = 0;
        for (let step = 0; step < 20; step++) {
          const asked = Array.from({ length: rate + 5 }, (_, index) =>
            limiters[index % size]?.take(requests(rate), 1),
          );
          passed += allowed(await Promise.all(asked));
          now += 50;
        }
        expect(passed).toBeLessThanOrEqual(rate);
        // The window before counts less and less, so the last steps let the last ones through.
        expect(passed).toBeGreaterThanOrEqual(Math.min(rate, Math.floor(rate * 0.9) - lost));
      }
    }),
    { numRuns: 30 },
  );
});

test("in any stretch of time no more events pass than the rate gives, beside two batches", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 2000 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.nat({ max: 200_000 })), { maxLength: 200 }),
      async (rate, batches) => {
        let now = 5_000_000;
        const limiters = fleet(3, memoryCounter(), () => now);
        const limit = perSecondLimit("k", "events", rate);
        let passed = 0;
        for (const [index, [count, pause]] of batches.entries()) {
          const decision = await limiters[index % 3]?.take(limit, count);
          if (decision?.kind === "allowed") passed += count;
          expect(passed).toBeLessThanOrEqual((rate * (now - 5_000_000)) / 1000 + 2 * limit.quota + 1000);
          now += pause;
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("a refusal names the time after which every front end lets one more through", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("requests" as const, "events" as const),
      fc.integer({ min: 1, max: 1500 }),
      fc.nat({ max: 1_000_000 }),
      async (unit, rate, offset) => {
        let now = 5_000_000 + offset;
        const limit = perSecondLimit("k", unit, rate);
        const limiters = fleet(2, memoryCounter(), () => now);
        let refusal: RateDecision | undefined;
        for (let tries = 0; tries < 30 && refusal?.kind !== "limited"; tries++)
          refusal = await limiters[tries % 2]?.take(limit, Math.ceil(limit.quota / 4));
        if (refusal?.kind !== "limited") throw new Error("nothing was refused");
        expect(refusal.retryAfterSeconds).toBeLessThanOrEqual(2 * limit.windowSeconds);
        now += refusal.retryAfterSeconds * 1000;
        expect(allowed(await Promise.all(limiters.map((limiter) => limiter.take(limit, 1))))).toBeGreaterThan(
          0,
        );
      },
    ),
  );
});

test("a batch larger than the rate passes, and every front end makes the key wait for it", async () => {
  let now = 5_000_000;
  const [one, other] = fleet(2, memoryCounter(), () => now);
  const limit = perSecondLimit("k", "events", 5);
  expect(limit).toMatchObject({ quota: 1000, windowSeconds: 200 });
  expect(await one?.take(limit, 1000)).toEqual({ kind: "allowed" });
  now += 10_000;
  for (const limiter of [one, other])
    expect(await limiter?.take(limit, 1)).toEqual({ kind: "limited", limit, retryAfterSeconds: 191 });
  now += 191_000;
  expect((await other?.take(limit, 1000))?.kind).toBe("allowed");
  expect((await one?.take(limit, 1))?.kind).toBe("limited");
});

test("of batches that several front ends ask for at once one passes, and the others leave nothing in the counter", async () => {
  const now = 5_000_000;
  const counter = memoryCounter();
  const limiters = fleet(5, counter, () => now);
  const limit = perSecondLimit("k", "events", 10);
  expect(allowed(await Promise.all(limiters.map((limiter) => limiter.take(limit, 1000))))).toBe(1);
  expect(await counter.add({ ...limit, window: 5000 }, 0)).toBe(1000);
});

test("a front end asks ten times a second and once for the window before, and not at all while it must wait", async () => {
  const counter = memoryCounter();
  const [limiter] = fleet(1, counter, () => 5_000_000);
  for (let index = 0; index < 1000; index++)
    expect(await limiter?.take(requests(1000), 1)).toEqual({ kind: "allowed" });
  expect(counter.questions).toBe(11);
  for (let index = 0; index < 1000; index++)
    expect((await limiter?.take(requests(1000), 1))?.kind).toBe("limited");
  // The question that is refused, and what it takes back.
  expect(counter.questions).toBe(13);
});

test("while the counter does not answer, each front end keeps the rate on its own, and waits once a second", async () => {
  let now = 5_000_000;
  let questions = 0;
  const silent: RateCounter = {
    add: async () => {
      questions++;
      return undefined;
    },
  };
  const [limiter] = fleet(1, silent, () => now);
  for (let second = 1; second <= 3; second++) {
    const asked = Array.from({ length: 30 }, () => limiter?.take(requests(10), 1));
    expect(allowed(await Promise.all(asked))).toBe(10);
    expect(questions).toBe(2 * second);
    now += 1000;
  }
});

test("a clock that is set back blocks no key for what it has already used", async () => {
  let now = 7_200_000;
  const [one, other] = fleet(2, memoryCounter(), () => now);
  for (let index = 0; index < 20; index++) await one?.take(requests(10), 1);
  expect((await other?.take(requests(10), 1))?.kind).toBe("limited");
  now = 3_600_000;
  for (const limiter of [one, other])
    expect(await limiter?.take(requests(10), 1)).toEqual({ kind: "allowed" });
});

type Limit = NonNullable<ApiKeyRecord["rate_limit"]>;

const keys = new Map<string, ApiKeyRecord>();
const key = (id: string, created_by: string, limit?: Limit, rotated_from?: string): ApiKeyRecord => {
  const record: ApiKeyRecord = {
    id,
    tenant: "acme",
    scopes: ["events:write"],
    created_at: "2026-11-20T10:00:00.000Z",
    created_by,
    secret_hash: "",
    ...(limit && { rate_limit: limit }),
    ...(rotated_from !== undefined && { rotated_from }),
  };
  keys.set(id, record);
  return record;
};
const sharesOf = (record: ApiKeyRecord): RateShares => rateSharesOf(record, (id) => keys.get(id));
const requestsOf = (perSecond: number): Limit => ({ requests_per_second: perSecond });

const perSecond = (holder: string, rate: number): RateLimit => perSecondLimit(holder, "requests", rate);
const eventsPerSecond = (holder: string, rate: number): RateLimit => perSecondLimit(holder, "events", rate);

const top = key("top", "admin", { requests_per_second: 10, events_per_second: 100 });
const same = key("same", "top", top.rate_limit);
const narrow = key("narrow", "same", { requests_per_second: 2, events_per_second: 100 });
const successor = key("successor", "admin", narrow.rate_limit, "narrow");
const ofSuccessor = key("ofSuccessor", "successor", narrow.rate_limit);
const free = key("free", "admin");
const ofFree = key("ofFree", "free", requestsOf(5));
const orphan = key("orphan", "lost", requestsOf(3));

describe("what a key counts against", () => {
  test.each<[string, ApiKeyRecord, unknown]>([
    ["its own limit", top, { requests: [perSecond("top", 10)], events: [eventsPerSecond("top", 100)] }],
    [
      "its maker's, if it has the same",
      same,
      { requests: [perSecond("top", 10)], events: [eventsPerSecond("top", 100)] },
    ],
    [
      "its own and those that it comes from",
      narrow,
      { requests: [perSecond("narrow", 2), perSecond("top", 10)], events: [eventsPerSecond("top", 100)] },
    ],
    ["that of the key that it succeeds, whoever rotated it", successor, sharesOf(narrow)],
    ["that too if it is made by the successor", ofSuccessor, sharesOf(narrow)],
    ["nothing, if nothing limits it", free, { requests: [], events: [] }],
    ["its own alone under a key without a limit", ofFree, { requests: [perSecond("ofFree", 5)], events: [] }],
    ["its own alone if its maker is lost", orphan, { requests: [perSecond("orphan", 3)], events: [] }],
  ])("%s", (_, record, expected) => expect(sharesOf(record)).toEqual(expected as RateShares));

  test("ends, even for records that name each other", () => {
    const one = key("one", "two", requestsOf(1));
    key("two", "one", requestsOf(1));
    expect(sharesOf(one).requests).toEqual([perSecond("two", 1)]);
  });

  test("is bounded, and always has the widest", () => {
    let last = key("d20", "admin", requestsOf(20));
    for (let rate = 19; rate > 0; rate--) last = key(`d${rate}`, `d${rate + 1}`, requestsOf(rate));
    const shares = sharesOf(last).requests;
    expect(shares).toHaveLength(RATE_SHARES_MAX);
    expect([shares[0], shares.at(-1)]).toEqual([perSecond("d1", 1), perSecond("d20", 20)]);
  });
});

const principal = (record: ApiKeyRecord): Principal => ({
  keyId: record.id,
  tenant: record.tenant,
  scopes: record.scopes,
  isAdmin: false,
  rateShares: sharesOf(record),
});

test("a request that a narrow limit refuses takes nothing from what others share", async () => {
  const counts = new Map<string, number>();
  const add = async (counter: object, count: number): Promise<number> => {
    const name = JSON.stringify(counter);
    counts.set(name, (counts.get(name) ?? 0) + count);
    return counts.get(name) ?? 0;
  };
  const limiter = createKeyLimiter({
    limiter: createRateLimiter({ counter: { add }, nowMs: () => 0 }),
    tenantLimit: {},
  });
  const allowedTo = async (record: ApiKeyRecord): Promise<number> => {
    let count = 0;
    for (let tried = 0; tried < 50; tried++)
      count += Number((await limiter.take(principal(record), "requests", 1)).kind === "allowed");
    return count;
  };
  expect([await allowedTo(narrow), await allowedTo(top)]).toEqual([2, 8]);
});
