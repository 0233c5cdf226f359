import { describe, expect, test } from "bun:test";
import { fact, type Metadata } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { obligationsOf } from "./clocks.ts";
import type { Obligation } from "./obligation.ts";
import { STANDARD_RULES } from "./overrides.ts";
import { soonBefore, stateAt } from "./state.ts";

const duties = (...facts: readonly Fact[]): Readonly<Record<string, Obligation>> =>
  Object.fromEntries(obligationsOf(caseOf(facts), STANDARD_RULES).map((duty) => [duty.rule, duty]));

const request = (at: string, type: string, members: Metadata = {}) =>
  fact(`o objection.received ${at}`, { objection_type: type, objection_id: "o1" }, members);

describe("worked dates", () => {
  test.each([
    ["D1", "2026-04-18T09:00:00Z", "2026-05-18T14:59:59"],
    ["D2: it is the next day in Seoul", "2026-04-18T15:30:00Z", "2026-05-19T14:59:59"],
  ])("%s PIPA-EXPL", (_, at, due) => {
    expect(duties(request(at, "explanation_request"))["PIPA-EXPL"]?.dueAt).toBe(due);
  });

  test.each([
    ["D4", "property", "EU73-GEN", "2026-09-16"],
    ["D5", "death", "EU73-DEATH", "2026-09-11"],
    ["D6", "critical_infrastructure", "EU73-CRIT", "2026-09-03"],
    ["D6, the other kind", "widespread_infringement", "EU73-CRIT", "2026-09-03"],
  ])("%s an incident of the class %s: %s", (_, kind, deadline, day) => {
    const found = duties(fact("i incident.detected 2026-09-01T10:00:00Z", { incident_class: kind }));
    // The day ends in Brussels, in summer time.
    expect(found[deadline]?.dueAt).toBe(`${day}T21:59:59`);
  });

  test("D9 an adverse decision must be explained within 30 days, counted in Denver", () => {
    const made = fact(
      "d decision.automated_decision_made 2027-02-01T12:00:00Z",
      { outcome: "denied" },
      { legal_bases: ["colorado_sb26_189"] },
    );
    expect(duties(made)["CO-ADVERSE"]?.dueAt).toBe("2027-03-04T06:59:59");
  });

  test("D10 GDPR: a limit of one month ends on the last day of a shorter month", () => {
    const found = duties(request("2026-01-31T12:00:00Z", "appeal", { legal_bases: ["gdpr_art_22"] }));
    expect(found["GDPR-12-3"]?.dueAt).toBe("2026-02-28T22:59:59");
    expect(found["PIPA-REVIEW"]).toBeUndefined();
  });

  test("an acknowledgement is due in 3 business days, not counting the weekend", () => {
    expect(duties(request("2026-11-19T12:00:00Z", "appeal"))["OBJ-ACK"]?.dueAt).toBe("2026-11-24T23:59:59");
  });
});

describe("extensions", () => {
  const received = request("2026-04-18T09:00:00Z", "explanation_request");
  const told = (id: string, at: string, extension_days: unknown, reason?: string) =>
    fact(`${id} objection.acknowledged ${at}`, { objection_id: "o1", extension_days, reason });
  const dueWith = (...facts: readonly Fact[]) => {
    const duty = duties(received, ...facts)["PIPA-EXPL"];
    return [duty?.dueAt.slice(0, 10), duty?.extensions];
  };

  test("last as many days as announced, at most 30 each, and count twice at most", () => {
    expect(dueWith(told("a", "2026-05-01T00:00:00Z", 10, "many"))).toEqual(["2026-05-28", 1]);
    expect(dueWith(told("a", "2026-05-01T00:00:00Z", 90, "many"))).toEqual(["2026-06-17", 1]);
    expect(
      dueWith(
        told("a", "2026-05-01T00:00:00Z", 30, "many"),
        told("b", "2026-06-01T00:00:00Z", 30, "more"),
        told("c", "2026-07-01T00:00:00Z", 30, "still more"),
      ),
    ).toEqual(["2026-07-17", 2]);
  });

  test("do not count without a reason, after the limit, from the person who objects, or with a nonsensical length", () => {
    expect(dueWith(told("a", "2026-05-01T00:00:00Z", 30))).toEqual(["2026-05-18", 0]);
    expect(dueWith(told("a", "2026-05-19T00:00:00Z", 30, "late"))).toEqual(["2026-05-18", 0]);
    for (const type of ["objection.received", "objection"])
      expect(
        dueWith(
          fact(`p ${type} 2026-04-20T00:00:00Z`, {
            objection_id: "o1",
            extension_days: 30,
            reason: "I object",
          }),
        ),
      ).toEqual(["2026-05-18", 0]);
    for (const nonsense of [-5, 0, "soon", null]) {
      expect(dueWith(told("a", "2026-05-01T00:00:00Z", nonsense, "x"))).toEqual(["2026-05-18", 0]);
    }
  });
});

