/** Linking by the three rules of DOMAIN 2b: an explicit name, a correlation with exactly one, and for nameless notices asset and person. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Case, caseOf, linkOf, unlinkedIn } from "./case.ts";
import { DECISION_MADE, type Fact, type Links } from "./fact.ts";

/** The text is `id type hour`. */
const fact = (line: string, links: Links): Fact => {
  const [id = "", type = "", hour = ""] = line.split(" ");
  return {
    id,
    type,
    at: `2026-09-01T${hour}`,
    sequence: 1,
    recorded: "2026-12-01T00:00:00",
    asset: "a",
    links,
    says: {},
  };
};

const made = (id: string, hour: string, correlation?: string): Fact =>
  fact(`${id} ${DECISION_MADE} ${hour}`, { ...(correlation && { correlation }), decision: id });
const explanation = (id: string, links: Links): Fact => fact(`${id} decision.explanation_provided 14`, links);
const received = (id: string, links: Links): Fact =>
  fact(`${id} objection.received 13`, { objection: id, ...links });

/** The same for every order of arrival. */
const caseIn = (...facts: readonly Fact[]): Case => {
  const found = caseOf(facts);
  const { links: _, ...rest } = found;
  const { links: __, ...reversed } = caseOf(facts.toReversed());
  expect(reversed).toEqual(rest);
  return found;
};

/** The facts of each decision. */
const decisionsIn = ({ decisions }: Case) =>
  Object.fromEntries(decisions.map((decision) => [decision.id, decision.facts.map(({ id }) => id)]));

const linkedBy = ({ facts, links }: Case) =>
  Object.fromEntries(facts.map((each) => [each.id, linkOf(each, links)?.by ?? null]));

const unlinked = (found: Case) =>
  Object.fromEntries(
    unlinkedIn(found).map(({ fact: { id }, candidates }) => [
      id,
      candidates.map((candidate) => `${candidate.kind} ${candidate.id}`),
    ]),
  );

describe("rule 1, an explicit name:", () => {
  test("the decision that an event names, whatever stands under its correlation", () => {
    const found = caseIn(
      made("d1", "10", "c"),
      made("d2", "11", "c"),
      explanation("e", { correlation: "c", decision: "d1" }),
    );
    expect(decisionsIn(found)).toEqual({ d1: ["d1", "e"], d2: ["d2"] });
    expect(linkedBy(found)).toEqual({ d1: "decision_id", d2: "decision_id", e: "decision_id" });
    expect(unlinked(found)).toEqual({});
  });

  test("a decision named by original_decision_id", () => {
    const found = caseIn(made("d", "10"), { ...explanation("e", { decision: "d" }), byOriginal: true });
    expect(linkedBy(found)).toEqual({ d: "decision_id", e: "original_decision_id" });
  });

  test("the decision of the objection that an event names", () => {
    const found = caseIn(
      made("d1", "10", "c"),
      made("d2", "11", "c"),
      received("o", { decision: "d1" }),
      fact("t decision.human_review_triggered 14", { correlation: "c", objection: "o" }),
    );
    expect(decisionsIn(found)).toEqual({ d1: ["d1", "o", "t"], d2: ["d2"] });
    expect(linkedBy(found)).toMatchObject({ o: "decision_id", t: "objection_id" });
    expect(found.reviews).toMatchObject([{ decisionId: "d1", linkedBy: "objection_id" }]);
  });

  test("a step that names the decision continues the only objection to it, and none of several", () => {
    const resolved = fact("r objection.resolved 14", { decision: "d" });
    const one = caseIn(made("d", "10"), received("o", { decision: "d" }), resolved);
    expect(one.objections).toMatchObject([{ id: "o", resolved: { id: "r" } }]);
    const two = caseIn(
      made("d", "10"),
      received("o", { decision: "d" }),
      received("p", { decision: "d" }),
      resolved,
    );
    expect(two.objections.map(({ id, resolved: last }) => [id, last?.id])).toEqual([
      ["o", undefined],
      ["p", undefined],
      ["r", "r"],
    ]);
    expect(unlinked(two)).toEqual({ r: ["objection o", "objection p"] });
    // It still belongs to the decision that it names.
    expect(decisionsIn(two)).toEqual({ d: ["d", "o", "p", "r"] });
  });

  test("a step that names one decision continues no objection to another", () => {
    const found = caseIn(
      received("o", { correlation: "c", decision: "d1" }),
      fact("r objection.resolved 14", { correlation: "c", decision: "d2" }),
    );
    expect(found.objections.find(({ id }) => id === "o")?.resolved).toBeUndefined();
  });
});

