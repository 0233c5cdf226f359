/** Names that hang together one by one make one large case: what is in it must not be looked for by a look at all of it for each thing. */
import { expect, test } from "bun:test";
import type { Fact } from "../../cases/fact.ts";
import { STANDARD_RULES } from "../../obligations/overrides.ts";
import type { Row } from "../../views/tables.ts";
import { caseView } from "./case-view.ts";
import { REGISTERS } from "./registers/registers.ts";

type Said = Pick<Fact, "type" | "links"> & Partial<Pick<Fact, "says" | "subject" | "bases">>;

const idAt = (index: number): string => `evt_${String(index).padStart(6, "0")}`;

/** A second behind each other. */
const factsOf = (said: readonly Said[]): readonly Fact[] =>
  said.map(({ type, links, says = {}, ...more }, index) => ({
    at: new Date(Date.UTC(2026, 10, 20) + index * 1000).toISOString().slice(0, -1),
    id: idAt(index),
    sequence: index + 1,
    type,
    asset: "a",
    links,
    says,
    ...more,
  }));

/** Rows of each register, of which the first and the last must be like this. */
const rowsIn = (facts: readonly Fact[]) => {
  const view = caseView("acme", facts, STANDARD_RULES);
  const rows = new Map(REGISTERS.map((register) => [register.table.name, register.rowsOf(view)]));
  return (table: string, count: number, row: Row): void => {
    const found = rows.get(table) ?? [];
    expect(found).toHaveLength(count);
    for (const some of [found.at(0), found.at(-1)]) expect(some).toMatchObject(row);
  };
};

test("a case of more than a hundred thousand events is as many times the work as they are", () => {
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
      // In a correlation where nothing is made.
      { type: "decision.explanation_provided", links: { correlation: `n${part}`, decision } },
      { type: "watermark_applied", links: { correlation: `n${part}` } },
      { type: "watermark_applied", links: { correlation: `n${part}` } },
      { type: "watermark_applied", links: { correlation: `n${part}` } },
    ];
  };
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  expectRows("decisions", parts, { objections: 1, obligations_open: 0, missing: "[]" });
  expectRows("objections", parts, { state: "resolved" });
  expectRows("human_reviews", parts, { state: "completed", decision_outcome: "denied" });
  expectRows("incidents", parts, { state: "mitigated" });
  expectRows("notices", parts, { acknowledged_at: null });
});

test("so is one of objections to no decision, and of incidents that only their events name", () => {
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

test("so is one of many persons who object to no decision, and are answered without a name", () => {
  const parts = 6000;
  const partOf = (part: number): readonly Said[] => {
    const [subject, correlation] = [`p${part}`, `c${Math.floor(part / 50)}`];
    return [
      {
        type: "objection.received",
        links: { correlation, objection: `o${part}` },
        says: { objection_type: "explanation_request" },
        subject,
      },
      // In a correlation where nobody objected.
      { type: "objection.acknowledged", links: { correlation: `x${part}` } },
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
  // Looked at in pairs it took 51 s.
}, 10_000);

test("so is one whose events name a legal basis of their own each", () => {
  const parts = 600;
  const partOf = (part: number): readonly Said[] => [
    { type: "objection.received", links: { correlation: "c", objection: `o${part}` } },
    { type: "ai_inference", links: { correlation: "c" }, bases: [`law_${part}`] },
    { type: "ai_inference", links: { correlation: "c" }, bases: ["gdpr_art_22"] },
  ];
  const expectRows = rowsIn(factsOf(Array.from({ length: parts }, (_, part) => partOf(part)).flat()));
  expectRows("objections", parts, { state: "received" });
  // PIPA, GDPR and the operator's own.
  expectRows("obligations", 3 * parts, { status: "open" });
  // Where the names were put together for each clock it took 43 s.
}, 10_000);

test("an objection that is received again is in the registers what its clock takes it for, whatever was said of it the time before", () => {
  const links = { decision: "d", objection: "o" };
  const expectRows = rowsIn(
    factsOf([
      { type: "objection.received", links, says: { objection_type: "explanation_request" } },
      { type: "objection.resolved", links, says: { objection_type: "appeal" } },
      { type: "objection.received", links },
    ]),
  );
  // The first one, and the one to acknowledge it.
  expectRows("obligations", 4, {
    obligation_id: expect.stringMatching(/^(PIPA-EXPL:evt_000000|OBJ-ACK:evt_000002)$/),
  });
  expectRows("objections", 1, { objection_type: "explanation_request", state: "received" });
  expectRows("decisions", 1, { missing: '["decision","explanation","objection_resolution"]' });
});