describe("what starts and stops a clock", () => {
  const at = (day: number) => `2026-09-${String(day).padStart(2, "0")}T10:00:00Z`;
  const decision = fact(`d decision.automated_decision_made ${at(1)}`, {
    decision_id: "d1",
    outcome: "denied",
  });
  const objection = (type: string) =>
    fact(`o objection.received ${at(2)}`, { objection_type: type, objection_id: "o1", decision_id: "d1" });
  const resolved = (day: number, says: Metadata) =>
    fact(`r objection.resolved ${at(day)}`, { objection_id: "o1", ...says });

  test("an explanation, or a denial with its reason, answers a request for an explanation", () => {
    const explanation = fact(`e decision.explanation_provided ${at(3)}`, { decision_id: "d1" });
    const asked = objection("explanation_request");
    expect(duties(decision, asked)["PIPA-EXPL"]?.status).toBe("open");
    expect(duties(decision, asked, explanation)["PIPA-EXPL"]).toMatchObject({
      status: "met",
      startedBy: { id: "o" },
      stoppedBy: { id: "e" },
    });
    expect(
      duties(decision, asked, resolved(4, { resolution: "denied", reason: "x" }))["PIPA-EXPL"]?.status,
    ).toBe("met");
    const denied = resolved(4, { resolution: "denied" });
    expect(duties(decision, asked, denied)["PIPA-EXPL"]?.status).toBe("open");
    // An explanation before the request does not answer it.
    const before = fact(`e decision.explanation_provided ${at(1)}`, { decision_id: "d1" });
    expect(duties(decision, asked, before)["PIPA-EXPL"]?.status).toBe("open");
  });

  test.each([
    ["explanation_request", "PIPA-EXPL"],
    ["automated_decision_refusal", "PIPA-REFUSE"],
  ])("where a denial of %s says no reason, the event that tells it later answers", (type, deadline) => {
    const denied = resolved(4, { resolution: "denied" });
    const later = (day: number, says: Metadata) =>
      fact(`x objection.escalated ${at(day)}`, { objection_id: "o1", ...says });
    const found = (...facts: readonly Fact[]) => duties(decision, objection(type), ...facts)[deadline];
    expect(found(denied, later(6, { reason: "see letter" }))).toMatchObject({
      status: "met",
      stoppedBy: { id: "x" },
    });
    // The reasons of an extension, of what was done before the denial, and of another result are others.
    expect(found(denied, later(6, { reason: "ill", extension_days: 10 }))?.status).toBe("open");
    expect(found(denied, later(3, { reason: "see letter" }))?.status).toBe("open");
    const upheld = fact(`u objection.resolved ${at(6)}`, {
      objection_id: "o1",
      resolution: "upheld",
      reason: "see letter",
    });
    expect(found(denied, upheld)?.status).toBe("open");
  });

  test("a refusal is met only if the decision is reversed or taken again by a person and the result is told", () => {
    const asked = objection("automated_decision_refusal");
    const told = resolved(5, { resolution: "upheld" });
    const reversed = fact(`v decision.decision_reversed ${at(4)}`, { decision_id: "d1" });
    expect(duties(decision, asked, told)["PIPA-REFUSE"]?.status).toBe("open");
    expect(duties(decision, asked, reversed)["PIPA-REFUSE"]?.status).toBe("open");
    expect(duties(decision, asked, reversed, told)["PIPA-REFUSE"]).toMatchObject({
      status: "met",
      stoppedBy: { id: "r" },
    });
  });

  test("a denial needs its reason, at once or in a later event", () => {
    expect(duties(objection("appeal"), resolved(4, { resolution: "denied" }))["PIPA-DENY"]?.status).toBe(
      "open",
    );
    const later = fact(`x objection.escalated ${at(6)}`, { objection_id: "o1", reason: "see letter" });
    expect(
      duties(objection("appeal"), resolved(4, { resolution: "denied" }), later)["PIPA-DENY"],
    ).toMatchObject({
      status: "met_late",
      stoppedBy: { id: "x" },
    });
    expect(duties(objection("appeal"), resolved(4, { resolution: "upheld" }))["PIPA-DENY"]).toBeUndefined();
    // Who has withdrawn waits for none.
    const withdrawn = (day: number) =>
      fact(`w objection.resolved ${at(day)}`, { objection_id: "o1", resolution: "withdrawn" });
    const denied = resolved(4, { resolution: "denied" });
    expect(duties(objection("appeal"), denied, withdrawn(5))["PIPA-DENY"]).toMatchObject({
      status: "met_late",
      stoppedBy: { id: "w" },
    });
    expect(duties(objection("appeal"), withdrawn(3), denied)["PIPA-DENY"]?.status).toBe("open");
  });

  test("the clock of an incident starts at the awareness and stops at the first report", () => {
    const detected = fact(`i incident.detected ${at(10)}`, {
      incident_id: "i1",
      aware_at: "2026-09-01T10:00:00Z",
    });
    const report = (day: number, type: string) =>
      fact(`p${day} incident.reported_to_authority ${at(day)}`, { incident_id: "i1", report_type: type });
    const duty = duties(detected, report(16, "complete"), report(12, "initial"))["EU73-GEN"];
    expect(duty).toMatchObject({ startedAt: "2026-09-01T10:00:00", status: "met", stoppedBy: { id: "p12" } });
    expect(duty?.dueAt).toBe("2026-09-16T21:59:59");
  });

  test("a deployer must inform the provider on the same day", () => {
    const detected = fact(`i incident.detected 2028-03-10T10:00:00Z`, {
      incident_id: "i1",
      role: "deployer",
    });
    const told = fact(`p incident.mitigated 2028-03-11T10:00:00Z`, {
      incident_id: "i1",
      notified: "provider",
    });
    expect(duties(detected)["EU26-5"]?.status).toBe("open");
    expect(duties(detected, told)["EU26-5"]?.status).toBe("met_late");
    expect(duties(fact(`i incident.detected 2028-03-10T10:00:00Z`))["EU26-5"]).toBeUndefined();
  });

  test("an employer must give notice 10 business days before the tool is used", () => {
    const bases = { legal_bases: ["nyc_ll144"] };
    const used = (day: string) =>
      fact(`d decision.automated_decision_made ${day}T15:00:00Z`, { decision_id: "d1" }, bases);
    const notice = fact("n transparency.notice_shown 2026-11-02T15:00:00Z", { decision_id: "d1" });
    expect(duties(notice, used("2026-11-16"))["LL144-NOTICE"]?.status).toBe("met");
    expect(duties(notice, used("2026-11-15"))["LL144-NOTICE"]?.status).toBe("breached");
    expect(duties(used("2026-11-16"))["LL144-NOTICE"]).toMatchObject({
      status: "breached",
      startedBy: { id: "d" },
    });
  });

  test("a law that does not apply yet, or does not apply here, starts no clock", () => {
    const early = fact(
      "d decision.automated_decision_made 2026-12-31T12:00:00Z",
      { outcome: "denied" },
      { legal_bases: ["colorado_sb26_189"] },
    );
    expect(duties(early)["CO-ADVERSE"]).toBeUndefined();
    const korean = { legal_bases: ["pipa_37_2_kr"] };
    expect(duties(request(at(2), "appeal", korean))["GDPR-12-3"]).toBeUndefined();
    expect(duties(request(at(2), "appeal", korean))["PIPA-REVIEW"]).toBeDefined();
    const incident = fact(`i incident.detected ${at(3)}`, {}, korean);
    expect(duties(incident)["EU73-GEN"]).toBeUndefined();
  });
});

test("whether a duty is due soon or overdue depends on the time of the query", () => {
  const duty = { status: "open", dueAt: "2026-11-20T14:59:59", extensions: 0 } as const;
  expect(stateAt(duty, "2026-11-01T00:00:00")).toBe("open");
  expect(stateAt({ ...duty, extensions: 1 }, "2026-11-01T00:00:00")).toBe("extended");
  expect(stateAt(duty, "2026-11-14T00:00:00")).toBe("due_soon");
  // The announcer looks again at that time and must find the duty due soon.
  expect(soonBefore(duty.dueAt)).toBe("2026-11-13T15:00:00");
  expect(stateAt(duty, "2026-11-13T14:59:59")).toBe("open");
  expect(stateAt(duty, soonBefore(duty.dueAt))).toBe("due_soon");
  expect(stateAt(duty, "2026-11-20T14:59:59")).toBe("due_soon");
  expect(stateAt(duty, "2026-11-20T15:00:00")).toBe("overdue");
  expect(stateAt({ ...duty, status: "met_late" }, "2026-11-30T00:00:00")).toBe("met_late");
});