describe("rule 2, a correlation:", () => {
  const all = (links: Links) => [
    fact("n transparency.notice_shown 08", links),
    fact("k disclosure_acknowledged 09", links),
    explanation("e", links),
    fact("t decision.human_review_triggered 12", links),
    fact("h decision.human_review_completed 13", links),
    fact("v decision.decision_reversed 14", links),
    fact("o objection.received 15", { ...links, objection: "o" }),
    fact("r objection.resolved 16", links),
    fact("l watermark_applied 17", links),
  ];

  test("everything under it belongs to its only decision", () => {
    const found = caseIn(made("d", "10", "c"), ...all({ correlation: "c" }));
    expect(decisionsIn(found)).toEqual({ d: ["n", "k", "d", "t", "h", "e", "v", "o", "r", "l"] });
    expect(linkedBy(found)).toMatchObject({ n: "correlation_id", o: "correlation_id", r: "correlation_id" });
    expect(found.objections).toMatchObject([
      { decisionId: "d", linkedBy: "correlation_id", resolved: { id: "r" } },
    ]);
    expect(found.reviews).toMatchObject([
      { decisionId: "d", linkedBy: "correlation_id", completed: { id: "h" } },
    ]);
    expect(found.notices).toMatchObject([{ id: "n", acknowledged: { id: "k" } }]);
    expect(unlinked(found)).toEqual({});
  });

  test("of several decisions none is chosen, not by time, person or asset: the events are unlinked, with the candidates", () => {
    const of = (...facts: readonly Fact[]) => facts.map((each) => ({ ...each, subject: "p1" }));
    const found = caseIn(
      ...of(made("d1", "10", "c")),
      { ...made("d2", "11", "c"), subject: "p2", asset: "b" },
      ...of(...all({ correlation: "c" })),
    );
    expect(decisionsIn(found)).toEqual({ d1: ["d1"], d2: ["d2"] });
    const both = ["decision d1", "decision d2"];
    expect(unlinked(found)).toEqual({
      n: both,
      k: both,
      t: both,
      h: both,
      e: both,
      v: both,
      o: both,
      r: both,
      l: both,
    });
    // They keep their own rows, so that their obligations run.
    expect(found.objections).toMatchObject([{ id: "o", decisionId: undefined, resolved: { id: "r" } }]);
    expect(found.reviews).toMatchObject([{ id: "t", decisionId: undefined, completed: { id: "h" } }]);
  });

  test("an event under a correlation of its own is unlinked, even if its case has a single decision", () => {
    const found = caseIn(made("d", "10", "c"), explanation("e", { correlation: "x" }));
    expect(decisionsIn(found)).toEqual({ d: ["d"] });
    expect(unlinked(found)).toEqual({ e: [] });
  });

  test("what names the decision under a complaint's correlation links the rest of the complaint", () => {
    const found = caseIn(
      made("d1", "10", "c"),
      made("d2", "11", "c"),
      received("o", { correlation: "ticket", decision: "d1" }),
      explanation("e", { correlation: "ticket" }),
    );
    expect(decisionsIn(found)).toEqual({ d1: ["d1", "o", "e"], d2: ["d2"] });
  });

  test("the only objection under it leads to the decision that the objection names elsewhere", () => {
    const found = caseIn(
      made("d", "10"),
      received("o", { correlation: "ticket" }),
      fact("s objection.escalated 14", { objection: "o", decision: "d" }),
      fact("v decision.decision_reversed 15", { correlation: "ticket" }),
    );
    expect(decisionsIn(found)).toEqual({ d: ["d", "o", "s", "v"] });
  });

  test("a step of one of several objections or incidents is unlinked, and stands in the register by itself", () => {
    const found = caseIn(
      received("o1", { correlation: "c" }),
      received("o2", { correlation: "c" }),
      fact("a objection.acknowledged 14", { correlation: "c" }),
      fact("i1 incident.detected 10", { correlation: "c", incident: "i1" }),
      fact("i2 incident.detected 11", { correlation: "c", incident: "i2" }),
      fact("m incident.mitigated 12", { correlation: "c" }),
    );
    expect(found.objections.map(({ id, acknowledged }) => [id, acknowledged?.id])).toEqual([
      ["o1", undefined],
      ["o2", undefined],
      ["a", "a"],
    ]);
    expect(found.incidents.map(({ id, mitigated }) => [id, mitigated?.id])).toEqual([
      ["i1", undefined],
      ["i2", undefined],
      ["m", "m"],
    ]);
    expect(unlinked(found)).toEqual({
      a: ["objection o1", "objection o2"],
      m: ["incident i1", "incident i2"],
      o1: [],
      o2: [],
    });
  });

  test("a review that no decision identifies is identified by its correlation", () => {
    const review = (id: string, what: string, correlation?: string) =>
      fact(`${id} decision.human_review_${what} 12`, correlation === undefined ? {} : { correlation });
    const { reviews } = caseIn(
      review("t1", "triggered", "c1"),
      review("t2", "triggered", "c2"),
      review("e2", "completed", "c2"),
      review("e", "completed"),
    );
    expect(reviews.map(({ id, completed }) => [id, completed?.id])).toEqual([
      ["t1", undefined],
      ["t2", "e2"],
      ["e", "e"],
    ]);
  });

  test("a dismissal of one of several notices is an entry of its own", () => {
    const notice = (id: string) => fact(`${id} transparency.notice_shown 08`, { correlation: "c" });
    const dismissed = fact("x transparency.notice_dismissed 09", { correlation: "c" });
    const { notices } = caseIn(notice("n1"), notice("n2"), dismissed);
    expect(notices.map(({ id, dismissed: by }) => [id, by?.id])).toEqual([
      ["n1", undefined],
      ["n2", undefined],
      ["x", "x"],
    ]);
  });
});

