/**
 * Rule 3 of DOMAIN 2b: a notice that names nothing belongs to the decisions of the same asset about the same person that are made after it. One row for each
 * asset and person knows the first such notice and the decisions; a decision keeps a copy of the notice in its node, so that its case is whole without this
 * row. Until there is such a decision, the obligation of the first notice waits: its own node is marked.
 */
import { hash } from "node:crypto";
import { DECISION_MADE, type Fact, inOrder, isNamelessNotice, type Writable } from "../../law/cases/fact.ts";
import { PERSON_DECISIONS_MAX } from "../../limits.ts";
import { type Row, type RowOf, rowText, type Table, TEXT } from "../store/tables.ts";

export const PERSON_NOTICES = {
  name: "person_notices",
  columns: {
    tenant: TEXT,
    person: TEXT,
    /** The first notice, as a fact without person and statements; empty where there is none. */
    first: TEXT,
    decisions: TEXT,
    /** The time of the last decision, whether it is among those or not; empty where there was none. */
    decided: TEXT,
  },
  primaryKey: ["tenant", "person"],
  indexes: [],
} as const satisfies Table;

export interface Person {
  readonly first: Fact | undefined;
  readonly decisions: readonly string[];
  readonly decided: string;
}

const NOBODY: Person = { first: undefined, decisions: [], decided: "" };

/** The key of the row that an event concerns: that of a decision about a person, or of a nameless notice. */
export const personOf = (fact: Fact): string | undefined => {
  const { asset, subject, type } = fact;
  if (subject === undefined || !(type === DECISION_MADE || isNamelessNotice(fact))) return undefined;
  return hash("sha256", JSON.stringify([asset, subject]), "base64url");
};

export const personFrom = (row: Row | undefined): Person =>
  row
    ? {
        first: noticeFrom(rowText(row, "first")),
        decisions: JSON.parse(rowText(row, "decisions")),
        decided: rowText(row, "decided"),
      }
    : NOBODY;

const noticeFrom = (text: string): Fact | undefined => (text === "" ? undefined : JSON.parse(text));

export const personRow = (
  tenant: string,
  person: string,
  { first, decisions, decided }: Person,
): RowOf<typeof PERSON_NOTICES> => ({
  tenant,
  person,
  first: first ? JSON.stringify(first) : "",
  decisions: JSON.stringify(decisions),
  decided,
});

const bareNotice = ({ at, id, sequence, recorded, type, asset, bases }: Fact): Fact => {
  const notice: Writable<Fact> = { at, id, sequence, recorded, type, asset, links: {}, says: {} };
  if (bases !== undefined) notice.bases = bases;
  return notice;
};

export const isFirstNotice = ({ first }: Person, notice: Fact): boolean =>
  first === undefined || inOrder(notice, first) < 0;

/** The notice that waits for a decision. One without legal bases starts no obligation, and mostly they have none. */
export const awaitedOf = ({ first, decided }: Person): Fact | undefined =>
  first?.bases !== undefined && decided < first.at ? first : undefined;

export const personWith = (person: Person, fact: Fact): Person => {
  const { decision } = fact.links;
  return decision === undefined ? withNotice(person, fact) : withDecision(person, decision, fact.at);
};

const withNotice = (person: Person, notice: Fact): Person =>
  isFirstNotice(person, notice) ? { ...person, first: bareNotice(notice) } : person;

const withDecision = (person: Person, id: string, at: string): Person => {
  const isLeftOut = person.decisions.includes(id) || person.decisions.length >= PERSON_DECISIONS_MAX;
  if (isLeftOut && at <= person.decided) return person;
  const decisions = isLeftOut ? person.decisions : [...person.decisions, id].sort();
  return { ...person, decisions, decided: at > person.decided ? at : person.decided };
};

/** The notice as a fact of a decision: linked to it, and to nothing else. `alike`: a fact of the same asset and person. */
export const borrowedNotice = (notice: Fact, alike: Fact, decision: string): Fact => {
  const borrowed: Writable<Fact> = { ...notice, asset: alike.asset, links: { decision }, bySubject: true };
  if (alike.subject !== undefined) borrowed.subject = alike.subject;
  return borrowed;
};
