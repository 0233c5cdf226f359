import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createClientRateLimiter, holderOf } from "./client-rate-limit.ts";
import type { RateCounter } from "./shared-rate-limit.ts";

const createCounter = (): RateCounter => {
  const values = new Map<string, number>();
  return {
    add: async ({ holder, window }, count) => {
      const name = `${holder} ${window}`;
      const value = (values.get(name) ?? 0) + count;
      values.set(name, value);
      return value;
    },
  };
};

describe("the limit of a client", () => {
  test("never lets more than its number pass in any 60 seconds when requests come evenly, and never shuts out for longer", async () => {
    let now = 0;
    const limiter = createClientRateLimiter({ counter: createCounter(), nowMs: () => now, perMinute: 100 });
    const passed: number[] = [];
    // Four a second for five minutes: more than twice what is allowed.
    for (; now < 300_000; now += 250)
      if ((await limiter.take("192.0.2.1")).kind === "allowed") passed.push(now);
    for (const from of passed) {
      const inWindow = passed.filter((at) => at >= from && at < from + 60_000).length;
      expect(inWindow).toBeLessThanOrEqual(110);
    }
    expect(passed.length).toBeGreaterThan(400);
  });

  test("says when to come back, and keeps its word", async () => {
    let now = 1_000_000;
    const limiter = createClientRateLimiter({ counter: createCounter(), nowMs: () => now, perMinute: 100 });
    for (let asked = 0; asked < 100; asked++) expect((await limiter.take("192.0.2.1")).kind).toBe("allowed");
    const refused = await limiter.take("192.0.2.1");
    if (refused.kind !== "limited") throw new Error("the hundred and first is too many");
    now += refused.retryAfterSeconds * 1000;
    expect((await limiter.take("192.0.2.1")).kind).toBe("allowed");
  });

  test("without an answer of the counter nobody knows", async () => {
    const limiter = createClientRateLimiter({
      counter: { add: async () => undefined },
      nowMs: () => 0,
      perMinute: 100,
    });
    expect(await limiter.take("192.0.2.1")).toEqual({ kind: "unknown" });
  });
});

describe("a client's name", () => {
  test.each([
    ["192.0.2.1", "ip_192_0_2_1"],
    ["192.0.2.1:443", "ip_192_0_2_1"],
    ["::ffff:192.0.2.1", "ip_192_0_2_1"],
    ["2001:db8:1:2:3:4:5:6", "ip_2001_db8_1_2"],
    ["2001:0DB8:0001:0002::9", "ip_2001_db8_1_2"],
    ["[2001:db8:1:2::9]:443", "ip_2001_db8_1_2"],
    ["2001:db8::1", "ip_2001_db8_0_0"],
    ["::1", "ip_0_0_0_0"],
    ["", "ip_unknown"],
    ["a.>", "ip_unknown"],
    ["1".repeat(10_000), "ip_unknown"],
  ])("%s", (address, name) => expect(holderOf(address)).toBe(name));

  test("is short and one token of a subject, whatever is sent", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.%[\]]*$/)),
        (address) => {
          expect(holderOf(address)).toMatch(/^[a-z0-9_]{4,30}$/);
        },
      ),
      { numRuns: 5000 },
    );
  });
});