test("rule 3: a nameless notice belongs to the decision of the same asset and person if it was shown before", () => {
  const shown = (id: string, hour: string, more: Partial<Fact> = {}): Fact => ({
    ...fact(`${id} transparency.notice_shown ${hour}`, { decision: "d" }),
    subject: "p",
    bySubject: true,
    ...more,
  });
  const found = caseIn(
    { ...made("d", "10"), subject: "p" },
    shown("n", "09"),
    shown("late", "11"),
    shown("other", "08", { asset: "b" }),
    shown("else", "08", { subject: "q" }),
  );
  expect(decisionsIn(found)).toEqual({ d: ["n", "d"] });
  expect(found.decisions[0]?.notices.map(({ id }) => id)).toEqual(["n"]);
  expect(linkedBy(found)).toMatchObject({ n: "subject" });
  // It stands in the register of notices under a case of its own.
  expect(found.notices).toEqual([]);
});

test("the first of several events that make a decision or acknowledge a notice counts", () => {
  const { decisions, notices } = caseIn(
    fact("n transparency.notice_shown 09", { correlation: "c" }),
    fact("k disclosure_acknowledged 09:30", { correlation: "c" }),
    made("d1", "10", "c"),
    { ...made("again", "11", "c"), links: { correlation: "c", decision: "d1" } },
    fact("l disclosure_acknowledged 11:30", { correlation: "c" }),
  );
  expect(decisions).toMatchObject([{ id: "d1", made: { id: "d1" } }]);
  expect(notices).toMatchObject([{ id: "n", acknowledged: { id: "k" } }]);
});

