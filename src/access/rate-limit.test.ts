import { expect, test } from "bun:test";
import fc from "fast-check";
import { createRateLimiter } from "./rate-limit.ts";

const requests = (keyId: string, perSecond: number | undefined, count = 1) =>
  ({ keyId, unit: "requests", perSecond, count }) as const;

test("a key without a limit is never refused", () => {
  const limiter = createRateLimiter(() => 0);
  for (let index = 0; index < 1000; index++)
    expect(limiter.take(requests("a", undefined)).kind).toBe("allowed");
});

test("no stretch of time lets more pass than one second's worth plus the refill", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 300 }),
      (rate, pauses) => {
        let now = 0;
        const limiter = createRateLimiter(() => now);
        let passed = 0;
        for (const pause of pauses) {
          now += pause;
          if (limiter.take(requests("a", rate)).kind === "allowed") passed++;
          expect(passed).toBeLessThanOrEqual(rate + (now / 1000) * rate + 1e-6);
        }
      },
    ),
  );
});

test("one more request is allowed after the time that the refusal names", () => {
  let now = 0;
  const limiter = createRateLimiter(() => now);
  limiter.take(requests("a", 10, 35));
  const limited = limiter.take(requests("a", 10));
  expect(limited).toEqual({ kind: "limited", unit: "requests", perSecond: 10, retryAfterSeconds: 3 });
  now = 2_000;
  expect(limiter.take(requests("a", 10)).kind).toBe("limited");
  now = 3_000;
  expect(limiter.take(requests("a", 10)).kind).toBe("allowed");
});

test("each key and each unit has its own bucket", () => {
  const limiter = createRateLimiter(() => 0);
  limiter.take(requests("a", 1));
  expect(limiter.take(requests("a", 1)).kind).toBe("limited");
  expect(limiter.take(requests("b", 1)).kind).toBe("allowed");
  expect(limiter.take({ ...requests("a", 1), unit: "events" }).kind).toBe("allowed");
});
