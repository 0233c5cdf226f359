import { describe, expect, test } from "bun:test";
import { caseOf } from "./case.ts";
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

const made = (id: string, hour: string, correlation: string): Fact =>
  fact(`${id} ${DECISION_MADE} ${hour}`, { correlation, decision: id });
const notice = (id: string, hour: string): Fact =>
  fact(`${id} transparency.notice_shown ${hour}`, { correlation: "c" });
const explanation = (id: string, hour: string): Fact =>
  fact(`${id} decision.explanation_provided ${hour}`, { correlation: "c" });

/** The facts that belong to each decision. */
const decisionsIn = (...facts: readonly Fact[]) =>
  Object.fromEntries(
    caseOf(facts).decisions.map((decision) => [decision.id, decision.facts.map(({ id }) => id)]),
  );

test("an event that names no decision belongs to the nearest of its correlation: a notice to the next decision, an answer to the last", () => {
  const facts = [
    made("d1", "10", "c"),
    notice("n", "11"),
    explanation("e", "11"),
    made("beside", "11", "other"),
    made("d2", "12", "c"),
    notice("late", "13"),
    explanation("early", "09"),
  ];
  const expected = { d1: ["early", "d1", "e"], beside: ["beside"], d2: ["n", "d2", "late"] };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
});

test("a notice that names no decision belongs to all later decisions of its correlation, each counted from when it was first made", () => {
  const facts = [
    made("d1", "10", "c"),
    notice("n", "11"),
    made("d2", "12", "c"),
    { ...made("d3", "13", "c"), links: { decision: "d3" } },
    { ...made("again", "14", "c"), links: { correlation: "c", decision: "d1" } },
    { ...made("late", "15", "c"), links: { correlation: "c", decision: "d3" } },
    made("beside", "16", "other"),
  ];
  const expected = {
    d1: ["d1", "again"],
    d2: ["n", "d2"],
    d3: ["n", "d3", "late"],
    beside: ["beside"],
  };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
});

test("a dismissal or acknowledgement of a notice belongs to the same decisions as the notice", () => {
  const facts = [
    made("d1", "10", "c"),
    notice("n", "11"),
    fact("x transparency.notice_dismissed 12", { correlation: "c" }),
    made("d2", "13", "c"),
    made("d3", "14", "c"),
    fact("y disclosure_acknowledged 15", { correlation: "c" }),
  ];
  const expected = { d1: ["d1"], d2: ["n", "x", "d2", "y"], d3: ["n", "x", "d3", "y"] };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
});

test("an event that names no decision belongs to the only decision that was made or, if none was, the only one that is named", () => {
  expect(decisionsIn(notice("late", "11"), made("d", "10", "other"))).toEqual({ d: ["d", "late"] });
  const named = fact("r decision.decision_reversed 12", { decision: "d" });
  expect(decisionsIn(notice("n", "11"), named)).toEqual({ d: ["n", "r"] });
  const another = fact("x decision.decision_reversed 13", { decision: "x" });
  expect(decisionsIn(notice("n", "11"), named, another)).toEqual({ d: ["r"], x: ["x"] });
});

test("an event that names no decision belongs to the decision that its correlation names, even if others were made in the case", () => {
  const complaint = fact("o objection.received 13", { correlation: "ticket", decision: "d1" });
  const all = ["expl", "rev", "trig"].map((id, index) =>
    fact(
      `${id} decision.${["explanation_provided", "decision_reversed", "human_review_triggered"][index]} 14`,
      { correlation: "ticket" },
    ),
  );
  const facts = [made("d1", "10", "c"), made("d2", "12", "c"), complaint, ...all];
  const expected = { d1: ["d1", "o", "expl", "rev", "trig"], d2: ["d2"] };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
  // If the named decision is not in the log, the event still does not belong to the one that was made.
  const unseen = facts.filter(({ id }) => id !== "d1");
  expect(decisionsIn(...unseen)).toEqual({ d1: ["o", "expl", "rev", "trig"], d2: ["d2"] });
  // If several decisions are named, the last one named before the event counts.
  const other = fact("p objection.received 11", { correlation: "ticket", decision: "d0" });
  expect(decisionsIn(made("d0", "09", "c"), other, ...facts)).toMatchObject({
    d1: ["d1", "o", "expl", "rev", "trig"],
  });
});

