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

const rowsIn = (facts: readonly Fact[]) => {
  const view = caseView("acme", facts, STANDARD_RULES);
  return new Map(REGISTERS.map(({ table, rowsOf }) => [table.name, rowsOf(view)]));
};

type Expected = readonly [table: string, count: number, row: Row];

/** Each register has this many rows, and the first and the last are like this one. */
const expectRows = (rows: ReturnType<typeof rowsIn>, ...expected: readonly Expected[]): void => {
  for (const [table, count, row] of expected) {
    const found = rows.get(table) ?? [];
    expect(found).toHaveLength(count);
    for (const some of [found.at(0), found.at(-1)]) expect(some).toMatchObject(row);
  }
};

const EXPLAIN = { objection_type: "explanation_request" };

const partOf = (part: number): readonly Said[] => {
  const [correlation, decision, alone] = [`c${part}`, `d${part}`, `n${part}`];
  const detected = idAt(16 * part + 14);
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
    // In a correlation without decisions.
    { type: "decision.explanation_provided", links: { correlation: alone, decision } },
    { type: "watermark_applied", links: { correlation: alone } },
    // An objection to no decision.
    { type: "objection.received", links: { correlation: `x${part}`, objection: `x${part}` }, says: EXPLAIN },
    { type: "objection.acknowledged", links: { correlation: `x${part}` } },
    { type: "decision.explanation_provided", links: { correlation: `x${part}` } },
    { type: "objection.resolved", links: { objection: `x${part}` } },
    { type: "watermark_applied", links: { correlation: alone } },
    { type: "incident.detected", links: { incident: `event:${detected}` } },
    { type: "incident.mitigated", links: { incident: detected } },
  ];
};

test.each<[string, number, (part: number) => readonly Said[], (parts: number) => readonly Expected[]]>([
  [
    "of tens of thousands of events",
    3000,
    partOf,
    (parts) => [
      ["decisions", parts, { objections: 1, obligations_open: 0, steps: "[]" }],
      ["objections", 2 * parts, { state: "resolved" }],
      ["human_reviews", parts, { state: "completed", decision_outcome: "denied" }],
      ["incidents", parts, { state: "mitigated" }],
      ["notices", parts, { acknowledged_at: null }],
    ],
  ],
  [
    "in which thousands of objections share a correlation",
    3000,
    (part) => [
      { type: "objection.received", links: { correlation: "c", objection: `o${part}` } },
      { type: "objection.acknowledged", links: { correlation: "c" } },
      { type: "decision.explanation_provided", links: { correlation: "c" } },
      { type: "objection.resolved", links: { correlation: "c", decision: `d${part}` } },
    ],
    // Each step is an orphan: under the correlation of a crowd nothing tells whose it is.
    (parts) => [["objections", 3 * parts, { acknowledged_at: null }]],
  ],
  [
    "in which each event names a different legal basis",
    600,
    (part) => [
      { type: "objection.received", links: { decision: "d", objection: `o${part}` } },
      { type: "ai_inference", links: { decision: "d" }, bases: [`law_${part}`] },
      { type: "ai_inference", links: { decision: "d" }, bases: ["gdpr_art_22"] },
    ],
    // The duties of PIPA, of GDPR and of the operator's own policy. This took 43 s when the names were collected for each clock.
    (parts) => [
      ["objections", parts, { state: "received" }],
      ["obligations", 3 * parts, { status: "open" }],
    ],
  ],
])("the work for a case %s is proportional to their number", (_, parts, saidIn, expected) => {
  const facts = factsOf(Array.from({ length: parts }, (_, part) => saidIn(part)).flat());
  expectRows(rowsIn(facts), ...expected(parts));
});

test("the registers show an objection that is received again as its clock sees it, whatever was said of it the time before", () => {
  const links = { decision: "d", objection: "o" };
  const rows = rowsIn(
    factsOf([
      { type: "objection.received", links, says: { objection_type: "explanation_request" } },
      { type: "objection.resolved", links, says: { objection_type: "appeal" } },
      { type: "objection.received", links },
    ]),
  );
  // The clock of the first receipt, and the one to acknowledge the second.
  const steps =
    '[["decision",null],["explanation","2026-12-20T14:59:59"],["objection_resolution","2026-12-20T14:59:59"]]';
  const obligation_id = expect.stringMatching(/^(PIPA-EXPL:evt_000000|OBJ-ACK:evt_000002)$/);
  expectRows(
    rows,
    ["obligations", 4, { obligation_id }],
    ["objections", 1, { objection_type: "explanation_request", state: "received" }],
    ["decisions", 1, { steps }],
  );
});
