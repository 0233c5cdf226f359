/** Where clocks are easily wrong by a day or an event: the edges of laws, zones, limits and years, and events that repeat others. */
import { describe, expect, test } from "bun:test";
import { fact, type Metadata } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { needsBiasAudit } from "./bias-audit.ts";
import { obligationsOf } from "./clocks.ts";
import type { Obligation, Rules } from "./obligation.ts";
import { readRules, STANDARD_RULES } from "./overrides.ts";
import { stateAt } from "./state.ts";

type Duties = Readonly<Record<string, Obligation>>;

const dutiesBy = (rules: Rules, ...facts: readonly Fact[]): Duties =>
  Object.fromEntries(obligationsOf(caseOf(facts), rules).map((duty) => [duty.rule, duty]));

const duties = (...facts: readonly Fact[]): Duties => dutiesBy(STANDARD_RULES, ...facts);

const rulesOf = (overrides: object): Rules => {
  const read = readRules(JSON.stringify(overrides));
  if (read.kind !== "rules") throw new Error(read.errors.join());
  return read.rules;
};

const DENIED = { outcome: "denied" };

const dayOf = (duty: Obligation | undefined): string | undefined => duty?.dueAt.slice(0, "2026-11-20".length);

describe("the first day of a law is counted in the law's own zone", () => {
  const names = (law: string) => ({ legal_bases: [law] });
  test.each([
    ["EU73-GEN", "incident.detected", "2026-08-01T22:30:00Z", {}, "eu_ai_act_art_73", true],
    ["EU73-GEN", "incident.detected", "2026-08-01T21:59:59Z", {}, "eu_ai_act_art_73", false],
    ["EU26-5", "incident.detected", "2027-12-01T23:00:00Z", { role: "deployer" }, "eu_ai_act_art_26", true],
    ["EU26-5", "incident.detected", "2026-11-20T10:00:00Z", { role: "deployer" }, "eu_ai_act_art_26", false],
    ["PIPA-REVIEW", "objection.received", "2024-03-14T15:00:00Z", {}, "pipa_37_2_kr", true],
    ["PIPA-REVIEW", "objection.received", "2024-03-14T14:59:59Z", {}, "pipa_37_2_kr", false],
    ["GDPR-12-3", "objection.received", "2018-05-24T22:00:00Z", {}, "gdpr_art_22", true],
    ["GDPR-12-3", "objection.received", "2018-05-24T21:59:59Z", {}, "gdpr_art_22", false],
    ["CIA-EXPL", "objection.received", "2020-08-04T15:00:00Z", {}, "credit_info_36_2_kr", true],
    ["CIA-EXPL", "objection.received", "2015-08-05T00:00:00Z", {}, "credit_info_36_2_kr", false],
    [
      "CO-ADVERSE",
      "decision.automated_decision_made",
      "2027-01-01T07:00:00Z",
      DENIED,
      "colorado_sb26_189",
      true,
    ],
    [
      "CO-ADVERSE",
      "decision.automated_decision_made",
      "2027-01-01T05:00:00Z",
      DENIED,
      "colorado_sb26_189",
      false,
    ],
    ["LL144-NOTICE", "decision.automated_decision_made", "2023-07-05T04:00:00Z", {}, "nyc_ll144", true],
    ["LL144-NOTICE", "decision.automated_decision_made", "2023-07-05T02:00:00Z", {}, "nyc_ll144", false],
  ])("%s: %s at %s", (deadline, type, at, metadata, law, applies) => {
    expect(duties(fact(`e ${type} ${at}`, metadata, names(law)))[deadline] !== undefined).toBe(applies);
  });

  test.each([
    ["2023-07-05T02:00:00Z", false],
    ["2023-07-05T04:00:00Z", true],
  ])("a bias audit is required or not for a decision of %s", (at, isNeeded) => {
    const made = fact(`d decision.automated_decision_made ${at}`, {}, names("nyc_ll144"));
    expect(caseOf([made]).decisions.map(needsBiasAudit)).toEqual([isNeeded]);
  });
});

describe("an extension", () => {
  const received = (type: string, law: string) =>
    fact(
      "o objection.received 2026-01-10T09:00:00Z",
      { objection_id: "o1", objection_type: type },
      { legal_bases: [law] },
    );
  const extended = (days: number) =>
    fact("x objection.acknowledged 2026-01-20T09:00:00Z", {
      objection_id: "o1",
      extension_days: days,
      reason: "many",
    });

  // Ten business days after Saturday, 10 January, is Friday, 23 January.
  test.each([
    ["GDPR-12-3", "appeal", "gdpr_art_22", { count: 30, unit: "days" }, 60, "2026-04-09"],
    ["PIPA-EXPL", "explanation_request", "pipa_37_2_kr", { count: 1, unit: "months" }, 30, "2026-03-12"],
    [
      "PIPA-EXPL",
      "explanation_request",
      "pipa_37_2_kr",
      { count: 10, unit: "business_days" },
      30,
      "2026-02-22",
    ],
  ])("of %s has its own unit, not that of the operator's limit", (id, type, law, limit, days, due) => {
    const rules = rulesOf({ rules: { [id]: { limit } } });
    expect(dayOf(dutiesBy(rules, received(type, law), extended(days))[id])).toBe(due);
  });

  test("is as long as announced, but no longer than the law allows", () => {
    const gdpr = (days: number) =>
      dayOf(duties(received("appeal", "gdpr_art_22"), extended(days))["GDPR-12-3"]);
    expect([gdpr(5), gdpr(1000)]).toEqual(["2026-02-15", "2026-04-10"]);
  });

  test("of half a day does not count", () => {
    const found = duties(received("explanation_request", "pipa_37_2_kr"), extended(0.5))["PIPA-EXPL"];
    expect(found).toMatchObject({ extensions: 0, dueAt: "2026-02-09T14:59:59" });
  });

  test("that is announced after the answer extends nothing, but one announced with the answer does", () => {
    const asked = received("explanation_request", "pipa_37_2_kr");
    const answered = (at: string) =>
      fact(
        `e decision.explanation_provided ${at}`,
        { objection_id: "o1" },
        { legal_bases: ["pipa_37_2_kr"] },
      );
    const found = (at: string) => duties(asked, answered(at), extended(30))["PIPA-EXPL"];
    const status = "met";
    expect(found("2026-01-19T09:00:00Z")).toMatchObject({
      status,
      extensions: 0,
      dueAt: "2026-02-09T14:59:59",
    });
    expect(found("2026-01-20T09:00:00Z")).toMatchObject({
      status,
      extensions: 1,
      dueAt: "2026-03-11T14:59:59",
    });
  });

  test("needs a reason of its own, which is not the reason of a denial", () => {
    const denied = (said: Metadata = {}) =>
      fact("r objection.resolved 2026-01-15T09:00:00Z", {
        objection_id: "o1",
        resolution: "denied",
        ...said,
      });
    const found = (said: Metadata) =>
      duties(received("appeal", "pipa_37_2_kr"), denied(said), extended(30))["PIPA-DENY"];
    expect(found({})).toMatchObject({ status: "open" });
    expect(found({ reason: "no", extension_days: 30 })).toMatchObject({
      status: "met",
      stoppedBy: { id: "r" },
    });
  });
});