const NAMES = ["x", "y", undefined];
const TYPES = [
  DECISION_MADE,
  "transparency.notice_shown",
  "decision.explanation_provided",
  "decision.human_review_triggered",
  "decision.human_review_completed",
  "objection.received",
  "objection.resolved",
  "incident.detected",
  "incident.mitigated",
];
const anyFact = fc.record({
  type: fc.constantFrom(...TYPES),
  hour: fc.nat({ max: 4 }),
  subject: fc.constantFrom("p", "q"),
  asset: fc.constantFrom("a", "b"),
  correlation: fc.constantFrom(...NAMES),
  decision: fc.constantFrom(...NAMES),
  objection: fc.constantFrom(...NAMES),
});

test("time, person and asset change no link, only names do", () => {
  fc.assert(
    fc.property(
      fc.array(anyFact, { maxLength: 10 }),
      fc.array(anyFact, { minLength: 10, maxLength: 10 }),
      (all, others) => {
        const facts = all.map(
          ({ type, hour, subject, asset, correlation, decision, objection }, index): Fact => {
            const links: Links = {
              ...(correlation !== undefined && { correlation }),
              ...(decision !== undefined && { decision }),
              ...(objection !== undefined && { objection }),
            };
            return { ...fact(`evt_${index} ${type} 0${hour}`, links), subject, asset };
          },
        );
        const changed = facts.map((each, index): Fact => {
          const { hour, subject, asset } = others[index] ?? { hour: 1, subject: "q", asset: "b" };
          return { ...each, at: `2026-09-01T1${hour}`, subject, asset };
        });
        // Of an objection that names several decisions the first event counts, so its members are compared by name alone.
        const named = (found: Case) =>
          found.facts.map((each) => [each.id, linkOf(each, found.links)?.by ?? null].join(" ")).sort();
        expect(named(caseIn(...changed))).toEqual(named(caseIn(...facts)));
      },
    ),
  );
});

test("an objection is to the decision that the earliest of its events names, whatever arrived first", () => {
  const named = (id: string, what: string, hour: string, decision: string) =>
    fact(`${id} objection.${what} ${hour}`, { objection: "o", decision });
  const facts = [
    made("d1", "08", "c"),
    made("d2", "09", "c"),
    named("r2", "received", "11", "d2"),
    named("r1", "received", "10", "d1"),
  ];
  for (const each of [facts, facts.toReversed()]) {
    const { objections, decisions } = caseOf(each);
    expect(objections.map(({ id, decisionId }) => [id, decisionId])).toEqual([["o", "d1"]]);
    expect(decisions.map((decision) => [decision.id, decision.objections.length])).toEqual([
      ["d1", 1],
      ["d2", 0],
    ]);
  }
});

test("the first of repeated events of an objection or an incident counts, but the last resolution of an objection counts", () => {
  const said = (id: string, type: string, hour: string, says: Fact["says"] = {}) => ({
    ...fact(`${id} ${type} ${hour}`, { objection: "o1", incident: "i1" }),
    says,
  });
  const { objections, incidents } = caseOf([
    said("o1", "objection.received", "10"),
    said("o2", "objection.received", "11"),
    said("a1", "objection.acknowledged", "12"),
    said("a2", "objection.acknowledged", "13"),
    said("r1", "objection.resolved", "14"),
    said("r2", "objection.resolved", "15"),
    said("i1", "incident.detected", "10"),
    said("i2", "incident.detected", "11"),
    said("m1", "incident.mitigated", "14"),
    said("m2", "incident.mitigated", "15"),
  ]);
  expect(objections).toMatchObject([
    { id: "o1", received: { id: "o1" }, acknowledged: { id: "a1" }, resolved: { id: "r2" } },
  ]);
  expect(incidents).toMatchObject([{ id: "i1", detected: { id: "i1" }, mitigated: { id: "m1" } }]);
});

test("an event's id is the name of an objection or incident only if the event opened it", () => {
  const { objections } = caseOf([
    fact("i incident.detected 10", { incident: "event:i" }),
    fact("o objection.received 11", { objection: "i" }),
  ]);
  expect(objections).toMatchObject([{ id: "i" }]);
});
