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
import { listRows } from "../../views/kit/list.ts";
import type { Condition } from "../../views/store/conditions.ts";
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
  readonly case: FoundCase | undefined;
  /** Whether what is left of the decision has expired. */
  readonly hasExpired: boolean;
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

const ofCase = async (
  views: Views,
  { tenant, rules }: Question,
  value: string,
): Promise<Found | undefined> => {
  const found = await findCase(views, tenant, { kind: "correlation", value, rules });
  return (
    found && {
      facts: found.is.facts,
      decisions: decisionsRegister.rowsOf(found),
      obligations: obligationsRegister.rowsOf(found),
      case: found,
      hasExpired: false,
    }
  );
};

const NOTHING = { facts: [], decisions: [], obligations: [], case: undefined } as const;

/** As `GET /v1/decisions/{decision_id}` shows it. */
const ofDecision = async (
  views: Views,
  { tenant, rules }: Question,
  value: string,
): Promise<Found | undefined> => {
  const found = await findCase(views, tenant, { kind: "decision", value, rules });
  const decision = found?.is.decisions.find(({ id }) => id === value);
  if (!found || !decision) return found?.hasExpired ? { ...NOTHING, hasExpired: true } : undefined;
  const decisions = decisionsRegister.rowsOf(found).filter(isOfDecision(decision));
  const [row] = decisions;
  if (!row) throw new Error("a decision has a row");
  const { notices } = await findBeside(views, tenant, { found, decision, row, rules });
  return {
    facts: [...decision.facts, ...notices],
    decisions,
    obligations: obligationsRegister.rowsOf(found).filter(isOfDecision(decision)),
    case: undefined,
    hasExpired: false,
  };
};

/** Rows that are read before other requests get a turn: each asks for its case. */
const ROWS_PER_TURN = 20;

/** All decisions about the person, and all objections of the person, whether or not their events name the person. */
const ofPerson = async (
  views: Views,
  { tenant, filter, rules }: Question,
  subject: string,
): Promise<Found> => {
  const facts = new Map<string, Fact>();
  const decisions: Row[] = [];
  const obligations = new Map<string, Row>();
  const about: Condition = { kind: "equals", column: "subject_hash", value: subject };
  const anyOf = filter.assetIds?.map((value): readonly Condition[] => [
    { kind: "equals", column: "asset_id", value },
  ]);
  for (const list of [decisionList, objectionList]) {
    const isDecision = list === decisionList;
    const kind = isDecision ? "decision" : "objection";
    const column = `${kind}_id`;
    for await (const row of listRows(views, tenant, list, {
      where: [about],
      anyOf,
      pageRows: ROWS_PER_TURN,
    })) {
      const value = rowText(row, column);
      if (isDecision) decisions.push(row);
      const found = await findCase(views, tenant, { kind, value, rules });
      const things = isDecision ? found?.is.decisions : found?.is.objections;
      for (const fact of things?.find(({ id }) => id === value)?.facts ?? []) facts.set(fact.id, fact);
      for (const duty of found ? obligationsRegister.rowsOf(found) : [])
        if (duty[column] === value) obligations.set(rowText(duty, "obligation_id"), duty);
      // More cannot be in a bundle.
      if (facts.size > EVIDENCE_RECORDS_MAX) break;
    }
    await otherWork();
  }
  return {
    ...NOTHING,
    facts: [...facts.values()],
    decisions,
    obligations: [...obligations.values()],
    hasExpired: false,
  };
};