describe("in a correlation of many events, such as a run over several persons or a chain of systems", () => {
  const of = (subject: string, ...facts: readonly Fact[]): readonly Fact[] =>
    facts.map((each) => ({ ...each, subject }));
  const by = (asset: string, ...facts: readonly Fact[]): readonly Fact[] =>
    facts.map((each) => ({ ...each, asset }));
  const inRun = (line: string): Fact => fact(line, { correlation: "c" });

  test("an event that names no decision belongs to one about the same person", () => {
    const facts = [
      ...of("p1", notice("n1", "08"), made("d1", "10", "c")),
      ...of("p2", notice("n2", "09"), made("d2", "11", "c")),
      ...of("p3", made("d3", "12", "c")),
      made("anybody", "12", "c"),
      ...of("p1", inRun("o objection.received 13"), explanation("e", "14")),
      ...of("p2", inRun("t decision.human_review_triggered 14")),
      // It is too late for its person's decision. It may be for a decision about anybody, but not for another person's.
      ...of("p1", notice("late0", "11")),
      // There is no decision about this person.
      ...of("p4", notice("n4", "11"), explanation("last", "15")),
    ];
    const expected = {
      d1: ["n1", "d1", "o", "e"],
      d2: ["n2", "d2", "t"],
      d3: ["d3"],
      anybody: ["n1", "n2", "n4", "late0", "anybody", "last"],
    };
    const found = decisionsIn(...facts);
    expect(decisionsIn(...facts.toReversed())).toEqual(found);
    for (const [id, own] of Object.entries(expected))
      expect([id, found[id]?.toSorted()]).toEqual([id, own.toSorted()]);
  });

  test("an event about a person without decisions belongs to none, unless all decisions are about a single person", () => {
    const [first, second] = [of("p1", made("d1", "10", "c")), of("p2", made("d2", "11", "c"))];
    const others = of("p9", notice("n", "09"), explanation("e", "12"), inRun("o objection.received 13"));
    expect(decisionsIn(...first, ...second, ...others)).toEqual({ d1: ["d1"], d2: ["d2"] });
    const alone = of("p1", made("again", "11", "c"));
    expect(decisionsIn(...first, ...alone, ...others)).toEqual({
      d1: ["n", "d1"],
      again: ["n", "again", "e", "o"],
    });
  });

  test("an explanation given to one person does not answer another person's request", () => {
    const asked = {
      ...inRun("o objection.received 12"),
      links: { correlation: "c", decision: "d1", objection: "o" },
    };
    const request = of("p1", { ...asked, says: { objection_type: "explanation_request" } });
    const [first, second] = [of("p1", made("d1", "10", "c")), of("p2", made("d2", "11", "c"))];
    const explained = (...facts: readonly Fact[]) =>
      caseOf(facts.toReversed()).decisions.map(({ id, explanations }) => [id, explanations.length]);
    expect(explained(...first, ...second, ...request, ...of("p2", explanation("e", "13")))).toEqual([
      ["d1", 0],
      ["d2", 1],
    ]);
    // If all decisions are about a single person, a person named in another way is the same one.
    const alone = of("p1", made("d2", "11", "c"));
    expect(explained(...first, ...alone, ...request, ...of("p9", explanation("e", "13")))).toEqual([
      ["d1", 1],
      ["d2", 0],
    ]);
  });

  test("an event about one person closes nothing about another, unless everything else is about a single person", () => {
    const all = (...persons: readonly [string, string]) => {
      const [one, other] = persons;
      const { objections, reviews, notices } = caseOf([
        ...of(one, notice("n", "08"), made("d1", "10", "c")),
        ...of(other, inRun("x transparency.notice_dismissed 09")),
        ...of("p2", made("d2", "11", "c")).map((each) => (other === "p9" ? { ...each, subject: one } : each)),
        ...of(one, fact("o objection.received 12", { correlation: "c", objection: "o" })),
        ...of(one, fact("t decision.human_review_triggered 13", { correlation: "c", decision: "d1" })),
        ...of(other, inRun("u decision.human_review_completed 14"), inRun("r objection.resolved 15")),
      ]);
      return [notices[0]?.dismissed, objections[0]?.resolved, reviews[0]?.completed].map((each) => each?.id);
    };
    expect(all("p1", "p2")).toEqual([undefined, undefined, undefined]);
    expect(all("p1", "p9")).toEqual(["x", "r", "u"]);
  });

  test("an event that names the decision closes an objection to it, whichever person the event names", () => {
    const { objections } = caseOf([
      ...of("p1", made("d1", "10", "c"), fact("o objection.received 12", { decision: "d1", objection: "o" })),
      ...of("p2", made("d2", "11", "c")),
      ...of("p9", fact("r objection.resolved 13", { decision: "d1" })),
    ]);
    expect(objections.map(({ id, resolved }) => [id, resolved?.id])).toEqual([["o", "r"]]);
  });

  test("an event that names one decision closes no objection to another decision", () => {
    const { objections } = caseOf([
      fact("o objection.received 12", { correlation: "c", decision: "d1", objection: "o" }),
      fact("r objection.resolved 13", { correlation: "c", decision: "d2" }),
    ]);
    expect(objections.find(({ id }) => id === "o")?.resolved).toBeUndefined();
  });

  test("an event that names no decision belongs to one of the same system", () => {
    const facts = [
      ...by("credit", made("d1", "10", "c")),
      ...by("chatbot", made("d2", "11", "c")),
      ...by("credit", explanation("e", "12"), inRun("v decision.decision_reversed 13")),
      ...by("portal", explanation("f", "14")),
    ];
    const expected = { d1: ["d1", "e", "v"], d2: ["d2", "f"] };
    expect(decisionsIn(...facts)).toEqual(expected);
    expect(decisionsIn(...facts.toReversed())).toEqual(expected);
  });

  test("an event belongs to a decision made before it, even if a later one is of its person or system", () => {
    const first = made("d1", "10", "c");
    const after = [explanation("e", "11"), inRun("o objection.received 12"), inRun("v human_review 13")];
    const second = made("d2", "14", "c");
    const expected = { d1: ["d1", "e", "o", "v"], d2: ["d2"] };
    expect(decisionsIn(first, ...of("p1", ...after, second))).toEqual(expected);
    expect(decisionsIn(...by("credit", first), ...by("portal", ...after, second))).toEqual(expected);
    expect(decisionsIn(...of("p2", first), ...of("p1", ...after, second))).toEqual({
      d1: ["d1"],
      d2: ["e", "o", "v", "d2"],
    });
    // A label may come before the decision of its own system.
    const label = inRun("l transparency.result_labeled 11");
    expect(decisionsIn(...by("credit", first), ...by("portal", label, second))).toEqual({
      d1: ["d1"],
      d2: ["l", "d2"],
    });
  });

  test("a later event of an objection, a notice or an incident belongs to the one of the same person and system", () => {
    const { objections, notices, incidents } = caseOf([
      ...of("p1", notice("n1", "08"), inRun("a transparency.notice_dismissed 10")),
      ...of("p2", notice("n2", "09")),
      ...of("p1", fact("o1 objection.received 10", { correlation: "c", objection: "o1" })),
      ...of("p2", fact("o2 objection.received 11", { correlation: "c", objection: "o2" })),
      ...of("p1", inRun("r objection.resolved 12")),
      ...by("credit", fact("i1 incident.detected 10", { correlation: "c", incident: "i1" })),
      ...by("chatbot", fact("i2 incident.detected 11", { correlation: "c", incident: "i2" })),
      ...by("credit", inRun("m incident.mitigated 12")),
    ]);
    expect(notices.map(({ id, dismissed }) => [id, dismissed?.id])).toEqual([
      ["n1", "a"],
      ["n2", undefined],
    ]);
    expect(objections.map(({ id, resolved }) => [id, resolved?.id])).toEqual([
      ["o1", "r"],
      ["o2", undefined],
    ]);
    expect(incidents.map(({ id, mitigated }) => [id, mitigated?.id])).toEqual([
      ["i1", "m"],
      ["i2", undefined],
    ]);
  });
});

