/**
 * Rule 3 of DOMAIN 2b: a notice that names neither a decision nor a correlation belongs to the decisions of the same asset about the same person that are made
 * after it. They stay cases of their own. One row for each asset and person knows the first such notice and the decisions; a decision keeps a copy of the
 * notice in its node, so that its case is whole without this row, and expires without it. Until there is such a decision, the first notice is marked in its
 * own node: its obligation waits. A later notice waits for nothing, because no decision will be linked to it.
 */
import { hash } from "node:crypto";
import { DECISION_MADE, type Fact, inOrder, isNamelessNotice, type Writable } from "../../law/cases/fact.ts";
import { factFrom, type StoredFact, storedFact } from "../../law/cases/stored-fact.ts";
import { PERSON_DECISIONS_MAX } from "../../limits.ts";
import { type Row, type RowOf, rowText, type Table, TEXT } from "../store/tables.ts";

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
    /** The time of the last decision, whether it is among those or not; empty where there was none. */
    decided: TEXT,
  },
  primaryKey: ["tenant", "person"],
  indexes: [],
} as const satisfies Table;

export interface Person {
  readonly first: Fact | undefined;
  /** Takes the place of the first one when that has expired and no decision is left. */
  readonly last: Fact | undefined;
  readonly decisions: readonly string[];
  /** When the last decision was made, also after it has expired; "" for never. */
  readonly decided: string;
}

export const NOBODY: Person = { first: undefined, last: undefined, decisions: [], decided: "" };

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
        decided: rowText(row, "decided"),
      };

const noticeFrom = (text: string): Fact | undefined => {
  if (text === "") return undefined;
  const stored: StoredFact = JSON.parse(text);
  return factFrom(stored);
};

export const personRow = (
  tenant: string,
  person: string,
  { first, last, decisions, decided }: Person,
): RowOf<typeof PERSON_NOTICES> => ({
  tenant,
  person,
  first: first ? JSON.stringify(storedFact(first)) : "",
  last: last ? JSON.stringify(storedFact(last)) : "",
  decisions: JSON.stringify(decisions),
  decided,
});

/** What is kept of a notice where it may outlive its event. */
export const bareNotice = ({ at, id, sequence, recorded, type, asset, bases }: Fact): Fact => {
  const notice: Writable<Fact> = { at, id, sequence, recorded, type, asset, links: {}, says: {} };
  if (bases !== undefined) notice.bases = bases;
  return notice;
};

export const isFirstNotice = ({ first }: Person, notice: Fact): boolean =>
  first === undefined || inOrder(notice, first) < 0;

/** The notice that waits for a decision. One without legal bases starts no obligation, and mostly they have none. */
export const awaitedOf = ({ first, decided }: Person): Fact | undefined =>
  first?.bases !== undefined && decided < first.at ? first : undefined;

/** `fact` makes a decision, or is a notice without a name. */
export const personWith = (person: Person, fact: Fact): Person => {
  const { decision } = fact.links;
  return decision === undefined ? withNotice(person, fact) : withDecision(person, decision, fact.at);
};

const withNotice = (person: Person, notice: Fact): Person => {
  const isFirst = isFirstNotice(person, notice);
  const isLast = person.last === undefined || inOrder(person.last, notice) < 0;
  if (!isFirst && !isLast) return person;
  const kept = bareNotice(notice);
  return { ...person, ...(isFirst && { first: kept }), ...(isLast && { last: kept }) };
};

const withDecision = (person: Person, id: string, at: string): Person => {
  const isLeftOut = person.decisions.includes(id) || person.decisions.length >= PERSON_DECISIONS_MAX;
  if (isLeftOut && at <= person.decided) return person;
  const decisions = isLeftOut ? person.decisions : [...person.decisions, id].sort();
  return { ...person, decisions, decided: at > person.decided ? at : person.decided };
};

/** Undefined where nothing is left of it. `isKept`: whether the case of a notice is still there. */
export const withoutDecisions = (
  person: Person,
  gone: ReadonlySet<string>,
  isKept: (notice: Fact) => boolean,
): Person | undefined => {
  const decisions = person.decisions.filter((id) => !gone.has(id));
  if (decisions.length > 0) return { ...person, decisions };
  const [first] = [person.first, person.last].flatMap((notice) => (notice && isKept(notice) ? [notice] : []));
  return first && { ...person, first, decisions };
};

/** The notice as a fact of a decision: linked to it, and to nothing else. `alike`: a fact of the same asset and person. */
export const borrowedNotice = (notice: Fact, alike: Fact, decision: string): Fact => {
  const borrowed: Writable<Fact> = { ...notice, asset: alike.asset, links: { decision }, bySubject: true };
  if (alike.subject !== undefined) borrowed.subject = alike.subject;
  return borrowed;
};
