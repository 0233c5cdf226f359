/** What a bundle about a case, a decision or a person is made of, beside the events that name the person. */
import { setImmediate as otherWork } from "node:timers/promises";
import type { Fact } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { EVIDENCE_RECORDS_MAX } from "../../limits.ts";
import { isOfDecision } from "../../views/cases/entries.ts";
import { type FoundCase, findCase } from "../../views/cases/queries.ts";
import { decisionList, decisionsRegister } from "../../views/cases/registers/decisions.ts";
import { objectionList } from "../../views/cases/registers/objections.ts";
import { obligationsRegister } from "../../views/cases/registers/obligations.ts";
import { findBeside } from "../../views/cases/unlinked.ts";
import { type ListQuestion, listRows } from "../../views/kit/list.ts";
import { type Row, rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { EvidenceFilter } from "./evidence-filter.ts";

export interface Found {
  /** In no order. */
  readonly facts: readonly Fact[];
  /** Rows of the register of decisions. */
  readonly decisions: readonly Row[];
  /** Rows of the register of obligations. */
  readonly obligations: readonly Row[];
  /** The case, if the bundle is about one. */
  readonly case?: FoundCase;
  /** Whether what is left of the decision has expired. */
  readonly hasExpired?: true;
}

type Views = Pick<ViewStore, "load" | "select">;

interface Question {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  readonly rules: Rules;
}

export const isAboutFound = ({ correlationId, decisionId, subjectHash }: EvidenceFilter): boolean =>
  (correlationId ?? decisionId ?? subjectHash) !== undefined;

/** Undefined if there is none. */
export const findParts = async (views: Views, question: Question): Promise<Found | undefined> => {
  const { correlationId, decisionId, subjectHash } = question.filter;
  if (correlationId !== undefined) return ofCase(views, question, correlationId);
  if (decisionId !== undefined) return ofDecision(views, question, decisionId);
  return subjectHash === undefined ? undefined : ofPerson(views, question, subjectHash);
};

const ofCase = async (views: Views, { tenant, rules }: Question, value: string) => {
  const found = await findCase(views, tenant, { kind: "correlation", value, rules });
  if (!found) return undefined;
  const decisions = decisionsRegister.rowsOf(found);
  return { facts: found.is.facts, decisions, obligations: obligationsRegister.rowsOf(found), case: found };
};

/** As `GET /v1/decisions/{decision_id}` shows it. */
const ofDecision = async (
  views: Views,
  { tenant, rules }: Question,
  value: string,
): Promise<Found | undefined> => {
  const found = await findCase(views, tenant, { kind: "decision", value, rules });
  const decision = found?.is.decisions.find(({ id }) => id === value);
  if (!found || !decision)
    return found?.hasExpired ? { facts: [], decisions: [], obligations: [], hasExpired: true } : undefined;
  const decisions = decisionsRegister.rowsOf(found).filter(isOfDecision(decision));
  const [row] = decisions;
  if (!row) throw new Error("a decision has a row");
  const { notices } = await findBeside(views, tenant, { found, decision, row, rules });
  const obligations = obligationsRegister.rowsOf(found).filter(isOfDecision(decision));
  return { facts: [...decision.facts, ...notices], decisions, obligations };
};

/** Rows of a list about any of these assets, or about all. */
export const ofAssets = (assetIds: readonly string[] | undefined): ListQuestion => ({
  where: [],
  anyOf: assetIds?.map((value) => [{ kind: "equals", column: "asset_id", value }]),
});

/** Rows that are read before other requests get a turn: each asks for its case. */
const ROWS_PER_TURN = 20;

/** All decisions about the person, and all objections of the person, whether or not their events name the person. */
const ofPerson = async (views: Views, { tenant, filter, rules }: Question, value: string): Promise<Found> => {
  const facts = new Map<string, Fact>();
  const decisions: Row[] = [];
  const obligations = new Map<string, Row>();
  const question = { ...ofAssets(filter.assetIds), pageRows: ROWS_PER_TURN };
  const where = [{ kind: "equals", column: "subject_hash", value }] as const;
  const take = async (kind: "decision" | "objection", row: Row): Promise<void> => {
    const column = `${kind}_id`;
    const id = rowText(row, column);
    const found = await findCase(views, tenant, { kind, value: id, rules });
    const things = (kind === "decision" ? found?.is.decisions : found?.is.objections) ?? [];
    for (const fact of things.find((each) => each.id === id)?.facts ?? []) facts.set(fact.id, fact);
    for (const each of found ? obligationsRegister.rowsOf(found) : [])
      if (each[column] === id) obligations.set(rowText(each, "obligation_id"), each);
  };
  for await (const row of listRows(views, tenant, decisionList, { ...question, where })) {
    decisions.push(row);
    await take("decision", row);
    // More cannot be in a bundle.
    if (facts.size > EVIDENCE_RECORDS_MAX) break;
  }
  await otherWork();
  for await (const row of listRows(views, tenant, objectionList, { ...question, where })) {
    await take("objection", row);
    if (facts.size > EVIDENCE_RECORDS_MAX) break;
  }
  return { facts: [...facts.values()], decisions, obligations: [...obligations.values()] };
};