test("an explanation that names nothing belongs to a waiting request of its correlation, or else to the last decision", () => {
  const asked = (id: string, hour: string, links: Links): Fact => ({
    ...fact(`${id} objection.received ${hour}`, { correlation: "c", objection: id, ...links }),
    says: { objection_type: "Explanation_Request" },
  });
  const explainedIn = (...others: readonly Fact[]) => {
    const facts = [made("d1", "10", "c"), made("d2", "12", "c"), ...others];
    const found = decisionsIn(...facts);
    expect(decisionsIn(...facts.toReversed())).toEqual(found);
    return ["d1", "d2"].map((id) => found[id]?.filter((each) => each.startsWith("e")));
  };
  const [first, second] = [explanation("e1", "15"), explanation("e2", "16")];
  const one = asked("o1", "13", { decision: "d1" });
  expect(explainedIn(first, second)).toEqual([[], ["e1", "e2"]]);
  expect(explainedIn(one, first, second)).toEqual([["e1"], ["e2"]]);
  const two = asked("o2", "13", { decision: "d2" });
  expect(explainedIn(one, two, first, second)).toEqual([["e2"], ["e1"]]);
  // If several requests wait, the one about the nearest decision is answered, even if another came last.
  expect(explainedIn(asked("o1", "14", { decision: "d1" }), two, first, second)).toEqual([["e2"], ["e1"]]);
  // A request does not wait if it has a denial with a reason or an explanation, came later or elsewhere, or asks for something else.
  const says = { resolution: "denied", reason: "no" };
  const denied = { ...fact("r objection.resolved 14", { objection: "o1" }), says };
  expect(explainedIn(one, denied, first)).toEqual([[], ["e1"]]);
  expect(explainedIn(one, { ...denied, says: { resolution: "denied" } }, first)).toEqual([["e1"], []]);
  const named = fact("e0 decision.explanation_provided 14", { objection: "o1" });
  expect(explainedIn(one, named, first)).toEqual([["e0"], ["e1"]]);
  expect(explainedIn(one, asked("o3", "13", { decision: "d1" }), named, first)).toEqual([["e0", "e1"], []]);
  // An event that named it before it was received did not answer it.
  expect(explainedIn(one, { ...named, at: made("d1", "12", "c").at }, first)).toEqual([["e0", "e1"], []]);
  // An explanation at the time of the request answers it, but an explanation at the time of the denial does not.
  expect(explainedIn(asked("o1", "15", { decision: "d1" }), first)).toEqual([["e1"], []]);
  expect(explainedIn(one, { ...denied, at: first.at }, first)).toEqual([[], ["e1"]]);
  expect(explainedIn(asked("o1", "17", { decision: "d1" }), first)).toEqual([[], ["e1"]]);
  expect(explainedIn(asked("o1", "13", { decision: "d1", correlation: "x" }), first)).toEqual([[], ["e1"]]);
  expect(explainedIn({ ...one, says: {} }, first)).toEqual([[], ["e1"]]);
});

