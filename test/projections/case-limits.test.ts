/** One careless name must not join everything into one case, nor make a row grow without end; and even at a limit the order of arrival must not matter. */
import { expect, test } from "bun:test";
import {
  CASE_FACTS_MAX,
  CASE_NEIGHBOURS_MAX,
  KEPT_LEGAL_BASES_MAX,
  PERSON_DECISIONS_MAX,
} from "../../src/limits.ts";
import { nodeFrom } from "../../src/views/cases/nodes.ts";
import { DECISIONS } from "../../src/views/cases/registers/decisions.ts";
import { HUMAN_REVIEWS } from "../../src/views/cases/registers/human-reviews.ts";
import { OBJECTIONS } from "../../src/views/cases/registers/objections.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { COVERAGE } from "../../src/views/cases/registers/registers.ts";
import { CASE_NODES } from "../../src/views/cases/tables.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createChance } from "../support/histories/chance.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 8, 1, 0, minute)).toISOString();

const decision = (index: number, members: object) => ({
  event_id: `evt_${index}`,
  timestamp: at(index),
  asset_id: "a",
  event_type: "decision.automated_decision_made",
  ...members,
});

const viewOf = async (events: readonly object[], seed?: number) => {
  const messages = events.map((event, index) => messageOf(index + 1, { event }));
  const chance = createChance(seed ?? 0);
  const arriving = seed === undefined ? messages : messages.toSorted(() => chance.next() - 0.5);
  const view = createInMemoryView(...PROJECTIONS);
  for (let start = 0; start < arriving.length; start += 50) {
    expect(await view.take(arriving.slice(start, start + 50))).toEqual([]);
  }
  return {
    decisions: view.rows(DECISIONS),
    objections: view.rows(OBJECTIONS),
    obligations: view.rows(OBLIGATIONS),
    reviews: view.rows(HUMAN_REVIEWS),
    nodes: view.rows(CASE_NODES),
    // A count that is back at zero is as if it had never been.
    coverage: view.rows(COVERAGE).filter(({ required }) => required !== 0),
  };
};

test("a correlation connects a few things that share it, but not a whole batch", async () => {
  const share = (count: number) => [
    ...Array.from({ length: count }, (_, index) => ({
      ...decision(index + 10, { correlation_id: "run-7", metadata: { objection_id: `obj_${index}` } }),
      event_type: "objection.received",
    })),
    decision(1, { correlation_id: "run-7", metadata: { decision_id: "dec" } }),
  ];
  const linked = async (count: number, seed?: number) =>
    (await viewOf(share(count), seed)).objections.filter(({ linked_by }) => linked_by === "correlation_id")
      .length;
  expect(await linked(3)).toBe(3);
  expect(await linked(CASE_NEIGHBOURS_MAX - 1)).toBe(CASE_NEIGHBOURS_MAX - 1);
  expect(await linked(CASE_NEIGHBOURS_MAX)).toBe(0);
  for (const seed of [1, 2]) expect(await linked(CASE_NEIGHBOURS_MAX + 40, seed)).toBe(0);
});

test("a nameless notice that arrives late reaches a limited number of decisions about the person; one in time reaches all", async () => {
  const person = { subject_hash: `sha256:${"a".repeat(64)}` };
  const made = Array.from({ length: PERSON_DECISIONS_MAX + 9 }, (_, index) =>
    decision(index + 10, { ...person, metadata: { decision_id: `dec_${index}` } }),
  );
  const notice = { ...decision(1, person), event_type: "transparency.notice_shown" };
  const told = async (...events: readonly object[]) =>
    (await viewOf(events)).decisions.filter(({ notice_linked_by }) => notice_linked_by === "subject").length;
  expect(await told(notice, ...made)).toBe(made.length);
  expect(await told(...made, notice)).toBe(PERSON_DECISIONS_MAX);
  expect(await told(...made.slice(0, PERSON_DECISIONS_MAX), notice)).toBe(PERSON_DECISIONS_MAX);
});

