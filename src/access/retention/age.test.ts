import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ageOf,
  classOf,
  classText,
  countedFrom,
  dueBefore,
  type Hold,
  isOnHold,
  legalFloor,
  RETENTION_CLASSES,
} from "./age.ts";
import { FLOOR_NAMES, GENERAL_FLOOR, LEGAL_FLOORS, RETENTION_TIERS } from "./floors.ts";
import type { RetentionPolicy } from "./records.ts";

describe("the minimum ages of laws and tiers", () => {
  const cases: readonly (readonly [readonly string[], string | null, number | null, string])[] = [
    [["ai_basic_law_kr"], "low", 1827, "27(2)"],
    [["eu_ai_act_art_50"], "low", 366, ""],
    [["eu_ai_act_of_tomorrow"], null, 1827, ""],
    [["eu_ai_actor", "ai_basic_law_kr_2"], "low", 366, ""],
    [["eu_ai_act_art_5", "colorado_sb26_189"], "low", 1096, "SB 26-189"],
    [["feha_ads_us_ca", "colorado_sb26_189", "ai_basic_law_kr"], "low", 1827, "27(2)"],
    [["feha_ads_us_ca"], "limited", 1461, "11013"],
    [["feha_ads_us_ca"], "high", 1827, ""],
    [["nobody_knows"], "low", 366, ""],
    [[], "low", 366, ""],
    [[], "limited", 1096, ""],
    [[], "high", 1827, ""],
    [[], null, 1827, ""],
    [[], "no tier of ours", 1827, ""],
    [["ai_basic_law_kr"], "prohibited", null, ""],
  ];
  test.each(cases)("%j with tier %p: %p days", (bases, tier, days, clause) => {
    // The policy asks for less than any of them.
    const floor = ageOf({ maximum_days: 1 }, classOf(bases, tier));
    expect([floor.days, floor.reason.clause === null]).toEqual([days, clause === ""]);
    if (clause !== "") expect(floor.reason.clause).toContain(clause);
  });

  test("every legal floor names its article, and none is below the general floor", () => {
    for (const name of FLOOR_NAMES) {
      expect(LEGAL_FLOORS[name].days).toBeGreaterThanOrEqual(GENERAL_FLOOR.days);
      expect(LEGAL_FLOORS[name].clause.length).toBeGreaterThan(10);
    }
  });

  test("a floor is never shorter than its months in the calendar", () => {
    const spans = [
      [GENERAL_FLOOR.days, 6],
      [LEGAL_FLOORS.colorado_sb26_189.days, 36],
      [LEGAL_FLOORS.feha_ads_us_ca.days, 48],
      [LEGAL_FLOORS.ai_basic_law_kr.days, 60],
    ] as const;
    for (const [days, months] of spans) {
      for (let day = 0; day < 1500; day++) {
        const start = new Date(Date.UTC(2023, 0, 1 + day));
        const end = new Date(start);
        end.setUTCMonth(end.getUTCMonth() + months, 1);
        const last = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
        end.setUTCDate(Math.min(start.getUTCDate(), last));
        expect((end.getTime() - start.getTime()) / 86_400_000).toBeLessThanOrEqual(days);
      }
    }
  });
});