test("a reversal that names nothing belongs to the decision objected to in its correlation, or else to the last decision", () => {
  const objected = (objection_type: string): Fact => ({
    ...fact("o objection.received 11", { correlation: "c", objection: "o", decision: "d1" }),
    says: { objection_type },
  });
  const reversed = (id: string, hour: string): Fact =>
    fact(`${id} decision.decision_reversed ${hour}`, { correlation: "c" });
  const reversalsIn = (...others: readonly Fact[]) => {
    const facts = [made("d1", "10", "c"), made("d2", "12", "c"), ...others];
    return caseOf(facts.toReversed()).decisions.map(({ id, reversals }) => [
      id,
      reversals.map((each) => each.id),
    ]);
  };
  const [first, second] = [reversed("v1", "13"), reversed("v2", "14")];
  for (const type of ["automated_decision_refusal", "appeal"])
    expect(reversalsIn(objected(type), first, second)).toEqual([
      ["d1", ["v1"]],
      ["d2", ["v2"]],
    ]);
  expect(reversalsIn(objected("explanation_request"), first)).toEqual([
    ["d1", []],
    ["d2", ["v1"]],
  ]);
});

test("at the time of a decision, a notice belongs to it and to later ones, and an answer belongs to it alone", () => {
  const facts = [
    made("d1", "10", "c"),
    made("d2", "12", "c"),
    notice("n", "10"),
    explanation("e", "12"),
    made("d3", "14", "c"),
  ];
  expect(decisionsIn(...facts)).toEqual({ d1: ["d1", "n"], d2: ["n", "d2", "e"], d3: ["n", "d3"] });
});

