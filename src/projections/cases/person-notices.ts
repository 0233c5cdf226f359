/**
 * Rule 3 of DOMAIN 2b: a notice that names neither a decision nor a correlation belongs to the decisions of the same asset about the same person that are made
 * after it. They stay cases of their own. One row for each asset and person knows the first such notice and the decisions; a decision keeps a copy of the
 * notice in its node, so that its case is whole without this row, and expires without it.
 */
import { hash } from "node:crypto";
import { DECISION_MADE, type Fact, inOrder, isNamelessNotice, type Writable } from "../../cases/fact.ts";
import { factFrom, type StoredFact, storedFact } from "../../cases/stored-fact.ts";
import { PERSON_DECISIONS_MAX } from "../../limits.ts";
import { type Row, type RowOf, rowText, type Table, TEXT } from "../../views/tables.ts";

export const PERSON_NOTICES = {
  name: "person_notices",
  columns: {
    tenant: TEXT,
    /** A hash of asset and person: the row stays while one of its decisions does. */
    person: TEXT,
    /** The first and the last notice, as stored facts without person and statements; empty where there is none. */
    first: TEXT,
    last: TEXT,
    /** JSON array of the ids of the decisions in order; of more than PERSON_DECISIONS_MAX those that arrived first. */
    decisions: TEXT,
  },
  primaryKey: ["tenant", "person"],
  indexes: [],
  isAskedForNewRows: true,
} as const satisfies Table;

export interface Person {
  readonly first: Fact | undefined;
  /** Takes the place of the first one when that has expired and no decision is left. */
  readonly last: Fact | undefined;
  readonly decisions: readonly string[];
}

export const NOBODY: Person = { first: undefined, last: undefined, decisions: [] };

/** The key of the row that an event concerns: that of a decision about a person, or of a nameless notice. */
export const personOf = (fact: Fact): string | undefined => {
  const { asset, subject, type } = fact;
  if (subject === undefined || !(type === DECISION_MADE || isNamelessNotice(fact))) return undefined;
  return hash("sha256", JSON.stringify([asset, subject]), "base64url");
};

export const personFrom = (row: Row | undefined): Person =>
  row === undefined
    ? NOBODY
    : {
        first: noticeFrom(rowText(row, "first")),
        last: noticeFrom(rowText(row, "last")),
        decisions: JSON.parse(rowText(row, "decisions")),
      };

const noticeFrom = (text: string): Fact | undefined => {
  if (text === "") return undefined;
  const stored: StoredFact = JSON.parse(text);
  return factFrom(stored);
};

export const personRow = (
  tenant: string,
  person: string,
  { first, last, decisions }: Person,
): RowOf<typeof PERSON_NOTICES> => ({
  tenant,
  person,
  first: first ? JSON.stringify(storedFact(first)) : "",
  last: last ? JSON.stringify(storedFact(last)) : "",
  decisions: JSON.stringify(decisions),
});

/** What is kept of a notice where it may outlive its event. */
export const bareNotice = ({ at, id, sequence, recorded, type, asset, bases }: Fact): Fact => {
  const notice: Writable<Fact> = { at, id, sequence, recorded, type, asset, links: {}, says: {} };
  if (bases !== undefined) notice.bases = bases;
  return notice;
};

export const isFirstNotice = ({ first }: Person, notice: Fact): boolean =>
  first === undefined || inOrder(notice, first) < 0;

export const withNotice = (person: Person, notice: Fact): Person => {
  const isFirst = isFirstNotice(person, notice);
  const isLast = person.last === undefined || inOrder(person.last, notice) < 0;
  if (!isFirst && !isLast) return person;
  const kept = bareNotice(notice);
  return { ...person, ...(isFirst && { first: kept }), ...(isLast && { last: kept }) };
};

export const withDecision = (person: Person, id: string): Person =>
  person.decisions.includes(id) || person.decisions.length >= PERSON_DECISIONS_MAX
    ? person
    : { ...person, decisions: [...person.decisions, id].sort() };

/** Undefined where nothing is left of it. `isKept`: whether the case of a notice is still there. */
export const withoutDecisions = (
  person: Person,
  gone: ReadonlySet<string>,
  isKept: (notice: Fact) => boolean,
): Person | undefined => {
  const decisions = person.decisions.filter((id) => !gone.has(id));
  if (decisions.length > 0) return { ...person, decisions };
  const [first] = [person.first, person.last].flatMap((notice) => (notice && isKept(notice) ? [notice] : []));
  return first && { first, last: person.last, decisions };
};

/** The notice as a fact of a decision: linked to it, and to nothing else. `alike`: a fact of the same asset and person. */
export const borrowedNotice = (notice: Fact, alike: Fact, decision: string): Fact => {
  const borrowed: Writable<Fact> = { ...notice, asset: alike.asset, links: { decision }, bySubject: true };
  if (alike.subject !== undefined) borrowed.subject = alike.subject;
  return borrowed;
};
