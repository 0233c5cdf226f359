/** What histories do not cover in registers: several laws at once, notices between several decisions, lists without end. */
import { describe, expect, test } from "bun:test";
import { METADATA_LIST_ITEMS_MAX } from "../../src/limits.ts";
import { assessmentList, riskChangeList } from "../../src/views/assessments/tables.ts";
import { decisionList } from "../../src/views/cases/registers/decisions.ts";
import { humanReviewList } from "../../src/views/cases/registers/human-reviews.ts";
import { incidentList } from "../../src/views/cases/registers/incidents.ts";
import { noticeList } from "../../src/views/cases/registers/notices.ts";
import { objectionList } from "../../src/views/cases/registers/objections.ts";
import type { List } from "../../src/views/kit/list.ts";
import { entriesAfter as entriesIn, type Sent } from "./told.ts";

/** The same in both orders of arrival. */
const entriesAfter = async (list: List, events: readonly Sent[], now?: string) => {
  const entries = await entriesIn(list, events, undefined, now);
  expect(await entriesIn(list, events, (messages) => messages.toReversed(), now)).toEqual(entries);
  return entries;
};

describe("objections", () => {
  const about = { objection_id: "o1", decision_id: "d1" };
  const request = (...legal_bases: readonly string[]): Sent => [
    "objection.received",
    "2027-01-01",
    { ...about, objection_type: "explanation_request" },
    { legal_bases },
  ];
  const explained: Sent = ["decision.explanation_provided", "2027-01-20", { decision_id: "d1" }];
  const resolved: Sent = ["objection.resolved", "2027-03-02", { ...about, resolution: "upheld" }];

  test("an explanation in time is an answer in time, even if the objection is resolved long after", async () => {
    const [entry] = await entriesAfter(objectionList, [request("pipa_37_2_kr"), explained, resolved]);
    expect(entry).toMatchObject({ due_at: "2027-01-31T14:59:59Z", days: 60, late: false });
    expect(entry).not.toContainAnyKeys(["answered_late", "open_due_at", "at"]);
  });

  test("under several laws each limit counts, even one that ends after the first is met", async () => {
    const both = request("pipa_37_2_kr", "gdpr_art_22");
    const late = async (events: readonly Sent[], now: string) =>
      (await entriesAfter(objectionList, events, now)).map((entry) => entry.late);
    expect(await late([both, explained], "2027-01-25T00:00:00")).toEqual([false]);
    expect(await late([both, explained], "2027-02-02T00:00:00")).toEqual([true]);
    expect(await late([both, explained, resolved], "2027-06-01T00:00:00")).toEqual([true]);
    const inTime: Sent = ["objection.resolved", "2027-01-21", { ...about, resolution: "upheld" }];
    expect(await late([both, explained, inTime], "2027-06-01T00:00:00")).toEqual([false]);
  });

  test("an objection without a legal limit is never late, and one that was never received has no duration", async () => {
    const [entry] = await entriesAfter(objectionList, [resolved]);
    expect(entry).toMatchObject({ state: "orphan", due_at: null, days: null, late: null });
  });

  test("an answer before the question has no duration", async () => {
    const early: Sent = ["objection.resolved", "2026-12-31", { ...about, resolution: "upheld" }];
    const [entry] = await entriesAfter(objectionList, [request("pipa_37_2_kr"), early]);
    expect(entry).toMatchObject({ resolved_at: "2026-12-31T00:00:00Z", days: null, late: true });
  });

  test("each extension has its reason; one that was told without a reason, or too late, does not count", async () => {
    const extend = (time: string, metadata: object): Sent => [
      "objection.acknowledged",
      time,
      { ...about, extension_days: 10, ...metadata },
    ];
    const [entry] = await entriesAfter(objectionList, [
      request("pipa_37_2_kr"),
      extend("2027-01-05", { reason: "many at once" }),
      extend("2027-01-06", {}),
      extend("2027-02-05", { reason: "an expert is ill" }),
      extend("2027-06-05", { reason: "too late" }),
    ]);
    expect(entry).toMatchObject({
      extensions: 2,
      extension_reasons: ["many at once", "an expert is ill"],
      due_at: "2027-02-20T14:59:59Z",
    });
  });

  test("a denial that needs a reason has the time limit of the answer, not that of the reason", async () => {
    const denied: Sent = ["objection.resolved", "2027-01-05", { ...about, resolution: "denied" }];
    const appeal: Sent = ["objection.received", "2027-01-01", { ...about, objection_type: "appeal" }];
    const [entry] = await entriesAfter(objectionList, [appeal, denied]);
    expect(entry).toMatchObject({ due_at: "2027-01-31T14:59:59Z", state: "resolved", late: false });
  });
});