describe("a notice before the use, with another limit and a clock change on its last day", () => {
  const rules = rulesOf({ rules: { "LL144-NOTICE": { limit: { count: 14, unit: "days" } } } });
  const law = { legal_bases: ["nyc_ll144"] };
  const used = (at: string) =>
    dutiesBy(
      rules,
      fact("n transparency.notice_shown 2026-02-22T15:00:00Z", { decision_id: "d1" }, law),
      fact(`d decision.automated_decision_made ${at}`, { decision_id: "d1" }, law),
    )["LL144-NOTICE"];

  test("the day begins when it begins in its zone", () => {
    expect(used("2026-03-20T15:00:00Z")).toMatchObject({ status: "met", dueAt: "2026-03-08T05:00:00" });
    expect(used("2026-03-08T04:30:00Z")?.status).toBe("breached");
  });
});

describe("repeated events", () => {
  const received = (type: string) =>
    fact("o objection.received 2026-09-02T10:00:00Z", { objection_id: "o1", objection_type: type });
  const resolved = (id: string, at: string, says: Metadata) =>
    fact(`${id} objection.resolved ${at}`, { objection_id: "o1", ...says });
  const refused = resolved("r1", "2026-09-05T10:00:00Z", { resolution: "denied", reason: "no" });
  const refusedSilently = resolved("r1", "2026-09-05T10:00:00Z", { resolution: "denied" });
  const upheldLate = resolved("r2", "2026-11-20T10:00:00Z", { resolution: "upheld" });

  test("the first answer stops a clock, whatever later resolutions say", () => {
    const review = duties(received("appeal"), refused, upheldLate)["PIPA-REVIEW"];
    expect(review).toMatchObject({ status: "met", stoppedBy: { id: "r1" } });
    expect(duties(received("explanation_request"), refused, upheldLate)["PIPA-EXPL"]?.status).toBe("met");
  });

  test("a law that the denial names removes neither the duty to give a reason nor the duty to answer", () => {
    const refused = fact(
      "r objection.resolved 2026-09-20T10:00:00Z",
      { objection_id: "o", resolution: "denied" },
      { legal_bases: ["eu_ai_act_art_73"] },
    );
    const asked = fact("o objection.received 2026-09-10T10:00:00Z", { objection_id: "o" });
    const lawsOf = (...facts: readonly Fact[]) => Object.keys(duties(...facts));
    expect(lawsOf(asked, refused)).toEqual(expect.arrayContaining(["PIPA-REVIEW", "PIPA-DENY"]));
    expect(lawsOf(refused)).not.toContain("PIPA-DENY");
  });

  test("a denial without a reason still requires one after a second denial or after the objection is upheld", () => {
    const again = resolved("r2", "2026-10-05T10:00:00Z", { resolution: "denied", reason: "no" });
    const denial = duties(received("appeal"), refusedSilently, again)["PIPA-DENY"];
    expect(denial).toMatchObject({ status: "met_late", startedBy: { id: "r1" } });
    expect(duties(received("appeal"), refusedSilently, upheldLate)["PIPA-DENY"]).toBeDefined();
  });

  test.each(["objection.received", "decision.human_review_triggered", "decision.explanation_provided"])(
    "the reason in %s is not the reason of a denial",
    (type) => {
      const later = fact(`l ${type} 2026-09-05T11:00:00Z`, { objection_id: "o1", reason: "its own" });
      expect(duties(received("appeal"), refusedSilently, later)["PIPA-DENY"]?.status).toBe("open");
    },
  );

  test("an acknowledgement before the objection does not hide one after it", () => {
    const early = fact("a objection.acknowledged 2026-09-02T09:59:59Z", { objection_id: "o1" });
    const after = fact("b objection.acknowledged 2026-09-02T11:00:00Z", { objection_id: "o1" });
    const found = duties(received("appeal"), early, after)["OBJ-ACK"];
    expect(found).toMatchObject({ status: "met", stoppedBy: { id: "b" } });
  });

  test("an explanation that names another objection does not answer this one", () => {
    const about = (id: string, objection: string, type: string, day: number) =>
      fact(`${id} ${type} 2026-09-0${day}T10:00:00Z`, {
        decision_id: "d1",
        objection_id: objection,
        objection_type: "explanation_request",
      });
    const facts = [
      fact("d decision.automated_decision_made 2026-09-01T10:00:00Z", { decision_id: "d1" }),
      about("a", "A", "objection.received", 2),
      about("b", "B", "objection.received", 3),
      about("e", "A", "decision.explanation_provided", 4),
    ];
    const found = obligationsOf(caseOf(facts), STANDARD_RULES).filter(({ rule }) => rule === "PIPA-EXPL");
    expect(found.map(({ startedBy, status }) => [startedBy.id, status])).toEqual([
      ["a", "met"],
      ["b", "open"],
    ]);
  });

  test.each([
    ["1", "2"],
    ["2", "1"],
  ])(
    "a review that is triggered and completed at the same time is closed, whatever the ids are (%s, %s)",
    (one, other) => {
      const about = { decision_id: "d1" };
      const triggered = fact(`${one} decision.human_review_triggered 2026-09-02T10:00:00Z`, about);
      const completed = fact(`${other} decision.human_review_completed 2026-09-02T10:00:00Z`, about);
      expect(
        duties(...[triggered, completed].sort((a, b) => (a.id < b.id ? -1 : 1)))["HR-CLOSE"]?.status,
      ).toBe("met");
    },
  );

  test("an incident whose class is learned later has the limit of that class", () => {
    const detected = fact("i incident.detected 2026-09-01T10:00:00Z", { incident_id: "i1" });
    const said = { incident_id: "i1", incident_class: "death" };
    const reported = fact("j incident.reported_to_authority 2026-09-20T10:00:00Z", said);
    const found = duties(detected, reported);
    expect(found["EU73-GEN"]).toBeUndefined();
    expect(found["EU73-DEATH"]).toMatchObject({ status: "met_late", dueAt: "2026-09-11T21:59:59" });
  });

  test("an incident that turns out to be worse has the shorter limit, from when the incident was known", () => {
    const of = (line: string, incident_class: string) => fact(line, { incident_id: "i1", incident_class });
    const detected = of("i incident.detected 2026-09-01T10:00:00Z", "property");
    const worse = of("j incident.detected 2026-09-04T10:00:00Z", "death");
    expect(duties(detected, worse)).toEqual({
      "EU73-DEATH": expect.objectContaining({ status: "open", dueAt: "2026-09-11T21:59:59" }),
    });
    const report = fact("r incident.reported_to_authority 2026-09-14T10:00:00Z", { incident_id: "i1" });
    expect(duties(detected, worse, report)["EU73-DEATH"]?.status).toBe("met_late");
    // Reported in time for what was known then.
    const after = of("m incident.mitigated 2026-09-15T10:00:00Z", "death");
    const ofNoClass = fact("i incident.detected 2026-09-01T10:00:00Z", { incident_id: "i1" });
    for (const first of [detected, ofNoClass])
      expect(duties(first, report, after)).toEqual({
        "EU73-GEN": expect.objectContaining({ status: "met" }),
      });
  });
});