test("a name that every event has keeps the earliest facts and counts all of them", async () => {
  const events = Array.from({ length: CASE_FACTS_MAX + 60 }, (_, index) =>
    decision(index, { metadata: { decision_id: "dec_same", outcome: index === 0 ? "denied" : "approved" } }),
  );
  const view = await viewOf(events);
  const { decisions, nodes } = view;
  expect(decisions).toMatchObject([{ decision_id: "dec_same", outcome: "denied" }]);
  const [node] = nodes;
  expect(nodeFrom(node).events).toBe(CASE_FACTS_MAX + 60);
  expect(nodeFrom(node).facts).toHaveLength(CASE_FACTS_MAX);
  for (const seed of [1, 2]) expect(await viewOf(events, seed)).toEqual(view);
});

/** A person's request and the answer; before both, this many events of another kind. */
const withBefore = (crowd: number, event_type: string, named: object) => {
  const metadata = { objection_type: "explanation_request", outcome: "denied", resolution: "upheld" };
  const say = (type: string, minute: number) => ({
    ...decision(minute, { metadata: { ...metadata, ...named }, correlation_id: "c" }),
    event_type: type,
    event_id: `evt_${type}_${minute}`,
  });
  const asked = ["received", "acknowledged", "resolved"].map((step, at) =>
    say(`objection.${step}`, 1000 + at),
  );
  const reviewed = ["triggered", "completed"].map((step, at) =>
    say(`decision.human_review_${step}`, 1010 + at),
  );
  const explained = say("decision.explanation_provided", 1001);
  const before = Array.from({ length: crowd }, (_, index) => say(event_type, index));
  return [...asked, explained, ...reviewed, ...before];
};

test.each([
  ["answers of a model", "ai_inference", {}, 0],
  ["notices", "disclosure_shown", {}, 0],
  // All but the first of those that are kept beside the six events of the objection.
  ["decisions of one name", "decision.automated_decision_made", { decision_id: "d" }, CASE_FACTS_MAX - 7],
])("however many %s came before, the events of an objection take effect", async (_, type, named, again) => {
  const { objections, obligations, reviews, decisions } = await viewOf(withBefore(1, type, named));
  expect(objections).toMatchObject([{ state: "resolved" }]);
  expect(new Set(obligations.map(({ status }) => status))).toEqual(new Set(["met"]));
  const events = withBefore(CASE_FACTS_MAX + 40, type, named);
  const view = await viewOf(events);
  const decided = decisions.map((row) => ({ ...row, made_again: again }));
  expect(view).toMatchObject({ objections, obligations, reviews, decisions: decided });
  expect(await viewOf(events, 1)).toEqual(view);
});

test("a decision and its first notice are kept beside any number of answers", async () => {
  const named = { metadata: { decision_id: "d" } };
  const events = [
    ...Array.from({ length: CASE_FACTS_MAX + 40 }, (_, index) => ({
      ...decision(index, named),
      event_type: "decision.explanation_provided",
    })),
    { ...decision(900, named), event_type: "transparency.notice_shown" },
    decision(901, named),
  ];
  const view = await viewOf(events);
  expect(view.decisions).toMatchObject([{ steps: "[]", made_at: at(901).slice(0, -5) }]);
  expect(await viewOf(events, 1)).toEqual(view);
});

test("a decision counts under a limited number of legal bases, known ones first, however many its notices name", async () => {
  const known = ["gdpr_art_22", "pipa_37_2_kr"];
  const others = Array.from({ length: 2 * KEPT_LEGAL_BASES_MAX }, (_, index) => `a_law_${100 + index}`);
  const notice = (index: number, legal_bases: readonly string[]) => ({
    ...decision(index, { correlation_id: "c", metadata: { legal_bases } }),
    event_type: "transparency.notice_shown",
  });
  const events = [
    ...others.map((law, index) => notice(index, [law])),
    notice(400, known),
    decision(500, { correlation_id: "c", metadata: { decision_id: "d" } }),
  ];
  const view = await viewOf(events);
  const laws = [...known, ...others.slice(0, KEPT_LEGAL_BASES_MAX - known.length)];
  const noticed = view.coverage.filter(({ duty, law }) => duty === "notice" && law !== "any");
  expect(noticed.map(({ law }) => law).sort()).toEqual(laws.toSorted());
  expect(new Set(noticed.map(({ in_time }) => in_time))).toEqual(new Set([1]));
  for (const { legal_bases } of view.decisions) expect(JSON.parse(String(legal_bases))).toEqual(laws);
  for (const seed of [1, 2]) expect(await viewOf(events, seed)).toEqual(view);
});