test("a decision lacks the explanation that a person asked for before objecting to something else under the same name", async () => {
  const about = { objection_id: "o1", decision_id: "d1" };
  const events: readonly Sent[] = [
    ["decision.automated_decision_made", "2027-01-01", { decision_id: "d1" }],
    ["objection.received", "2027-01-02", { ...about, objection_type: "explanation_request" }],
    ["objection.resolved", "2027-01-03", { ...about, resolution: "partial" }],
    ["objection.received", "2027-01-04", { ...about, objection_type: "appeal" }],
    ["objection.resolved", "2027-01-05", { ...about, resolution: "upheld" }],
  ];
  expect(await entriesAfter(decisionList, events)).toMatchObject([
    { missing: ["notice", "explanation"], obligations_open: 1 },
  ]);
  const explained: Sent = ["decision.explanation_provided", "2027-01-06", { decision_id: "d1" }];
  expect(await entriesAfter(decisionList, [...events, explained])).toMatchObject([
    { missing: ["notice"], obligations_open: 0 },
  ]);
});

test("a decision shows its first notice before it, its first explanation, its open duties, and the person", async () => {
  const about = { decision_id: "d1" };
  const person = { subject_hash: `sha256:${"a".repeat(64)}` };
  const events: readonly Sent[] = [
    [
      "decision.automated_decision_made",
      "2027-02-01",
      { ...about, outcome: "denied" },
      { legal_bases: ["colorado_sb26_189"] },
    ],
    ["transparency.notice_shown", "2027-02-02", about, person],
  ];
  const open = await entriesAfter(decisionList, events);
  expect(open).toMatchObject([
    { notice_at: null, missing: ["notice", "explanation"], obligations_open: 1, ...person },
  ]);
  const explained = await entriesAfter(decisionList, [
    ...events,
    ["decision.explanation_provided", "2027-02-05", about],
    ["decision.explanation_provided", "2027-02-06", about],
  ]);
  expect(explained).toMatchObject([
    { explanation_at: "2027-02-05T00:00:00Z", missing: ["notice"], obligations_open: 0 },
  ]);
});

test("an incident is complete when it has a report that is not called initial, and ends when it is mitigated", async () => {
  const about = { incident_id: "i1" };
  const events: readonly Sent[] = [
    ["incident.detected", "2027-01-01", about],
    ["incident.reported_to_authority", "2027-01-02", { ...about, report_type: "initial" }],
    ["incident.reported_to_authority", "2027-01-05", about],
  ];
  expect(await entriesAfter(incidentList, events)).toMatchObject([
    {
      state: "reported",
      initial_report_at: "2027-01-02T00:00:00Z",
      complete_report_at: "2027-01-05T00:00:00Z",
    },
  ]);
  expect(
    await entriesAfter(incidentList, [...events, ["incident.mitigated", "2027-01-03", about]]),
  ).toMatchObject([{ state: "mitigated" }]);
});

test("a human review changed something if its final outcome differs from the system's, and both are known", async () => {
  const review: readonly Sent[] = [
    ["decision.human_review_triggered", "2027-01-02", { decision_id: "d1" }],
    [
      "decision.human_review_completed",
      "2027-01-03",
      { decision_id: "d1", outcome: "denied", final_outcome: "approved" },
    ],
  ];
  expect(await entriesAfter(humanReviewList, review)).toMatchObject([
    { decision_outcome: null, final_outcome: "approved", changed: null },
  ]);
  const made: Sent = [
    "decision.automated_decision_made",
    "2027-01-01",
    { decision_id: "d1", outcome: "denied" },
  ];
  expect(await entriesAfter(humanReviewList, [made, ...review])).toMatchObject([
    { decision_outcome: "denied", final_outcome: "approved", changed: true },
  ]);
});