test("an event that names an objection belongs to the objection's decision, even if another decision is nearer", () => {
  const objection = fact("o objection.received 13", { objection: "o1", decision: "d1" });
  const trigger = fact("t decision.human_review_triggered 14", { objection: "o1" });
  const found = caseOf([made("d1", "10", "c"), made("d2", "12", "c"), objection, trigger]);
  expect(found.reviews).toMatchObject([{ id: "t", decisionId: "d1" }]);
});

test("a later event of an objection belongs to the objection's decision, even if it names neither and another decision was made since", () => {
  const about = (line: string, links: Links = {}): Fact => fact(line, { correlation: "c", ...links });
  const facts = [
    made("d1", "10", "c"),
    about("o objection.received 11", { objection: "o", decision: "d1" }),
    made("d2", "12", "c"),
    about("a objection.acknowledged 13"),
    about("r objection.resolved 14"),
  ];
  const expected = { d1: ["d1", "o", "a", "r"], d2: ["d2"] };
  expect(decisionsIn(...facts)).toEqual(expected);
  expect(decisionsIn(...facts.toReversed())).toEqual(expected);
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

test("an objection that names no decision is to the last decision before it in its correlation", () => {
  const objection = fact("o objection.received 13", { objection: "o1", correlation: "c" });
  const found = caseOf([made("d1", "10", "c"), made("d2", "12", "c"), made("d3", "14", "c"), objection]);
  expect(found.objections).toMatchObject([{ id: "o1", decisionId: "d2" }]);
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

test("a review completed without a correlation closes none if reviews of several correlations are open", () => {
  const review = (id: string, what: string, hour: string, correlation?: string) =>
    fact(`${id} decision.human_review_${what} ${hour}`, correlation === undefined ? {} : { correlation });
  const one = [review("t1", "triggered", "10", "c1"), review("done", "completed", "12")];
  expect(caseOf(one).reviews).toMatchObject([{ id: "t1", completed: { id: "done" } }]);
  const { reviews } = caseOf([...one, review("t2", "triggered", "11", "c2")]);
  expect(reviews.map(({ id, completed }) => [id, completed?.id])).toEqual([
    ["t1", undefined],
    ["t2", undefined],
    ["done", "done"],
  ]);
});

test("a completion that names nothing closes the review of its correlation, even if another decision was made since", () => {
  const trigger = (id: string, hour: string, links: Links = {}): Fact =>
    fact(`${id} decision.human_review_triggered ${hour}`, { correlation: "c", ...links });
  const completion = (id: string, hour: string, links: Links = {}): Fact =>
    fact(`${id} decision.human_review_completed ${hour}`, { correlation: "c", ...links });
  const reviewsIn = (...facts: readonly Fact[]) =>
    caseOf(facts).reviews.map(({ decisionId, triggered, completed }) => [
      decisionId,
      triggered?.id,
      completed?.id,
    ]);
  const [d1, d2] = [made("d1", "01", "c"), made("d2", "03", "c")];
  expect(reviewsIn(d1, trigger("t", "02"), d2, completion("e", "04"))).toEqual([["d1", "t", "e"]]);
  expect(reviewsIn(d1, trigger("t", "02", { decision: "d1" }), d2, completion("e", "04"))).toEqual([
    ["d1", "t", "e"],
  ]);
  // If two are open, the one of the last decision is closed first. One of another correlation is not closed.
  const other = { ...trigger("o", "05"), links: { correlation: "other" } };
  const all = [d1, trigger("t1", "02"), d2, trigger("t2", "04"), other];
  const facts = [...all, completion("e1", "06"), completion("e2", "07"), completion("e3", "08")];
  expect(reviewsIn(...facts)).toContainEqual(["d2", "t2", "e1"]);
  expect(reviewsIn(...facts)).toContainEqual(["d1", "t1", "e2"]);
  expect(reviewsIn(...facts)).toContainEqual(["d2", undefined, "e3"]);
  expect(reviewsIn(...facts.toReversed())).toEqual(reviewsIn(...facts));
  // A completion that names its decision closes no review of another decision.
  expect(reviewsIn(d1, trigger("t", "02"), d2, completion("e", "04", { decision: "d2" }))).toEqual([
    ["d1", "t", undefined],
    ["d2", undefined, "e"],
  ]);
});

test("the completion of a review belongs to the decision that was reviewed", () => {
  const facts = [
    made("d1", "01", "c"),
    fact("t decision.human_review_triggered 02", { correlation: "c" }),
    made("d2", "03", "c"),
    fact("e decision.human_review_completed 04", { correlation: "c" }),
  ];
  expect(decisionsIn(...facts)).toEqual({ d1: ["d1", "t", "e"], d2: ["d2"] });
});

test("acknowledgements that name no objection each acknowledge a different objection to the decision", () => {
  const about = (id: string, what: string, hour: string, links: Links = {}): Fact =>
    fact(`${id} objection.${what} ${hour}`, { decision: "d", ...links });
  const received = ["o1", "o2", "o3"].map((id, index) =>
    about(id, "received", `0${index}`, { objection: id }),
  );
  const acknowledgedIn = (...facts: readonly Fact[]) =>
    caseOf([...received, ...facts].toReversed()).objections.map(({ id, acknowledged }) => [
      id,
      acknowledged?.id,
    ]);
  const acknowledged = ["a1", "a2"].map((id, index) => about(id, "acknowledged", `1${index}`));
  expect(acknowledgedIn(...acknowledged)).toEqual([
    ["o1", undefined],
    ["o2", "a2"],
    ["o3", "a1"],
  ]);
  const named = about("a0", "acknowledged", "05", { objection: "o2" });
  const resolved = about("r", "resolved", "06", { objection: "o3" });
  expect(acknowledgedIn(named, resolved, ...acknowledged)).toEqual([
    ["o1", "a1"],
    ["o2", "a0"],
    ["o3", undefined],
  ]);
});

test("a later event that names no objection or incident belongs to one that is not closed yet", () => {
  const received = (id: string, hour: string): Fact =>
    fact(`${id} objection.received ${hour}`, { correlation: "c", objection: id });
  const resolved = (id: string, hour: string, links: Links = {}): Fact =>
    fact(`${id} objection.resolved ${hour}`, { correlation: "c", ...links });
  const facts = [
    received("o1", "01"),
    received("o2", "02"),
    resolved("r2", "03", { objection: "o2" }),
    resolved("r1", "04"),
    resolved("again", "05"),
  ];
  const resolutions = caseOf(facts).objections.map(({ id, facts: own }) => [id, own.map((each) => each.id)]);
  expect(resolutions).toEqual([
    ["o1", ["o1", "r1"]],
    ["o2", ["o2", "r2", "again"]],
  ]);
  const incident = (id: string, type: string, hour: string, named?: string): Fact =>
    fact(`${id} incident.${type} ${hour}`, { correlation: "c", ...(named && { incident: named }) });
  const { incidents } = caseOf([
    incident("i1", "detected", "01", "i1"),
    incident("i2", "detected", "02", "i2"),
    incident("m2", "mitigated", "03", "i2"),
    incident("m1", "mitigated", "04"),
  ]);
  expect(incidents.map(({ id, mitigated }) => [id, mitigated?.id])).toEqual([
    ["i1", "m1"],
    ["i2", "m2"],
  ]);
});

test("an event in a correlation without decisions belongs to the last decision of the case before it", () => {
  const elsewhere = fact("e decision.explanation_provided 13", { correlation: "x" });
  const facts = [made("d1", "10", "c"), made("d2", "12", "c"), elsewhere, made("d3", "14", "c")];
  expect(decisionsIn(...facts)).toEqual({ d1: ["d1"], d2: ["d2", "e"], d3: ["d3"] });
});

test("the first of several events that make a decision or acknowledge a notice counts", () => {
  const { decisions, notices } = caseOf([
    notice("n", "09"),
    fact("k disclosure_acknowledged 09:30", { correlation: "c" }),
    made("d1", "10", "c"),
    { ...made("again", "11", "c"), links: { correlation: "c", decision: "d1" } },
    fact("l disclosure_acknowledged 11:30", { correlation: "c" }),
  ]);
  expect(decisions).toMatchObject([{ id: "d1", made: { id: "d1" } }]);
  expect(notices).toMatchObject([{ id: "n", acknowledged: { id: "k" } }]);
});

test("a dismissal before its notice was shown becomes an entry of its own", () => {
  const dismissed = fact("x transparency.notice_dismissed 08", { correlation: "c" });
  const { notices } = caseOf([dismissed, notice("n", "09")]);
  expect(notices.map(({ id, dismissed }) => [id, dismissed?.id])).toEqual([
    ["n", undefined],
    ["x", "x"],
  ]);
});

test("a later event of an objection belongs to none that was received after it", () => {
  const { objections } = caseOf([
    fact("o1 objection.received 10", { correlation: "c", objection: "o1" }),
    fact("a objection.acknowledged 11", { correlation: "c" }),
    fact("o2 objection.received 12", { correlation: "c", objection: "o2" }),
  ]);
  expect(objections.map(({ id, acknowledged }) => [id, acknowledged?.id])).toEqual([
    ["o1", "a"],
    ["o2", undefined],
  ]);
});

describe("an event stays with what was opened before it, when something that shares more with it is opened later:", () => {
  test("a resolution, with an objection to the decision that it names", () => {
    const { objections } = caseOf([
      fact("o1 objection.received 10", { correlation: "c", objection: "o1" }),
      fact("r objection.resolved 11", { correlation: "c", decision: "d" }),
      fact("o2 objection.received 12", { correlation: "c", decision: "d", objection: "o2" }),
    ]);
    expect(objections.map(({ id, resolved }) => [id, resolved?.id])).toEqual([
      ["o1", "r"],
      ["o2", undefined],
    ]);
  });

  test("a report after the mitigation, with an incident of the system that reports", () => {
    const { incidents } = caseOf([
      fact("i1 incident.detected 10", { correlation: "c", incident: "i1" }),
      fact("m incident.mitigated 11", { correlation: "c", incident: "i1" }),
      { ...fact("r incident.reported_to_authority 12", { correlation: "c" }), asset: "b" },
      { ...fact("i2 incident.detected 13", { correlation: "c", incident: "i2" }), asset: "b" },
    ]);
    expect(incidents.map(({ id, reports }) => [id, reports.map((report) => report.id)])).toEqual([
      ["i1", ["r"]],
      ["i2", []],
    ]);
  });
});

test("an objection that is received twice while it is open keeps its acknowledgement", () => {
  const received = (id: string, objection: string, hour: string): Fact =>
    fact(`${id} objection.received ${hour}`, { correlation: "c", objection });
  const { objections } = caseOf([
    received("p", "o2", "09"),
    received("q", "o1", "10"),
    fact("a objection.acknowledged 11", { correlation: "c" }),
    received("r", "o1", "12"),
    fact("b objection.acknowledged 13", { correlation: "c" }),
  ]);
  expect(objections.map(({ id, acknowledged }) => [id, acknowledged?.id])).toEqual([
    ["o2", "b"],
    ["o1", "a"],
  ]);
});

test("a completion that names nothing closes the review that was triggered last if the last decision has none", () => {
  const triggered = (id: string, decision: string, hour: string): Fact =>
    fact(`${id} decision.human_review_triggered ${hour}`, { correlation: "c", decision });
  const { reviews } = caseOf([
    made("d1", "10", "c"),
    triggered("t1", "d1", "11"),
    made("d2", "12", "c"),
    triggered("t2", "d2", "13"),
    made("d3", "14", "c"),
    fact("u decision.human_review_completed 15", { correlation: "c" }),
  ]);
  expect(reviews.map(({ id, completed }) => [id, completed?.id])).toEqual([
    ["t1", undefined],
    ["t2", "u"],
  ]);
});

test("an event's id is the name of an objection or incident only if the event opened it", () => {
  const { objections } = caseOf([
    fact("i incident.detected 10", { incident: "event:i" }),
    fact("o objection.received 11", { objection: "i" }),
  ]);
  expect(objections).toMatchObject([{ id: "i" }]);
});
