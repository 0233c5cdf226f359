import { expect, test } from "bun:test";
import { apartFor, barsOf, isAsked, isCounted, isSent, scaleOf } from "./time-bars.ts";

const NOW = Date.parse("2026-11-29T10:20:00Z");
const textOf = (edge: number | undefined): string => new Date(edge ?? Number.NaN).toISOString();

test.each([
  ["2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z", 1, "hour", false],
  ["2026-11-20T00:30:00Z", "2026-11-20T02:00:00Z", 1, "hour", true],
  ["2026-11-20T00:00:00Z", "2026-11-20T02:01:00Z", 1, "hour", true],
  [new Date(2026, 10, 1).toISOString(), new Date(2026, 11, 1).toISOString(), 24, "hour", false],
  ["2026-08-01T00:00:00Z", "2026-12-01T00:00:00Z", 168, "day", true],
  ["0001-01-01T00:00:00Z", "2026-12-01T00:00:00Z", 43 * 8760, "day", true],
] as const)("%p to %p: bars of %p h", (from, to, hours, bucket, isCut) => {
  const scale = scaleOf({ from, to }, NOW);
  expect([scale.hours, scale.bucket]).toEqual([hours, bucket]);
  expect(scale.isCut).toBe(isCut);
  expect(scale.edges.length).toBeLessThan(52);
  expect(scale.edges[0]).toBeLessThanOrEqual(Date.parse(from));
  expect(scale.edges.at(-1)).toBeGreaterThanOrEqual(Date.parse(to));
});

test("without times there are 30 days until now, none of them cut", () => {
  const { edges, isCut, hours } = scaleOf({}, NOW);
  expect([hours, edges.length - 1, isCut]).toEqual([24, 30, false]);
  expect(edges.at(-1)).toBeGreaterThan(NOW);
});

test("from alone ends now, also if it is later than now", () => {
  expect(scaleOf({ from: "2026-11-29T08:00:00Z" }, NOW).edges.map(textOf)).toEqual(
    ["08", "09", "10", "11"].map((hour) => `2026-11-29T${hour}:00:00.000Z`),
  );
  expect(scaleOf({ from: "2027-01-01T00:00:00Z" }, NOW).edges).toHaveLength(2);
});

test("each count is in its bar, and what lies beyond the bars is in none", () => {
  const scale = scaleOf({ from: "2026-11-20T00:00:00Z", to: "2026-11-20T03:00:00Z" }, NOW);
  const row = (start: string, events: number) => ({ start: `2026-11-${start}:00:00Z`, events });
  expect(
    barsOf([row("19T23", 1), row("20T00", 2), row("20T02", 3), row("20T02", 4), row("20T03", 5)], scale),
  ).toEqual([2, 0, 7]);
});

test.each([
  [{ event_type: "decision.*" }, [false, true]],
  [{ event_type: "notice,decision.*" }, [true, true]],
  [{ not_event_type: "decision.*" }, [true, false]],
  [{ event_type: "legacy.*" }, [true, false]],
  [{ risk_tier: "high,low", asset_id: "a" }, [true, false]],
  [{ risk_tier: "low" }, [false, true]],
  [{ not_asset_id: "a,b" }, [false, true]],
])("what the service cannot filter by is filtered here: %p", (asked, isIn) => {
  const notice = { start: "", events: 1, event_type: "notice", asset_id: "a", risk_tier: "high" };
  const decision = { ...notice, event_type: "decision.made", asset_id: "c", risk_tier: "low" };
  expect([notice, decision].map((row) => isAsked(row, asked))).toEqual(isIn);
});

test("counts are filtered by the service where it can, and apart where it cannot", () => {
  expect([
    isCounted("q"),
    isCounted("not_subject_hash"),
    isCounted("not_risk_tier"),
    isCounted("to"),
  ]).toEqual([false, false, true, true]);
  expect(apartFor({ asset_id: "a", event_type: "notice" })).toEqual([]);
  expect(apartFor({ not_asset_id: "a", event_type: "notice,decision.*", risk_tier: "low" })).toEqual([
    "event_type",
    "asset_id",
    "risk_tier",
  ]);
  expect([
    isSent("event_type", "a.*,b.*"),
    isSent("event_type", "a.*,b"),
    isSent("risk_tier", "low"),
  ]).toEqual([true, false, false]);
});