test("a human review with the same outcome in other letter case changed nothing, and both outcomes stay as they were sent", async () => {
  const entries = await entriesAfter(humanReviewList, [
    ["decision.automated_decision_made", "2027-01-01", { decision_id: "d1", outcome: "Denied" }],
    ["decision.human_review_triggered", "2027-01-02", { decision_id: "d1" }],
    ["decision.human_review_completed", "2027-01-03", { decision_id: "d1", final_outcome: "denied" }],
  ]);
  expect(entries).toMatchObject([{ decision_outcome: "Denied", final_outcome: "denied", changed: false }]);
});

test("a human review shows its hours to the hundredth, for any precision of its times", async () => {
  const times = async (triggered: string, completed: string) => {
    const [entry] = await entriesAfter(humanReviewList, [
      ["decision.human_review_triggered", triggered, { decision_id: "d1" }],
      ["decision.human_review_completed", completed, { decision_id: "d1" }],
    ]);
    return entry?.hours;
  };
  expect(await times("2027-01-01T00:00:00", "2027-01-01T01:45:00.123456789")).toBe(1.75);
  expect(await times("2026-12-31T23:59:60", "2027-01-01T00:59:59")).toBe(1);
});

describe("notices", () => {
  const shown = (time: string, links: object, members: object = {}): Sent => [
    "transparency.notice_shown",
    time,
    links,
    members,
  ];
  const told = async (...events: readonly Sent[]) =>
    Object.fromEntries(
      (await entriesAfter(noticeList, events)).map(({ notice_id, state, dismissed_at, acknowledged_at }) => [
        notice_id,
        [state, dismissed_at, acknowledged_at],
      ]),
    );
  const c1 = { correlation_id: "c1" };

  test("an answer belongs to the only notice of the decision that it names, else to the only one of its correlation", async () => {
    const c2 = { correlation_id: "c2" };
    expect(
      await told(
        shown("2027-01-01T10", { decision_id: "d1" }, c1),
        shown("2027-01-01T12", { decision_id: "d2" }, c1),
        shown("2027-01-01T12", {}, c2),
        ["transparency.notice_dismissed", "2027-01-01T13", { decision_id: "d1" }, c1],
        ["disclosure_acknowledged", "2027-01-01T13", {}, c2],
        ["disclosure_acknowledged", "2027-01-01T14", {}, c2],
        // Nothing tells which of two it answers.
        ["disclosure_acknowledged", "2027-01-01T13", {}, c1],
      ),
    ).toEqual({
      evt_0: ["dismissed", "2027-01-01T13:00:00Z", null],
      evt_1: ["shown", null, null],
      evt_2: ["acknowledged", null, "2027-01-01T13:00:00Z"],
      evt_6: ["orphan", null, "2027-01-01T13:00:00Z"],
    });
  });
});

test("a checklist shows the last statement about each item, and if there are too many items, the first by name", async () => {
  const all = Array.from({ length: METADATA_LIST_ITEMS_MAX + 8 }, (_, index) => `item ${10 + index}`);
  const say = (type: string, day: number, checklist: unknown): Sent => [
    `assessment.impact_assessment_${type}`,
    `2027-01-0${day}`,
    { checklist },
  ];
  const [entry] = await entriesAfter(assessmentList, [
    say("started", 1, all.slice(20)),
    say("updated", 2, Object.fromEntries(all.slice(0, 24).map((item) => [item, "drafted"]))),
    say("updated", 3, [{ item: "item 12", state: true }]),
    say("completed", 4, undefined),
  ]);
  expect(entry?.checklist).toEqual(
    all.slice(0, METADATA_LIST_ITEMS_MAX).map((item, index) => ({
      item,
      state: item === "item 12" ? true : index < 24 ? "drafted" : null,
    })),
  );
});

test("a change of the risk tier without further details is listed with what it says", async () => {
  const changes = await entriesAfter(riskChangeList, [
    ["assessment.risk_classification_changed", "2027-01-01"],
    [
      "assessment.risk_classification_changed",
      "2027-01-02",
      { to: "high", input: "x".repeat(5000), clauses: 7 },
    ],
  ]);
  expect(changes).toMatchObject([
    { at: "2027-01-01T00:00:00Z", to_tier: null, input: null, clauses: [] },
    { at: "2027-01-02T00:00:00Z", to_tier: "high", input: null, clauses: [] },
  ]);
});
