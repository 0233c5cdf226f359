import { describe, expect, test } from "bun:test";
import { fact, type Metadata } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { obligationsOf } from "./clocks.ts";
import { STANDARD_RULES } from "./overrides.ts";

const said = (sequence: number, obligation_id: string, members: Partial<Fact> = {}): Fact => ({
  ...fact(`w${sequence} system.obligation_waived 2026-11-20T10:00:00Z`),
  sequence,
  links: {},
  says: { obligation_id, actor: "key_1", reason: `reason ${sequence}` },
  ...members,
});
const waived = (facts: readonly Fact[], ...waivers: readonly Fact[]) =>
  obligationsOf(caseOf(facts), STANDARD_RULES, waivers).flatMap(({ id, waiver }) =>
    waiver ? [[id, waiver.reason]] : [],
  );

describe("a waiver stays with what was waived, whichever event starts it by now", () => {
  const event = (line: string, metadata: Metadata = {}, bases?: readonly string[]) =>
    fact(line, metadata, bases && { legal_bases: bases });
  const gdpr = ["gdpr_art_22"];
  test.each<[string, string, Fact, Fact]>([
    [
      "an objection",
      "GDPR-12-3",
      event("e1 objection.received 2026-10-02T09:00:00Z", { objection_id: "o" }, gdpr),
      event("e0 objection.received 2026-10-01T09:00:00Z", { objection_id: "o" }, gdpr),
    ],
    [
      "a review",
      "HR-CLOSE",
      event("e1 decision.human_review_triggered 2026-10-02T09:00:00Z", { decision_id: "d" }),
      event("e0 decision.human_review_triggered 2026-10-01T09:00:00Z", { decision_id: "d" }),
    ],
    [
      "an incident",
      "EU73-GEN",
      event("e1 incident.detected 2026-10-02T09:00:00Z", { incident_id: "i" }),
      event("e0 incident.detected 2026-10-01T09:00:00Z", { incident_id: "i" }),
    ],
    [
      "a decision",
      "CO-ADVERSE",
      event(
        "e1 decision.automated_decision_made 2027-10-02T09:00:00Z",
        { decision_id: "d", outcome: "denied" },
        ["colorado_sb26_189"],
      ),
      event(
        "e0 decision.automated_decision_made 2027-10-01T09:00:00Z",
        { decision_id: "d", outcome: "denied" },
        ["colorado_sb26_189"],
      ),
    ],
    [
      "a notice",
      "LL144-NOTICE",
      event("e1 decision.automated_decision_made 2026-10-02T09:00:00Z", { decision_id: "d" }, ["nyc_ll144"]),
      event("e0 transparency.notice_shown 2026-10-01T09:00:00Z", { decision_id: "d" }, ["nyc_ll144"]),
    ],
  ])("%s", (_, rule, started, earlier) => {
    const waiver = said(5, `${rule}:e1`);
    expect(waived([started], waiver)).toEqual([[`${rule}:e1`, "reason 5"]]);
    for (const facts of [
      [started, earlier],
      [earlier, started],
    ])
      expect(waived(facts, waiver)).toEqual([[`${rule}:e0`, "reason 5"]]);
    const unwaived = said(6, `${rule}:e0`, { type: "system.obligation_unwaived" });
    expect(waived([started, earlier], unwaived, waiver)).toEqual([]);
    expect(waived([started, earlier], waiver, unwaived, said(7, `${rule}:e0`))).toEqual([
      [`${rule}:e0`, "reason 7"],
    ]);
  });

  test("but not with another time that an objection was open", () => {
    const open = [
      event("e1 objection.received 2026-10-01T09:00:00Z", { objection_id: "o" }, gdpr),
      event("e2 objection.resolved 2026-10-02T09:00:00Z", { objection_id: "o" }),
      event("e3 objection.received 2026-10-03T09:00:00Z", { objection_id: "o" }, gdpr),
    ];
    expect(waived(open, said(5, "GDPR-12-3:e3"))).toEqual([["GDPR-12-3:e3", "reason 5"]]);
  });
});

test("of several waivers the first in the log stands, until it is taken back", () => {
  const facts = [fact("e1 decision.human_review_triggered 2026-10-02T09:00:00Z", { decision_id: "d" })];
  const [first, second] = [said(5, "HR-CLOSE:e1"), said(6, "HR-CLOSE:e1")];
  // The clocks of two processes may differ.
  for (const waivers of [
    [first, second],
    [second, first],
    [first, { ...second, at: "2026-11-20T09:59:59" }],
  ])
    expect(waived(facts, ...waivers)).toEqual([["HR-CLOSE:e1", "reason 5"]]);
  const unwaived = said(7, "HR-CLOSE:e1", { type: "system.obligation_unwaived" });
  expect(waived(facts, first, second, unwaived)).toEqual([]);
});
