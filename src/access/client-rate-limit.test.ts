import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type ClientTimes, createClientRateLimiter, holderOf, type KeptTimes } from "./client-rate-limit.ts";

/** One store that answers a little later, as a broker does. */
const createStore = (): ClientTimes & { questions: number } => {
  const kept = new Map<string, KeptTimes>();
  let revisions = 0;
  const store = {
    questions: 0,
    read: async (holder: string) => {
      store.questions++;
      await Promise.resolve();
      return kept.get(holder) ?? { times: [], revision: 0 };
    },
    write: async (holder: string, { times, revision }: KeptTimes) => {
      store.questions++;
      await Promise.resolve();
      if ((kept.get(holder)?.revision ?? 0) !== revision) return { kind: "conflict" as const };
      kept.set(holder, { times, revision: ++revisions });
      return { kind: "written" as const, revision: revisions };
    },
  };
  return store;
};

const CLIENT = "192.0.2.1";

const setUp = (frontEnds = 1) => {
  const clock = { now: 1_000_000_000 };
  const store = createStore();
  const limiters = Array.from({ length: frontEnds }, () =>
    createClientRateLimiter({ store, nowMs: () => clock.now, perMinute: 100 }),
  );
  /** Asks all at once, each front end in turn. */
  const ask = async (count: number, client = CLIENT) => {
    const asked = Array.from({ length: count }, (_, index) => limiters[index % frontEnds]?.take(client));
    const decisions = await Promise.all(asked);
    const passed = decisions.filter((decision) => decision?.kind === "allowed").length;
    return { passed, decisions };
  };
  return { clock, store, ask };
};

/** A client's requests over several minutes: how many at once, and the pause after them. */
const history = fc.array(
  fc.record({
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 150 })),
    pauseMs: fc.oneof(
      fc.integer({ min: 0, max: 2_000 }),
      fc.integer({ min: 0, max: 70_000 }),
      fc.constantFrom(59_999, 60_000, 60_001),
    ),
  }),
  { maxLength: 60 },
);

describe("the limit of a client", () => {
  test("blocks nobody for more than two minutes after the clock is set back", async () => {
    const { clock, ask } = setUp();
    expect(await ask(100)).toMatchObject({ passed: 100 });
    clock.now -= 30_000;
    expect((await ask(1)).decisions).toMatchObject([{ kind: "limited", retryAfterSeconds: 90 }]);
    clock.now -= 3_600_000;
    expect(await ask(1)).toMatchObject({ passed: 1 });
  });

  test("is exact: it equals a list of all allowed requests, for any number of front ends", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 4 }), async (bursts, frontEnds) => {
        const { clock, ask } = setUp(frontEnds);
        const passed: number[] = [];
        for (const { count, pauseMs } of bursts) {
          const room = 100 - passed.filter((time) => time > clock.now - 60_000).length;
          const expected = Math.min(room, count);
          const { passed: allowed } = await ask(count);
          expect(allowed).toBe(expected);
          passed.push(...new Array<number>(allowed).fill(clock.now));
          clock.now += pauseMs;
        }
      }),
      { numRuns: 300 },
    );
  });

  test("allows a hundred again as soon as a hundred have left the window, wherever the clock's minute ends", async () => {
    const { clock, ask } = setUp();
    clock.now = 60_000_000;
    expect((await ask(90)).passed).toBe(90);
    clock.now += 61_000;
    expect((await ask(100)).passed).toBe(100);
    clock.now += 31_000;
    expect((await ask(60)).passed).toBe(0);
  });

  test("names the second in which the oldest request leaves the window, and allows requests then", async () => {
    const { clock, ask } = setUp();
    await ask(40);
    clock.now += 20_500;
    await ask(60);
    clock.now += 9_500;
    const [refused] = (await ask(1)).decisions;
    expect(refused).toEqual({ kind: "limited", perMinute: 100, retryAfterSeconds: 30 });
    clock.now += 29_999;
    expect((await ask(1)).decisions[0]).toMatchObject({ kind: "limited", retryAfterSeconds: 1 });
    clock.now += 1;
    expect((await ask(41)).passed).toBe(40);
    expect((await ask(1)).decisions[0]).toMatchObject({ kind: "limited", retryAfterSeconds: 21 });
  });

  test("asks the store nothing for a client over the limit, and once for simultaneous requests", async () => {
    const { store, ask } = setUp();
    await ask(100);
    const { questions } = store;
    expect(questions).toBeLessThan(5);
    await ask(1000);
    expect(store.questions).toBe(questions);
  });

  test("does not make a request wait for requests that came later", async () => {
    const { clock, store } = setUp();
    let writes = 0;
    const slow: ClientTimes = {
      ...store,
      write: (holder, kept) => {
        if (++writes > 1) return new Promise(() => {});
        void limiter.take(CLIENT);
        return store.write(holder, kept);
      },
    };
    const limiter = createClientRateLimiter({ store: slow, nowMs: () => clock.now, perMinute: 100 });
    expect(await limiter.take(CLIENT)).toEqual({ kind: "allowed" });
    expect(writes).toBe(2);
  });

  test("is separate for each client, even with more clients than are remembered", async () => {
    const { store, ask } = setUp();
    await ask(100);
    for (let other = 0; other < 10_001; other++)
      await ask(1, `10.${other >> 16}.${(other >> 8) & 255}.${other & 255}`);
    const { questions } = store;
    expect((await ask(1)).passed).toBe(0);
    expect(store.questions).toBe(questions + 1);
  });

  test("is unknown if the store does not answer or fails", async () => {
    const silent: ClientTimes = {
      read: async () => undefined,
      write: async () => ({ kind: "unavailable" }),
    };
    const mute: ClientTimes = { ...silent, read: async () => ({ times: [], revision: 0 }) };
    const contested: ClientTimes = { ...mute, write: async () => ({ kind: "conflict" }) };
    for (const store of [silent, mute, contested]) {
      const limiter = createClientRateLimiter({ store, nowMs: () => 0, perMinute: 100 });
      const decisions = await Promise.all([limiter.take(CLIENT), limiter.take(CLIENT)]);
      expect(decisions).toEqual([{ kind: "unknown" }, { kind: "unknown" }]);
    }
  });
});

describe("a client's name", () => {
  test.each([
    ["192.0.2.1", "ip_192_0_2_1"],
    ["192.0.2.1:443", "ip_192_0_2_1"],
    ["::ffff:192.0.2.1", "ip_192_0_2_1"],
    ["::ffff:c000:201", "ip_192_0_2_1"],
    ["[0:0:0:0:0:FFFF:192.0.2.1]:443", "ip_192_0_2_1"],
    ["::ffff:0:192.0.2.1", "ip_0_0_0_0"],
    ["fe80:0:0:1::192.0.2.1%eth0", "ip_fe80_0_0_1"],
    ["2001:db8:0:0:1::", "ip_2001_db8_0_0"],
    ["2001:db8:1:2:3:4:5:6", "ip_2001_db8_1_2"],
    ["2001:0DB8:0001:0002::9", "ip_2001_db8_1_2"],
    ["[2001:db8:1:2::9]:443", "ip_2001_db8_1_2"],
    ["2001:db8::1", "ip_2001_db8_0_0"],
    ["::1", "ip_0_0_0_0"],
    ["", "ip_unknown"],
    ["a.>", "ip_unknown"],
  ])("%s", (address, name) => expect(holderOf(address)).toBe(name));

  test("is the one for clients without an address if the address is ten thousand digits", () =>
    expect(holderOf("1".repeat(10_000))).toBe("ip_unknown"));

  test("is short and a single token of a subject for any input", () => {
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
