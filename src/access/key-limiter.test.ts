import { describe, expect, test } from "bun:test";
import { RATE_SHARES_MAX } from "../limits.ts";
import type { Principal } from "./authenticate.ts";
import { createKeyLimiter, type RateShares, rateSharesOf } from "./key-limiter.ts";
import type { ApiKeyRecord } from "./key-record.ts";
import { createRateLimiter, perSecondLimit, type RateLimit } from "./rate-limit.ts";

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
const requests = (perSecond: number): Limit => ({ requests_per_second: perSecond });

const perSecond = (holder: string, rate: number): RateLimit => perSecondLimit(holder, "requests", rate);
const eventsPerSecond = (holder: string, rate: number): RateLimit => perSecondLimit(holder, "events", rate);

const top = key("top", "admin", { requests_per_second: 10, events_per_second: 100 });
const same = key("same", "top", top.rate_limit);
const narrow = key("narrow", "same", { requests_per_second: 2, events_per_second: 100 });
const successor = key("successor", "admin", narrow.rate_limit, "narrow");
const ofSuccessor = key("ofSuccessor", "successor", narrow.rate_limit);
const free = key("free", "admin");
const ofFree = key("ofFree", "free", requests(5));
const orphan = key("orphan", "lost", requests(3));

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
      {
        requests: [perSecond("narrow", 2), perSecond("top", 10)],
        events: [eventsPerSecond("top", 100)],
      },
    ],
    ["that of the key that it succeeds, whoever rotated it", successor, sharesOf(narrow)],
    ["that too if it is made by the successor", ofSuccessor, sharesOf(narrow)],
    ["nothing, if nothing limits it", free, { requests: [], events: [] }],
    ["its own alone under a key without a limit", ofFree, { requests: [perSecond("ofFree", 5)], events: [] }],
    ["its own alone if its maker is lost", orphan, { requests: [perSecond("orphan", 3)], events: [] }],
  ])("%s", (_, record, expected) => expect(sharesOf(record)).toEqual(expected as RateShares));

  test("ends, even for records that name each other", () => {
    const one = key("one", "two", requests(1));
    key("two", "one", requests(1));
    expect(sharesOf(one).requests).toEqual([perSecond("two", 1)]);
  });

  test("is bounded, and always has the widest", () => {
    let last = key("d20", "admin", requests(20));
    for (let rate = 19; rate > 0; rate--) last = key(`d${rate}`, `d${rate + 1}`, requests(rate));
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
  const allowed = async (record: ApiKeyRecord): Promise<number> => {
    let count = 0;
    for (let tried = 0; tried < 50; tried++)
      count += Number((await limiter.take(principal(record), "requests", 1)).kind === "allowed");
    return count;
  };
  expect([await allowed(narrow), await allowed(top)]).toEqual([2, 8]);
});
