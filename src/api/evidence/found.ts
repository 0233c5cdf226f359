/** What a bundle about a case, decision or person contains, beside the events that name the person. */
import { setImmediate as otherWork } from "node:timers/promises";
import type { Fact } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { EVIDENCE_RECORDS_MAX } from "../../limits.ts";
import { decisionIn, findBeside } from "../../views/cases/entries.ts";
import { type FoundCase, findCase } from "../../views/cases/queries.ts";
import { decisionList, decisionsRegister } from "../../views/cases/registers/decisions.ts";
import { objectionList } from "../../views/cases/registers/objections.ts";
import { obligationsRegister } from "../../views/cases/registers/obligations.ts";
import { type ListQuestion, listRows } from "../../views/kit/list.ts";
import { type Row, rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { valuesText } from "../http/parameters.ts";

/** What a bundle is about; empty for all events of the tenant. */
export interface EvidenceFilter {
  /** Any of these. */
  readonly assetIds?: readonly string[] | undefined;
  readonly correlationId?: string | undefined;
  readonly decisionId?: string | undefined;
  /** In lower case. */
  readonly subjectHash?: string | undefined;
  /** RFC 3339, UTC. Events whose own time is at or after this. */
  readonly from?: string | undefined;
  /** Events whose own time is before this. */
  readonly to?: string | undefined;
}

/** By the names of the request parameters, as a request writes them. */
export const filterMembers = (filter: EvidenceFilter): Readonly<Record<string, string>> => {
  const { assetIds, correlationId, decisionId, subjectHash, from, to } = filter;
  const asset_id = assetIds && valuesText(assetIds);
  const names = {
    asset_id,
    correlation_id: correlationId,
    decision_id: decisionId,
    subject_hash: subjectHash,
  };
  const asked = Object.entries({ ...names, from, to });
  return Object.fromEntries(asked.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
};

export interface Found {
  /** In no order. */
  readonly facts: readonly Fact[];
  /** Rows of the register of decisions. */
  readonly decisions: readonly Row[];
  /** Rows of the register of obligations. */
  readonly obligations: readonly Row[];
  /** The case, if the bundle is about one. */
  readonly case?: FoundCase;
  /** Why there is no bundle. */
  readonly refusal?: "case_expired" | "case_shared" | undefined;
}

type Views = Pick<ViewStore, "load" | "select">;

export interface FoundQuestion {
  readonly tenant: string;
  readonly filter: EvidenceFilter;
  readonly rules: Rules;
}

export const isAboutFound = ({ correlationId, decisionId, subjectHash }: EvidenceFilter): boolean =>
  (correlationId ?? decisionId ?? subjectHash) !== undefined;

/** Undefined if there is none. */
export const findParts = async (views: Views, question: FoundQuestion): Promise<Found | undefined> => {
  const { correlationId, decisionId, subjectHash } = question.filter;
  if (correlationId !== undefined) return ofCase(views, question, correlationId);
  if (decisionId !== undefined) return ofDecision(views, question, decisionId);
  return subjectHash === undefined ? undefined : ofPerson(views, question, subjectHash);
};

const ofCase = async (
  views: Views,
  { tenant, rules }: FoundQuestion,
  value: string,
): Promise<Found | undefined> => {
  const found = await findCase(views, tenant, { kind: "correlation", value, rules });
  return (
    found && {
      facts: found.is.facts,
      decisions: decisionsRegister.rowsOf(found),
      obligations: obligationsRegister.rowsOf(found),
      case: found,
      refusal: found.isShared ? "case_shared" : found.hasExpired ? "case_expired" : undefined,
    }
  );
};

/** As `GET /v1/decisions/{decision_id}` shows it. */
const ofDecision = async (
  views: Views,
  { tenant, rules }: FoundQuestion,
  value: string,
): Promise<Found | undefined> => {
  const found = await findCase(views, tenant, { kind: "decision", value, rules });
  const known = decisionIn(found, value);
  if (found?.hasExpired) return { facts: [], decisions: [], obligations: [], refusal: "case_expired" };
  if (!found || !known) return undefined;
  const { decision, row } = known;
  const { notices } = await findBeside(views, tenant, { found, decision, row, rules });
  const obligations = obligationsRegister.rowsOf(found).filter((each) => each.decision_id === value);
  return { facts: [...decision.facts, ...notices], decisions: [row], obligations };
};

/** Rows of a list about any of these assets, or about all. */
export const ofAssets = (assetIds: readonly string[] | undefined): ListQuestion => ({
  where: [],
  anyOf: assetIds?.map((value) => [{ kind: "equals", column: "asset_id", value }]),
});

/** Rows read before other requests get a turn: each reads its case. */
const ROWS_PER_TURN = 20;

/** All decisions about the person, and all objections of the person, whether or not their events name the person. */
const ofPerson = async (
  views: Views,
  { tenant, filter, rules }: FoundQuestion,
  value: string,
): Promise<Found> => {
  const facts = new Map<string, Fact>();
  const decisions: Row[] = [];
  const obligations = new Map<string, Row>();
  const where = [{ kind: "equals", column: "subject_hash", value }] as const;
  const question = { ...ofAssets(filter.assetIds), where, pageRows: ROWS_PER_TURN };
  for (const kind of ["decision", "objection"] as const) {
    await otherWork();
    const column = `${kind}_id`;
    for await (const row of listRows(views, tenant, LISTS[kind], question)) {
      if (kind === "decision") decisions.push(row);
      const id = rowText(row, column);
      const found = await findCase(views, tenant, { kind, value: id, rules });
      const things = (kind === "decision" ? found?.is.decisions : found?.is.objections) ?? [];
      for (const fact of things.find((each) => each.id === id)?.facts ?? []) facts.set(fact.id, fact);
      for (const each of found ? obligationsRegister.rowsOf(found) : [])
        if (each[column] === id) obligations.set(rowText(each, "obligation_id"), each);
      // A bundle cannot hold more.
      if (facts.size > EVIDENCE_RECORDS_MAX) break;
    }
  }
  return { facts: [...facts.values()], decisions, obligations: [...obligations.values()] };
};

const LISTS = { decision: decisionList, objection: objectionList } as const;