describe("the age under a policy", () => {
  const low = (maximum_days: number, more: RetentionPolicy = {}) => ({
    ...more,
    tiers: { low: { maximum_days } },
  });
  test.each<
    [
      what: string,
      policy: RetentionPolicy,
      tier: string | null,
      law: string,
      days: number | null,
      code: string,
    ]
  >([
    ["an empty policy", {}, "low", "", null, "no_maximum"],
    ["only a minimum", { minimum_days: 400 }, "low", "", null, "no_maximum"],
    ["a maximum above the tier's age", { maximum_days: 500 }, "low", "", 500, "policy_maximum"],
    ["a maximum below the tier's age", { maximum_days: 200 }, "low", "", 366, "tier_default"],
    ["a maximum for the tier", low(200), "low", "", 200, "policy_maximum"],
    ["a longer one for the tier", low(900, { maximum_days: 400 }), "low", "", 900, "policy_maximum"],
    ["a maximum for another tier", low(200), "high", "", null, "no_maximum"],
    ["a maximum for the tier below a legal floor", low(200), "low", "ai_basic_law_kr", 1827, "law"],
    ["prohibited", { maximum_days: 4000 }, "prohibited", "", null, "tier_default"],
    [
      "its maximum",
      { tiers: { prohibited: { maximum_days: 4000 } } },
      "prohibited",
      "",
      4000,
      "policy_maximum",
    ],
    ["a large minimum", { maximum_days: 2000, minimum_days: 1900 }, "low", "", 2000, "policy_maximum"],
    [
      "its minimum",
      { maximum_days: 300, tiers: { low: { minimum_days: 300 } } },
      "low",
      "",
      366,
      "tier_default",
    ],
    ["the general floor", { tiers: { unknown: { maximum_days: 184 } } }, null, "", 184, "law"],
  ])("%s", (_, policy, tier, law, days, code) => {
    const age = ageOf(policy, classOf([law], tier));
    expect([age.days, age.reason.code as string]).toEqual([days, code]);
  });

  test.each([
    ["2026-01-01T00:00:00", "2026-01-01T00:00:00", "2026-07-04T00:00:01.000Z"],
    ["2020-01-01T00:00:00", "2026-01-01T00:00:00", "2026-07-04T00:00:01.000Z"],
    ["2026-02-01T00:00:00.999999999", "2026-01-01T00:00:00", "2026-08-04T00:00:01.000Z"],
    ["2026-01-01T00:00:00", "2026-02-01T00:00:00", "2026-08-04T00:00:01.000Z"],
    ["2026-01-01T00:00:00", "2026-06-30T23:59:60.5", "2027-01-01T00:00:00.000Z"],
  ])(
    "of 184 days counts from the later of %s and %s, never shortened by a leap second or a fraction",
    (occurred, received, due) => {
      const age = ageOf({ tiers: { unknown: { maximum_days: 184 } } }, classOf([], null));
      const isDueAt = (ms: number) =>
        countedFrom({ occurred, received }) < (dueBefore(age, new Date(ms)) ?? "");
      expect([isDueAt(Date.parse(due) - 1), isDueAt(Date.parse(due))]).toEqual([false, true]);
    },
  );

  test("a hold keeps exactly the events that it names until it is released", () => {
    const kept = (hold: Hold, correlationIds: readonly string[] = []) =>
      isOnHold({ assetId: "credit_model", correlationIds }, [{ asset_id: "other" }, hold]);
    expect(kept({ asset_id: "credit_model" })).toBe(true);
    expect(kept({ asset_id: "credit_model", released_at: "2026-01-01T00:00:00.000Z" })).toBe(false);
    expect(kept({ asset_id: "Credit_Model" })).toBe(false);
    expect(kept({ correlation_id: "credit_model" })).toBe(false);
    expect(kept({ correlation_id: "c1" }, ["c0", "c1"])).toBe(true);
    expect(kept({})).toBe(false);
  });
});

const DAYS = fc.integer({ min: GENERAL_FLOOR.days, max: 3000 });
const bound = fc.record({ maximum_days: DAYS, minimum_days: DAYS }, { requiredKeys: [] });
const anyPolicy: fc.Arbitrary<RetentionPolicy> = fc
  .record({ general: bound, tiers: fc.dictionary(fc.constantFrom(...RETENTION_TIERS), bound) })
  .map(({ general, tiers }) => ({ ...general, tiers }));
const anyTier = fc.constantFrom<string | null>("low", "limited", "high", "prohibited", "other", null);
const anyBases = fc.array(
  fc.constantFrom(
    "ai_basic_law_kr",
    "feha_ads_us_ca",
    "colorado_sb26_189",
    "eu_ai_act_art_50",
    "gdpr_art_22",
  ),
);
describe("for any policy and any event", () => {
  test("no age is below the floor of any of its laws or the policy's minimum, and each class is one that is looked at", () => {
    fc.assert(
      fc.property(anyPolicy, anyTier, anyBases, (policy, riskTier, bases) => {
        const kept = classOf(bases, riskTier);
        expect(RETENTION_CLASSES.map(classText)).toContain(classText(kept));
        const { days } = ageOf(policy, kept);
        if (days === null) return;
        expect(days).toBeGreaterThanOrEqual(GENERAL_FLOOR.days);
        for (const basis of bases)
          expect(days).toBeGreaterThanOrEqual(legalFloor(classOf([basis], riskTier)).days);
        expect(classOf(bases.toReversed(), riskTier)).toEqual(kept);
        const minimum = policy.tiers?.[kept.tier]?.minimum_days ?? policy.minimum_days ?? 0;
        expect(days).toBeGreaterThanOrEqual(minimum);
      }),
    );
  });
});
