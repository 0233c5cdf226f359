/** Names that connect events one by one make one large case. Finding something in it must not take a look at all of it each time. */
import { expect, test } from "bun:test";
import type { Fact } from "../../law/cases/fact.ts";
import { STANDARD_RULES } from "../../law/obligations/overrides.ts";
import type { Row } from "../store/tables.ts";
import { caseView } from "./registers/register.ts";
import { REGISTERS } from "./registers/registers.ts";

type Said = Pick<Fact, "type" | "links"> & Partial<Pick<Fact, "says" | "subject" | "bases">>;

const idAt = (index: number): string => `evt_${String(index).padStart(6, "0")}`;

/** One second apart. */
const factsOf = (said: readonly Said[]): readonly Fact[] =>
  said.map(({ type, links, says = {}, ...more }, index) => ({
    at: new Date(Date.UTC(2026, 10, 20) + index * 1000).toISOString().slice(0, -1),
    id: idAt(index),
    sequence: index + 1,
    recorded: "2026-12-01T00:00:00",
    type,
    asset: "a",
    links,
    says,
    ...more,
  }));

/** Checks that a register has this many rows and that the first and the last are like this one. */
const rowsIn = (facts: readonly Fact[]) => {
  const view = caseView("acme", facts, STANDARD_RULES);
  const rows = new Map(REGISTERS.map((register) => [register.table.name, register.rowsOf(view)]));
  return (table: string, count: number, row: Row): void => {
    const found = rows.get(table) ?? [];
    expect(found).toHaveLength(count);
    for (const some of [found.at(0), found.at(-1)]) expect(some).toMatchObject(row);
  };
};

test("the work for a case of more than a hundred thousand events is proportional to their number", () => {
  const parts = 10_000;
  const partOf = (part: number): readonly Said[] => {
    const [correlation, decision, incident] = [`c${part}`, `d${part}`, `i${part}`];
    return [
      { type: "transparency.notice_shown", links: { decision } },
      { type: "transparency.notice_dismissed", links: { decision } },
      {
        type: "decision.automated_decision_made",
        links: { correlation, decision },
        says: { outcome: "denied" },
      },
      { type: "objection.received", links: { correlation, decision, objection: `o${part}` } },
      { type: "objection.resolved", links: { correlation } },
      { type: "decision.human_review_triggered", links: { decision } },
      { type: "decision.human_review_completed", links: { decision } },
      { type: "incident.detected", links: { incident } },
      { type: "incident.mitigated", links: { incident } },
      // In a correlation without decisions.
      { type: "decision.explanation_provided", links: { correlation: `n${part}`, decision } },
      { type: "watermark_applied", links: { correlation: `n${part}` } },
      { type: "watermark_applied", links: { correlation: `n${part}` } },
      { type: "watermark_applied", links: { correlation: `n${part}` } },
    ];
  };
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  expectRows("decisions", parts, { objections: 1, obligations_open: 0, steps: "[]" });
  expectRows("objections", parts, { state: "resolved" });
  expectRows("human_reviews", parts, { state: "completed", decision_outcome: "denied" });
  expectRows("incidents", parts, { state: "mitigated" });
  expectRows("notices", parts, { acknowledged_at: null });
});

test("the work is also proportional if the objections are to no decision and only their events name the incidents", () => {
  const parts = 13_000;
  const partOf = (part: number): readonly Said[] => {
    const objection = `o${part}`;
    const detected = idAt(5 * part + 3);
    return [
      { type: "objection.received", links: { objection }, says: { objection_type: "explanation_request" } },
      { type: "decision.explanation_provided", links: { objection } },
      { type: "objection.resolved", links: { objection } },
      { type: "incident.detected", links: { incident: `event:${detected}` } },
      { type: "incident.mitigated", links: { incident: detected } },
    ];
  };
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  expectRows("objections", parts, { state: "resolved", open_due_at: null });
  expectRows("incidents", parts, { state: "mitigated" });
});

test("the work is also proportional if many objections to no decision stand under correlations of their own", () => {
  const parts = 6000;
  const partOf = (part: number): readonly Said[] => {
    const [subject, correlation] = [`p${part}`, `c${part}`];
    return [
      {
        type: "objection.received",
        links: { correlation, objection: `o${part}` },
        says: { objection_type: "explanation_request" },
        subject,
      },
      { type: "objection.acknowledged", links: { correlation } },
      { type: "decision.explanation_provided", links: { correlation }, subject },
      { type: "objection.resolved", links: { correlation }, subject },
      { type: "decision.human_review_triggered", links: { correlation } },
      { type: "decision.human_review_completed", links: { correlation } },
    ];
  };
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  expectRows("objections", parts, {
    state: "resolved",
    open_due_at: null,
    acknowledged_at: expect.any(String),
  });
  expectRows("human_reviews", parts, { state: "completed" });
});

test("the work is also proportional if thousands of objections share a correlation", () => {
  const parts = 6000;
  const partOf = (part: number): readonly Said[] => [
    { type: "objection.received", links: { correlation: "c", objection: `o${part}` } },
    { type: "objection.acknowledged", links: { correlation: "c" } },
    { type: "decision.explanation_provided", links: { correlation: "c" } },
    { type: "objection.resolved", links: { correlation: "c", decision: `d${part}` } },
  ];
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  // Each step is an orphan: under the correlation of a crowd nothing tells whose it is.
  expectRows("objections", 3 * parts, { acknowledged_at: null });
});

test("the work is also proportional if each event names a different legal basis", () => {
  const parts = 600;
  const partOf = (part: number): readonly Said[] => [
    { type: "objection.received", links: { decision: "d", objection: `o${part}` } },
    { type: "ai_inference", links: { decision: "d" }, bases: [`law_${part}`] },
    { type: "ai_inference", links: { decision: "d" }, bases: ["gdpr_art_22"] },
  ];
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  expectRows("objections", parts, { state: "received" });
  // The duties of PIPA, of GDPR and of the operator's own policy.
  expectRows("obligations", 3 * parts, { status: "open" });
  // This took 43 s when the names were collected for each clock.
});

test("the registers show an objection that is received again as its clock sees it, whatever was said of it the time before", () => {
  const links = { decision: "d", objection: "o" };
  const expectRows = rowsIn(
    factsOf([
      { type: "objection.received", links, says: { objection_type: "explanation_request" } },
      { type: "objection.resolved", links, says: { objection_type: "appeal" } },
      { type: "objection.received", links },
    ]),
  );
  // The clock of the first receipt, and the one to acknowledge the second.
  expectRows("obligations", 4, {
    obligation_id: expect.stringMatching(/^(PIPA-EXPL:evt_000000|OBJ-ACK:evt_000002)$/),
  });
  expectRows("objections", 1, { objection_type: "explanation_request", state: "received" });
  expectRows("decisions", 1, {
    steps:
      '[["decision",null],["explanation","2026-12-20T14:59:59"],["objection_resolution","2026-12-20T14:59:59"]]',
  });
});