describe("an answer counts from the time of the request, and the first of two answers counts", () => {
  const about = { decision_id: "d1", objection_id: "o1" };
  const asked = (objection_type: string) =>
    fact("o objection.received 2026-09-02T10:00:00Z", { ...about, objection_type });
  const says = (id: string, type: string, at: string, metadata: Metadata = {}) =>
    fact(`${id} ${type} ${at}`, { ...about, ...metadata });
  const denied = { resolution: "denied", reason: "no" };
  const explained = (at: string) => says("e", "decision.explanation_provided", at);
  const resolved = (at: string, metadata: Metadata = { resolution: "upheld" }) =>
    says("r", "objection.resolved", at, metadata);

  test("an answer at the time of the request counts", () => {
    const found = duties(asked("explanation_request"), explained("2026-09-02T10:00:00Z"));
    expect(found["PIPA-EXPL"]).toMatchObject({ status: "met", stoppedBy: { id: "e" } });
    const refused = duties(asked("explanation_request"), resolved("2026-09-02T10:00:00Z", denied));
    expect(refused["PIPA-EXPL"]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
  });

  test("a late denial does not undo an explanation in time, and a late explanation does not undo a denial in time", () => {
    const [inTime, tooLate] = ["2026-09-10T10:00:00Z", "2026-12-01T10:00:00Z"];
    const first = duties(asked("explanation_request"), explained(inTime), resolved(tooLate, denied));
    expect(first["PIPA-EXPL"]).toMatchObject({ status: "met", stoppedBy: { id: "e" } });
    const second = duties(asked("explanation_request"), resolved(inTime, denied), explained(tooLate));
    expect(second["PIPA-EXPL"]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
  });

  test("a refusal of automation is answered when the decision is taken again, not by what was said before", () => {
    const reversed = says("v", "decision.decision_reversed", "2026-12-01T10:00:00Z");
    const found = duties(asked("automated_decision_refusal"), resolved("2026-09-10T10:00:00Z"), reversed);
    expect(found["PIPA-REFUSE"]).toMatchObject({ status: "met_late", stoppedBy: { id: "v" } });
  });

  test.each([
    ["explanation_request", "PIPA-EXPL"],
    ["automated_decision_refusal", "PIPA-REFUSE"],
    ["appeal", "PIPA-REVIEW"],
  ])("nothing is owed any more to who withdraws what was asked for by %s", (type, deadline) => {
    const found = duties(asked(type), resolved("2026-09-10T10:00:00Z", { resolution: "Withdrawn" }));
    expect(found[deadline]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
    expect(found).not.toHaveProperty("PIPA-DENY");
  });

  test("a denial with its reason answers a refusal of automation", () => {
    const found = duties(asked("automated_decision_refusal"), resolved("2026-09-10T10:00:00Z", denied));
    expect(found["PIPA-REFUSE"]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
  });

  test("a resolution makes an acknowledgement, and an explanation under the credit law, unnecessary", () => {
    const credit = fact(
      "o objection.received 2026-09-02T10:00:00Z",
      { ...about, objection_type: "appeal" },
      { legal_bases: ["credit_info_36_2_kr"] },
    );
    const found = duties(credit, resolved("2026-09-03T10:00:00Z"));
    expect(found["OBJ-ACK"]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
    expect(found["CIA-EXPL"]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
  });

  test("a denial needs a reason even if the objection was never received", () => {
    const found = duties(resolved("2026-09-10T10:00:00Z", { resolution: "denied" }));
    expect(found["PIPA-DENY"]).toMatchObject({ status: "open", startedBy: { id: "r" } });
  });

  test("an extension too long for any calendar is as long as the law allows", () => {
    const told = says("x", "objection.acknowledged", "2026-09-10T10:00:00Z", {
      extension_days: 1e15,
      reason: "many",
    });
    expect(duties(asked("explanation_request"), told)["PIPA-EXPL"]).toMatchObject({
      dueAt: "2026-11-01T14:59:59",
      extensions: 1,
    });
  });

  test("an explanation before an adverse decision does not explain it", () => {
    const made = fact(
      "d decision.automated_decision_made 2027-02-01T12:00:00Z",
      { decision_id: "d1", outcome: "declined" },
      { legal_bases: ["colorado_sb26_189"] },
    );
    const before = explained("2027-01-31T12:00:00Z");
    expect(duties(before, made)["CO-ADVERSE"]).toMatchObject({ status: "open", startedBy: { id: "d" } });
  });

  test("a report before the awareness counts unless one in time follows", () => {
    const detected = fact("i incident.detected 2026-09-10T10:00:00Z", { incident_id: "i1" });
    const report = (id: string, at: string) =>
      fact(`${id} incident.reported_to_authority ${at}`, { incident_id: "i1" });
    const early = report("p", "2026-09-09T10:00:00Z");
    expect(duties(detected, early)["EU73-GEN"]).toMatchObject({ status: "met", stoppedBy: { id: "p" } });
    const after = report("q", "2026-09-11T10:00:00Z");
    expect(duties(detected, early, after)["EU73-GEN"]).toMatchObject({ stoppedBy: { id: "q" } });
  });

  test("a refusal that was answered in time stays answered when it is resolved again", () => {
    const resolved = (id: string, at: string) =>
      fact(`${id} objection.resolved ${at}`, { ...about, resolution: "upheld" });
    const undone = fact("u decision.decision_reversed 2026-09-05T10:00:00Z", about);
    const once = [asked("automated_decision_refusal"), resolved("r", "2026-09-04T10:00:00Z"), undone];
    expect(duties(...once)["PIPA-REFUSE"]).toMatchObject({ status: "met", stoppedBy: { id: "u" } });
    const again = duties(...once, resolved("s", "2026-11-20T10:00:00Z"));
    expect(again["PIPA-REFUSE"]).toMatchObject({ status: "met", stoppedBy: { id: "u" } });
    // After a denial, the person learns the result only then.
    const denied = fact("n objection.resolved 2026-09-04T10:00:00Z", { ...about, resolution: "denied" });
    const unheard = [asked("automated_decision_refusal"), denied, undone];
    expect(duties(...unheard)["PIPA-REFUSE"]).toMatchObject({ status: "open", stoppedBy: undefined });
    const heard = [...unheard, resolved("s", "2026-11-20T10:00:00Z")];
    expect(duties(...heard)["PIPA-REFUSE"]).toMatchObject({ status: "met_late", stoppedBy: { id: "s" } });
  });

  test("a late report does not undo a report in time, even if the clocks of both senders differ a little", () => {
    const report = (id: string, at: string, report_type: string) =>
      fact(`${id} incident.reported_to_authority ${at}`, { incident_id: "i1", report_type });
    const found = duties(
      report("p", "2026-09-10T09:59:58Z", "initial"),
      fact("i incident.detected 2026-09-10T10:00:00Z", { incident_id: "i1" }),
      report("q", "2026-10-10T10:00:00Z", "complete"),
    );
    expect(found["EU73-GEN"]).toMatchObject({ status: "met", stoppedBy: { id: "p" } });
  });

  test("a report before an awareness that is stated later meets the duty, however late the next report is", () => {
    const about = { incident_id: "i1" };
    const found = duties(
      fact("i incident.detected 2026-09-01T10:00:00Z", about),
      fact("p incident.reported_to_authority 2026-09-05T10:00:00Z", { ...about, report_type: "initial" }),
      fact("q incident.reported_to_authority 2026-11-01T10:00:00Z", {
        ...about,
        aware_at: "2026-09-10T10:00:00Z",
      }),
    );
    expect(found["EU73-GEN"]).toMatchObject({
      status: "met",
      stoppedBy: { id: "p" },
      dueAt: "2026-09-25T21:59:59",
    });
  });

  test("a deployer who informed only the authority has not informed the provider", () => {
    const about = { incident_id: "i1", role: "deployer" };
    const found = duties(
      fact("i incident.detected 2028-03-10T10:00:00Z", about),
      fact("m incident.mitigated 2028-03-10T11:00:00Z", { incident_id: "i1", notified: "authority" }),
    );
    expect(found["EU26-5"]?.status).toBe("open");
  });
});

describe("a law applies if any event of the case names it", () => {
  test("even if another event of the case names another law", () => {
    const about = { decision_id: "d1" };
    const made = fact("d decision.automated_decision_made 2026-09-01T10:00:00Z", about, {
      legal_bases: ["gdpr_art_22"],
    });
    const objected = fact(
      "o objection.received 2026-09-02T10:00:00Z",
      { ...about, objection_id: "o1" },
      {
        legal_bases: ["pipa_37_2_kr"],
      },
    );
    const found = duties(made, objected);
    expect([found["GDPR-12-3"]?.status, found["PIPA-REVIEW"]?.status]).toEqual(["open", "open"]);
  });
});

describe("the notice before the use", () => {
  const law = { legal_bases: ["nyc_ll144"] };
  const about = { decision_id: "d1" };
  const used = (at: string, asset_id: string) =>
    fact(`d decision.automated_decision_made ${at}`, about, { ...law, asset_id });
  const notice = fact("n transparency.notice_shown 2026-11-02T15:00:00Z", about, { asset_id: "portal" });

  test("is a duty of the tool that was used, from the first second of the first allowed day", () => {
    const first = duties(notice, used("2026-11-16T05:00:00Z", "scorer"))["LL144-NOTICE"];
    expect(first).toMatchObject({ status: "met", dueAt: "2026-11-16T05:00:00", asset: "scorer" });
    const early = duties(notice, used("2026-11-16T04:59:59Z", "scorer"))["LL144-NOTICE"];
    expect(early).toMatchObject({ status: "breached", dueAt: "2026-11-16T04:59:59", asset: "scorer" });
  });

  test("counts even at the time of the use", () => {
    const found = duties(
      fact("n transparency.notice_shown 2026-11-16T15:00:00Z", about),
      used("2026-11-16T15:00:00Z", "a"),
    )["LL144-NOTICE"];
    expect(found?.startedBy.id).toBe("n");
  });

  test("has a row from the notice on, which says from when on the tool may be used, and keeps its id", () => {
    const told = fact("n transparency.notice_shown 2026-11-02T15:00:00Z", about, law);
    const earliest = { id: "LL144-NOTICE:n", earliestDecisionAt: "2026-11-16T05:00:00" };
    const waiting = duties(told)["LL144-NOTICE"];
    expect(waiting).toMatchObject({ ...earliest, status: "waiting", decisionId: "d1", stoppedBy: undefined });
    // Nothing falls due until there is a decision.
    for (const now of ["2026-11-02T15:00:00", "2026-11-16T04:59:59", "2027-11-16T05:00:00"])
      expect(waiting && stateAt(waiting, now)).toBe("open");
    expect(duties(told, used("2026-11-16T05:00:00Z", "a"))["LL144-NOTICE"]).toMatchObject({
      ...earliest,
      status: "met",
    });
    expect(duties(told, used("2026-11-16T04:59:59Z", "a"))["LL144-NOTICE"]).toMatchObject({
      ...earliest,
      status: "breached",
    });
  });

  test("has a row from the notice on also where only its correlation is known, and none where neither is", () => {
    const shown = (names: Metadata) => {
      const told = (id: string, day: number) =>
        fact(`${id} transparency.notice_shown 2026-11-0${day}T15:00:00Z`, {}, { ...law, ...names });
      const found = obligationsOf(caseOf([told("n", 2), told("again", 3)]), STANDARD_RULES);
      return found.map(({ id, status }) => [id, status]);
    };
    // The first one counts.
    expect(shown({ correlation_id: "c" })).toEqual([["LL144-NOTICE:n", "waiting"]]);
    expect(shown({ subject_hash: `sha256:${"a".repeat(64)}` })).toEqual([]);
  });

  test("under a correlation of several decisions is linked to none of them, and waits for none", () => {
    const of = { ...law, correlation_id: "c" };
    const made = (id: string, day: number) =>
      fact(`${id} decision.automated_decision_made 2026-11-${day}T15:00:00Z`, { decision_id: id }, of);
    const found = obligationsOf(
      caseOf([
        fact("n transparency.notice_shown 2026-11-02T15:00:00Z", {}, of),
        made("b", 18),
        made("a", 17),
      ]),
      STANDARD_RULES,
    );
    expect(found.map(({ id, status }) => [id, status])).toEqual([
      ["LL144-NOTICE:a", "breached"],
      ["LL144-NOTICE:b", "breached"],
    ]);
  });

  test("that names nothing stands in a case of its own, so the obligation is named by the decision of its person", () => {
    const members = { ...law, subject_hash: `sha256:${"a".repeat(64)}` };
    const told = fact("n transparency.notice_shown 2026-11-02T15:00:00Z", {}, members);
    const borrowed: Fact = { ...told, links: { decision: "d1" }, bySubject: true };
    const made = fact("d decision.automated_decision_made 2026-11-17T15:00:00Z", about, members);
    expect(duties(borrowed, made)["LL144-NOTICE"]).toMatchObject({
      id: "LL144-NOTICE:d",
      status: "met",
      startedBy: { id: "n" },
    });
    expect(duties(told)).toEqual({});
  });

  test("without a notice before the use is breached, whatever is shown later", () => {
    const late = fact("n transparency.notice_shown 2026-11-17T15:00:00Z", about, law);
    expect(duties(used("2026-11-16T15:00:00Z", "a"), late)["LL144-NOTICE"]).toMatchObject({
      id: "LL144-NOTICE:d",
      status: "breached",
      earliestDecisionAt: undefined,
    });
  });
});

describe("an obligation that was met in time by an event that the log received late", () => {
  const received = fact(
    "o objection.received 2026-10-23T10:00:00Z",
    { objection_id: "o1" },
    {
      legal_bases: ["gdpr_art_22"],
    },
  );
  /** Due on 23 November, at the end of the day in Brussels. */
  const DUE = "2026-11-23T22:59:59";
  const answered = (at: string, recorded: string): Fact => ({
    ...fact(`r objection.resolved ${at}`, { objection_id: "o1" }),
    recorded,
  });
  const late = (at: string, recorded: string, rules = STANDARD_RULES) =>
    dutiesBy(rules, received, answered(at, recorded))["GDPR-12-3"];

  test("is recorded late, more than a day after it fell due", () => {
    expect(late("2026-10-23T11:00:00Z", "2026-11-28T10:00:00")).toMatchObject({
      dueAt: DUE,
      status: "met",
      isRecordedLate: true,
    });
    expect(late("2026-10-23T11:00:00Z", "2026-11-24T22:59:59.001")?.isRecordedLate).toBe(true);
    expect(late("2026-10-23T11:00:00Z", "2026-11-24T22:59:59")?.isRecordedLate).toBe(false);
    expect(late("2026-10-23T11:00:00Z", "2026-10-23T11:00:00")?.isRecordedLate).toBe(false);
  });

  test("the operator says how long a delay is usual", () => {
    const rules = { ...STANDARD_RULES, lateRecordGraceMs: 60_000 };
    expect(late("2026-10-23T11:00:00Z", "2026-11-23T23:01:00", rules)?.isRecordedLate).toBe(true);
    expect(late("2026-10-23T11:00:00Z", "2026-11-23T23:00:00", rules)?.isRecordedLate).toBe(false);
  });

  test("one that was met late is late already", () => {
    expect(late("2026-11-27T11:00:00Z", "2026-11-28T10:00:00")).toMatchObject({
      status: "met_late",
      isRecordedLate: false,
    });
  });

  test("of a notice before the use it is the notice that may come late", () => {
    const law = { legal_bases: ["nyc_ll144"] };
    const told = (recorded: string): Fact => ({
      ...fact("n transparency.notice_shown 2026-10-01T15:00:00Z", { decision_id: "d1" }, law),
      recorded,
    });
    const made: Fact = {
      ...fact("d decision.automated_decision_made 2026-11-16T15:00:00Z", { decision_id: "d1" }, law),
      recorded: "2026-12-01T00:00:00",
    };
    const found = (recorded: string) => duties(told(recorded), made)["LL144-NOTICE"];
    expect(found("2026-10-01T15:00:01")).toMatchObject({ status: "met", isRecordedLate: false });
    expect(found("2026-11-28T10:00:00")).toMatchObject({ status: "met", isRecordedLate: true });
  });
});

describe("a waiver", () => {
  const made = fact(
    "d decision.automated_decision_made 2026-11-16T15:00:00Z",
    { decision_id: "d1" },
    {
      legal_bases: ["nyc_ll144"],
    },
  );
  const said = (type: string, day: number, obligation_id = "LL144-NOTICE:d"): Fact => ({
    ...fact(`w${day} system.obligation_${type} 2026-11-${day}T00:00:00Z`),
    sequence: day,
    says: { obligation_id, actor: "key_1", reason: "The tool was on trial" },
  });
  const by = (...waiving: readonly Fact[]) => obligationsOf(caseOf([made]), STANDARD_RULES, waiving)[0];

  test("stands until it is taken back, and says who, why and when", () => {
    const waiver = { at: "2026-11-18T00:00:00", by: "key_1", reason: "The tool was on trial" };
    expect(by(said("waived", 18))).toMatchObject({ status: "waived", waiver });
    expect(by(said("unwaived", 19), said("waived", 18))).toMatchObject({ status: "breached" });
    expect(by(said("waived", 20), said("unwaived", 19), said("waived", 18))?.waiver?.at).toBe(
      "2026-11-20T00:00:00",
    );
    expect(by(said("waived", 18, "HR-CLOSE:d"))).toMatchObject({ status: "breached", waiver: undefined });
  });

  test("does not hide that the obligation was met", () => {
    const reviews = [
      fact("t decision.human_review_triggered 2026-11-16T15:00:00Z", { decision_id: "d1" }),
      fact("c decision.human_review_completed 2026-11-17T15:00:00Z", { decision_id: "d1" }),
    ];
    const found = obligationsOf(caseOf(reviews), STANDARD_RULES, [said("waived", 18, "HR-CLOSE:t")]);
    expect(found).toMatchObject([{ status: "met", waiver: { by: "key_1" } }]);
  });
});

describe("if no decision is in the log", () => {
  const of = { correlation_id: "c" };
  const received = (type: string) =>
    fact("o objection.received 2027-01-01T00:00:00Z", { objection_type: type }, of);

  test("an explanation in the same case answers a request for one", () => {
    const explained = fact("e decision.explanation_provided 2027-01-05T00:00:00Z", {}, of);
    expect(duties(received("explanation_request"), explained)["PIPA-EXPL"]?.status).toBe("met");
  });

  test("an event that names a decision answers only for that decision", () => {
    const explained = (decision_id: string) =>
      fact(`${decision_id} decision.explanation_provided 2027-01-05T00:00:00Z`, { decision_id }, of);
    const found = duties(received("explanation_request"), explained("d1"), explained("d2"));
    expect(found["PIPA-EXPL"]).toMatchObject({ status: "open", decisionId: undefined });
    const reviewed = (decision_id: string) =>
      fact(`${decision_id} decision.human_review_completed 2027-01-05T00:00:00Z`, { decision_id }, of);
    const told = fact("v objection.resolved 2027-01-06T00:00:00Z", { resolution: "upheld" }, of);
    const refused = duties(received("automated_decision_refusal"), reviewed("d1"), reviewed("d2"), told);
    expect(refused["PIPA-REFUSE"]).toMatchObject({ status: "open", decisionId: undefined });
  });

  test.each(["decision.decision_reversed", "decision.human_review_completed"])(
    "%s that names another objection answers only for that objection",
    (type) => {
      const refused = (objection_id: string) =>
        fact(
          `${objection_id} objection.received 2027-01-01T00:00:00Z`,
          { objection_id, objection_type: "automated_decision_refusal" },
          of,
        );
      const redone = (metadata: Metadata) => fact(`v ${type} 2027-01-03T00:00:00Z`, metadata, of);
      const told = (objection_id: string) =>
        fact(`r${objection_id} objection.resolved 2027-01-04T00:00:00Z`, { objection_id }, of);
      const statuses = (...facts: readonly Fact[]) =>
        obligationsOf(
          caseOf([refused("o1"), refused("o2"), told("o1"), told("o2"), ...facts]),
          STANDARD_RULES,
        )
          .filter(({ rule }) => rule === "PIPA-REFUSE")
          .map(({ objectionId, status }) => [objectionId, status]);
      const answeredAlone = [
        ["o1", "open"],
        ["o2", "met"],
      ];
      expect(statuses(redone({ objection_id: "o2" }))).toEqual(answeredAlone);
      // What names neither answers none of several, whatever triggered it.
      const triggered = fact(
        "t decision.human_review_triggered 2027-01-02T00:00:00Z",
        { objection_id: "o2" },
        of,
      );
      expect(statuses(triggered, redone({}))).toEqual(answeredAlone.map(([id]) => [id, "open"]));
    },
  );

  const [ANN, BEN] = ["a", "b"].map((digit) => ({ ...of, subject_hash: `sha256:${digit.repeat(64)}` }));
  const asked = (id: string, day: number, type: string, whom = {}) =>
    fact(`${id} objection.received 2027-01-0${day}T00:00:00Z`, { objection_type: type }, whom);
  const answeredIn = (rule: string, ...facts: readonly Fact[]) =>
    obligationsOf(caseOf(facts), STANDARD_RULES)
      .filter((duty) => duty.rule === rule && duty.stoppedBy !== undefined)
      .map(({ objectionId }) => objectionId);

  test("a law that an answer names has its clock too", () => {
    const explained = fact(
      "e decision.explanation_provided 2027-01-05T00:00:00Z",
      {},
      { ...of, legal_bases: ["gdpr_art_22"] },
    );
    expect(duties(received("appeal"), explained)).toHaveProperty("GDPR-12-3");
  });

  test.each([
    ["decision.explanation_provided", "explanation_request", "PIPA-EXPL"],
    ["decision.decision_reversed", "automated_decision_refusal", "PIPA-REFUSE"],
    ["decision.human_review_completed", "automated_decision_refusal", "PIPA-REFUSE"],
  ])("%s answers none of several objections in a correlation unless it names one", (type, asks, deadline) => {
    const told = ["oa", "ob"].map((objection_id) =>
      fact(
        `r${objection_id} objection.resolved 2027-01-06T00:00:00Z`,
        { objection_id, resolution: "upheld" },
        of,
      ),
    );
    const answer = (says: Metadata, whom: Metadata = of) =>
      fact(`v ${type} 2027-01-05T00:00:00Z`, says, whom);
    const both = [asked("oa", 1, asks, ANN), asked("ob", 2, asks, BEN), ...told];
    const answered = (...facts: readonly Fact[]) => answeredIn(deadline, ...facts);
    expect(answered(...both, answer({}))).toEqual([]);
    expect(answered(...both, answer({}, ANN))).toEqual([]);
    expect(answered(...both, answer({ objection_id: "oa" }))).toEqual(["oa"]);
    // Under a correlation with a single objection the answer needs no name.
    expect(answered(asked("ob", 2, asks, BEN), ...told.slice(1), answer({}))).toEqual(["ob"]);
  });

  test("a review in the same case together with a resolution meets a refusal of automation", () => {
    const found = duties(
      received("automated_decision_refusal"),
      fact("t decision.human_review_triggered 2027-01-02T00:00:00Z", {}, of),
      fact("u decision.human_review_completed 2027-01-03T00:00:00Z", {}, of),
      fact("v objection.resolved 2027-01-05T00:00:00Z", { resolution: "upheld" }, of),
    );
    expect(found["PIPA-REFUSE"]).toMatchObject({ status: "met", stoppedBy: { id: "v" } });
  });
});

describe("times at the edge", () => {
  const triggered = (at: string) => fact(`t decision.human_review_triggered ${at}`, { decision_id: "d1" });
  const closed = (at: string) => fact(`c decision.human_review_completed ${at}`, { decision_id: "d1" });

  test.each(["2026-12-31T23:59:60Z", "2026-12-31T23:59:59.7Z"])("%s is within the last second", (at) => {
    const found = duties(triggered("2026-12-21T10:00:00Z"), closed(at))["HR-CLOSE"];
    expect(found).toMatchObject({ dueAt: "2026-12-31T23:59:59", status: "met" });
  });

  test("nothing is overdue while it can still be met", () => {
    const open = { status: "open", dueAt: "2026-12-31T23:59:59", extensions: 0 } as const;
    expect(stateAt(open, "2026-12-31T23:59:59.5")).toBe("due_soon");
    expect(stateAt(open, "2027-01-01T00:00:00")).toBe("overdue");
  });

  test.each([
    ["0001-01-01T00:00:00Z", "0001-01-11T23:59:59"],
    ["0000-01-01T00:00:00Z", "0000-01-11T23:59:59"],
    ["9999-12-31T00:00:00Z", "9999-12-31T23:59:59"],
  ])("a limit from %s ends at %s", (at, due) => {
    expect(duties(triggered(at))["HR-CLOSE"]?.dueAt).toBe(due);
  });

  test("the time of awareness may be in any zone", () => {
    const aware = { aware_at: "2026-09-01T19:00:00.5+09:00" };
    const found = duties(fact("i incident.detected 2026-09-10T10:00:00Z", aware))["EU73-GEN"];
    expect(found).toMatchObject({ startedAt: "2026-09-01T10:00:00.5", dueAt: "2026-09-16T21:59:59" });
  });

  test("a report may state the awareness if the detection did not, but never changes one that the detection stated", () => {
    const detected = (metadata: Metadata) =>
      fact("i incident.detected 2026-09-10T10:00:00Z", { incident_id: "i1", ...metadata });
    const reported = fact("r incident.reported_to_authority 2026-09-20T10:00:00Z", {
      incident_id: "i1",
      aware_at: "2026-09-01T08:00:00Z",
    });
    expect(duties(detected({}), reported)["EU73-GEN"]).toMatchObject({
      startedAt: "2026-09-01T08:00:00",
      dueAt: "2026-09-16T21:59:59",
      status: "met_late",
    });
    const said = detected({ aware_at: "2026-09-10T09:00:00Z" });
    expect(duties(said, reported)["EU73-GEN"]).toMatchObject({
      startedAt: "2026-09-10T09:00:00",
      status: "met",
    });
    const unread = detected({ aware_at: "on Thursday" });
    expect(duties(unread, reported)["EU73-GEN"]).toMatchObject({ startedAt: "2026-09-01T08:00:00" });
    // The last report that states a time counts.
    const again = (id: string, aware_at: string) =>
      fact(`${id} incident.reported_to_authority 2026-09-21T10:00:00Z`, { incident_id: "i1", aware_at });
    const reports = [reported, again("s", "2026-09-02T08:00:00Z"), again("t", "on Thursday")];
    expect(duties(detected({}), ...reports)["EU73-GEN"]?.startedAt).toBe("2026-09-02T08:00:00");
  });

  test("awareness in a leap second is accepted in any spelling of UTC", () => {
    const aware = { aware_at: "2026-12-31T23:59:60+00:00" };
    const found = duties(fact("i incident.detected 2027-01-10T10:00:00Z", aware))["EU73-GEN"];
    expect(found?.startedAt).toBe("2026-12-31T23:59:60");
  });

  test("a holiday of the operator is not a business day", () => {
    const received = fact("o objection.received 2026-11-19T12:00:00Z", { objection_id: "o1" });
    const rules = rulesOf({ holidays: ["2026-11-20"] });
    expect(dayOf(dutiesBy(rules, received)["OBJ-ACK"])).toBe("2026-11-25");
  });

  test("a holiday that is not a date is refused", () => {
    expect(readRules('{"holidays":["2026-12-25","2026-02-30"]}')).toEqual({
      kind: "invalid",
      errors: ["/holidays/1: there is no such date"],
    });
  });
});

describe("the laws that apply to a case", () => {
  const made = (legal_bases?: readonly string[]) =>
    fact(
      "d decision.automated_decision_made 2026-09-01T10:00:00Z",
      { decision_id: "d1" },
      legal_bases && { legal_bases },
    );
  const asked = (legal_bases?: readonly string[]) =>
    fact(
      "o objection.received 2026-09-02T10:00:00Z",
      { decision_id: "d1", objection_id: "o1", objection_type: "explanation_request" },
      legal_bases && { legal_bases },
    );
  test.each([
    ["nothing", undefined, undefined, ["PIPA-EXPL"]],
    ["a law without a clock", ["ai_basic_law_kr"], undefined, ["PIPA-EXPL"]],
    ["a law that is unknown here", undefined, ["our_own_rule"], ["PIPA-EXPL"]],
    ["another law in the decision", ["gdpr_art_22"], undefined, ["GDPR-12-3"]],
    ["another law in the request", undefined, ["gdpr_art_22"], ["GDPR-12-3"]],
    ["a law in each of the two events", ["pipa_37_2_kr"], ["gdpr_art_22"], ["GDPR-12-3", "PIPA-EXPL"]],
    ["two laws, one with a clock", undefined, ["ai_basic_law_kr", "gdpr_art_22"], ["GDPR-12-3"]],
  ])("are known if the case names %s", (_, ofDecision, ofRequest, expected) => {
    const found = Object.keys(duties(made(ofDecision), asked(ofRequest)));
    expect(found.filter((id) => id !== "OBJ-ACK").sort()).toEqual(expected);
  });

  test("a law that another event of the case names removes no duty", () => {
    const label = fact(
      "l transparency.result_labeled 2026-12-04T10:00:00Z",
      { decision_id: "d1" },
      { legal_bases: ["eu_ai_act_art_50"] },
    );
    expect(duties(made(), asked(), label)).toHaveProperty("PIPA-EXPL");
    const incident = { incident_class: "death", incident_id: "i1" };
    const detected = fact("i incident.detected 2026-09-01T10:00:00Z", incident);
    const mitigated = fact(
      "m incident.mitigated 2026-12-01T10:00:00Z",
      { incident_id: "i1" },
      { legal_bases: ["pipa_37_2_kr"] },
    );
    expect(duties(detected, mitigated)).toHaveProperty("EU73-DEATH");
  });

  test("words of a vocabulary may be in upper or lower case", () => {
    const named = { decision_id: "d1", objection_id: "o1" };
    const found = duties(
      fact("o objection.received 2026-09-02T10:00:00Z", { ...named, objection_type: "Explanation_Request" }),
      fact("r objection.resolved 2026-09-03T10:00:00Z", { ...named, resolution: "Denied" }),
      fact("i incident.detected 2026-09-01T10:00:00Z", { incident_class: "Death", role: "Deployer" }),
    );
    expect(Object.keys(found).sort()).toEqual(["EU73-DEATH", "OBJ-ACK", "PIPA-DENY", "PIPA-EXPL"]);
  });

  test("the type of an objection may be stated later", () => {
    const found = duties(
      fact("o objection.received 2026-09-02T10:00:00Z", { objection_id: "o1" }),
      fact("k objection.acknowledged 2026-09-03T10:00:00Z", {
        objection_id: "o1",
        objection_type: "explanation_request",
      }),
    );
    expect(Object.keys(found).sort()).toEqual(["OBJ-ACK", "PIPA-EXPL"]);
  });
});

test("a refusal is answered once the first of several reviews is completed and the person is told", () => {
  const review = (line: string, correlation_id: string) => fact(line, {}, { correlation_id });
  const objection = (line: string, correlation_id: string) =>
    fact(line, { objection_id: "o1", objection_type: "automated_decision_refusal" }, { correlation_id });
  const found = duties(
    objection("o objection.received 2026-09-01T10:00:00Z", "c1"),
    objection("p objection.escalated 2026-09-01T11:00:00Z", "c2"),
    review("t1 decision.human_review_triggered 2026-09-02T10:00:00Z", "c1"),
    review("t2 decision.human_review_triggered 2026-09-03T10:00:00Z", "c2"),
    review("e2 decision.human_review_completed 2026-09-05T10:00:00Z", "c2"),
    objection("r objection.resolved 2026-09-08T10:00:00Z", "c1"),
    review("e1 decision.human_review_completed 2026-11-20T10:00:00Z", "c1"),
  );
  expect(found["PIPA-REFUSE"]).toMatchObject({ status: "met", stoppedBy: { id: "r" } });
});

describe("an objection that is received again", () => {
  const about = { objection_id: "o", decision_id: "d" };
  const received = (id: string, at: string, said: Metadata = {}) =>
    fact(`${id} objection.received ${at}`, { ...about, ...said });
  const resolved = (id: string, at: string, said: Metadata = { resolution: "upheld" }) =>
    fact(`${id} objection.resolved ${at}`, { ...about, ...said });
  const REQUEST = { objection_type: "explanation_request" };
  const explained = fact("e decision.explanation_provided 2027-01-20T00:00:00Z", { decision_id: "d" });
  const statuses = (...facts: readonly Fact[]) =>
    Object.fromEntries(obligationsOf(caseOf(facts), STANDARD_RULES).map(({ id, status }) => [id, status]));

  test("after its resolution is open again and has new clocks", () => {
    const facts = [
      received("a", "2027-01-01T00:00:00Z"),
      resolved("ra", "2027-01-05T00:00:00Z"),
      received("b", "2027-02-01T00:00:00Z"),
    ];
    expect(statuses(...facts)).toEqual({
      "PIPA-REVIEW:a": "met",
      "OBJ-ACK:a": "met",
      "PIPA-REVIEW:b": "open",
      "OBJ-ACK:b": "open",
    });
    const [objection] = caseOf(facts).objections;
    expect(objection).toMatchObject({ received: { id: "b" }, resolved: undefined });
    const late = statuses(...facts, resolved("rb", "2027-04-01T00:00:00Z"));
    expect(late).toMatchObject({ "PIPA-REVIEW:a": "met", "PIPA-REVIEW:b": "met_late" });
  });

  test("asks for the same as before, and the earlier answer does not answer it again", () => {
    const facts = [
      received("a", "2027-01-01T00:00:00Z", REQUEST),
      explained,
      resolved("ra", "2027-01-21T00:00:00Z"),
      received("b", "2027-02-01T00:00:00Z"),
    ];
    expect(statuses(...facts)).toMatchObject({ "PIPA-EXPL:a": "met", "PIPA-EXPL:b": "open" });
  });

  test("at the time of its resolution, or for the first time after it, is not open again", () => {
    const facts = [received("a", "2027-01-01T00:00:00Z"), resolved("b", "2027-01-05T00:00:00Z")];
    const inTheMoment = received("c", "2027-01-05T00:00:00Z");
    expect(caseOf([...facts, inTheMoment]).objections).toMatchObject([
      { received: { id: "a" }, resolved: { id: "b" } },
    ]);
    const [early, late] = [resolved("r", "2026-12-31T00:00:00Z"), received("a", "2027-01-01T00:00:00Z")];
    expect(caseOf([early, late]).objections).toMatchObject([
      { received: { id: "a" }, resolved: { id: "r" } },
    ]);
  });

  test("twice after its resolution has only one set of new clocks", () => {
    const facts = [
      received("a", "2027-01-01T00:00:00Z"),
      resolved("ra", "2027-01-05T00:00:00Z"),
      received("b", "2027-02-01T00:00:00Z"),
      received("c", "2027-02-02T00:00:00Z"),
    ];
    expect(Object.keys(statuses(...facts))).toEqual([
      "PIPA-REVIEW:a",
      "OBJ-ACK:a",
      "PIPA-REVIEW:b",
      "OBJ-ACK:b",
    ]);
  });

  test("after a denial without a reason may still get the reason of that denial", () => {
    const facts = [
      received("a", "2027-01-01T00:00:00Z"),
      resolved("ra", "2027-01-05T00:00:00Z", { resolution: "denied" }),
      received("b", "2027-02-01T00:00:00Z"),
    ];
    expect(statuses(...facts)).toMatchObject({ "PIPA-DENY:ra": "open" });
    const told = fact("k objection.acknowledged 2027-02-02T00:00:00Z", { ...about, reason: "why" });
    expect(statuses(...facts, told)).toMatchObject({ "PIPA-DENY:ra": "met_late" });
  });

  describe("after a denial without a reason, for the same as before,", () => {
    test.each([
      ["explanation_request", "PIPA-EXPL", { resolution: "denied", reason: "why" }],
      ["explanation_request", "PIPA-EXPL", { resolution: "withdrawn" }],
      ["automated_decision_refusal", "PIPA-REFUSE", { resolution: "denied", reason: "why" }],
      ["automated_decision_refusal", "PIPA-REFUSE", { resolution: "withdrawn" }],
    ])("is ended both times by what ends it the next time (%s, %s, %j)", (objection_type, deadline, said) => {
      const facts = [
        received("a", "2027-01-01T00:00:00Z", { objection_type }),
        resolved("ra", "2027-01-05T00:00:00Z", { resolution: "denied" }),
        received("b", "2027-01-06T00:00:00Z"),
      ];
      const ended = resolved("rb", "2027-02-02T00:00:00Z", said);
      expect(statuses(...facts)).toMatchObject({ [`${deadline}:a`]: "open", [`${deadline}:b`]: "open" });
      expect(statuses(...facts, ended)).toMatchObject({
        [`${deadline}:a`]: "met_late",
        [`${deadline}:b`]: "met",
      });
    });

    test("is answered both times when the person is told that the decision was reversed", () => {
      const refused = [
        received("a", "2027-01-01T00:00:00Z", { objection_type: "automated_decision_refusal" }),
        resolved("ra", "2027-01-05T00:00:00Z", { resolution: "denied" }),
        received("b", "2027-01-06T00:00:00Z"),
        fact("u decision.decision_reversed 2027-01-07T00:00:00Z", { decision_id: "d" }),
      ];
      expect(statuses(...refused)).toMatchObject({ "PIPA-REFUSE:a": "open", "PIPA-REFUSE:b": "open" });
      const told = resolved("rb", "2027-01-08T00:00:00Z");
      expect(statuses(...refused, told)).toMatchObject({ "PIPA-REFUSE:a": "met", "PIPA-REFUSE:b": "met" });
    });

    test("but not by what ends a request for something else", () => {
      const found = statuses(
        received("a", "2027-01-01T00:00:00Z", REQUEST),
        resolved("ra", "2027-01-05T00:00:00Z", { resolution: "denied" }),
        received("b", "2027-01-06T00:00:00Z", { objection_type: "appeal" }),
        resolved("rb", "2027-01-08T00:00:00Z", { resolution: "denied", reason: "why" }),
      );
      expect(found).toMatchObject({ "PIPA-EXPL:a": "open", "PIPA-REVIEW:b": "met" });
    });
  });

  test("while it is open keeps its clocks", () => {
    const facts = [received("a", "2027-01-01T00:00:00Z"), received("b", "2027-01-02T00:00:00Z")];
    expect(statuses(...facts)).toEqual({ "PIPA-REVIEW:a": "open", "OBJ-ACK:a": "open" });
    const [objection] = caseOf(facts).objections;
    expect(objection).toMatchObject({ received: { id: "a" } });
  });

  test("may be closed by an event that names none, if it is the only one under the correlation", () => {
    const of = { correlation_id: "c" };
    const received = (id: string, at: string) =>
      fact(`${id} objection.received ${at}`, { objection_id: "o" }, of);
    const resolved = (id: string, at: string) => fact(`${id} objection.resolved ${at}`, {}, of);
    const facts = [
      received("a", "2027-01-01T00:00:00Z"),
      resolved("ra", "2027-01-05T00:00:00Z"),
      received("b", "2027-02-01T00:00:00Z"),
      resolved("rb", "2027-02-05T00:00:00Z"),
    ];
    expect(statuses(...facts)).toMatchObject({ "PIPA-REVIEW:b": "met" });
  });
});
