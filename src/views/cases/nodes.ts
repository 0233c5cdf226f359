/** The rows of CASE_NODES and PERSON_NOTICES as the rules see them, and how they grow: by the set of events alone, also where a limit is reached. */

import { hash } from "node:crypto";
import { followedBy, isShownBefore, standsAlone } from "../../law/cases/case.ts";
import {
  countWhile,
  DECISION_MADE,
  type Fact,
  INCIDENT_DETECTED,
  inOrder,
  isNamelessNotice,
  isNotice,
  type LinkKind,
  type NamedKind,
  nameByEvent,
  OBJECTION_RECEIVED,
  renamed,
  type Writable,
} from "../../law/cases/fact.ts";
import { CASE_FACTS_MAX, CASE_NEIGHBOURS_MAX, PERSON_DECISIONS_MAX } from "../../limits.ts";
import { type Row, type RowOf, rowText, type Table, TEXT } from "../store/tables.ts";
import type { CASE_NODES } from "./tables.ts";

export interface Node {
  readonly facts: readonly Fact[];
  /** Notices without a name that a decision has by rule 3 of DOMAIN 2b (PERSON_NOTICES). They count nowhere else. */
  readonly borrowed: readonly Fact[];
  /** How many events refer to it in the first place, including those beyond the limit. */
  readonly events: number;
  /** How many of these have expired. Waivers are among both, because they keep no case. */
  readonly expired: number;
  /** The times of the first and the last event beyond the limit; empty if there are none. */
  readonly others: readonly string[];
  /** In order, at most CASE_NEIGHBOURS_MAX and one more. */
  readonly neighbours: readonly string[];
}

export const EMPTY: Node = {
  facts: [],
  borrowed: [],
  events: 0,
  expired: 0,
  others: [],
  neighbours: [],
};

export const nodeName = (kind: LinkKind, value: string): string => `${kind}:${value}`;

export const eventNode = (id: string): string => `event:${id}`;

/** From the kind of name that says most about where an event belongs to the one that says least. */
const KINDS: readonly LinkKind[] = ["decision", "objection", "incident", "correlation"];

/**
 * The names an event refers to, the most specific first: that one keeps its fact. A notice that names nothing is a case of its own. An event that continues
 * an objection or an incident without naming it may stand in a register under its own id; whatever refers to it by that id belongs to its case.
 */
export const nodesOf = (fact: Fact): readonly string[] => {
  const { links } = fact;
  const names: string[] = [];
  for (const kind of KINDS) if (links[kind] !== undefined) names.push(nodeName(kind, links[kind]));
  const followed = followedBy(fact);
  if (followed !== undefined) names.push(nodeName(followed, fact.id));
  return names.length === 0 && standsAlone(fact) ? [eventNode(fact.id)] : names;
};

/** Every event has such a row, so what most of them leave empty is left out. */
export const nodeFrom = (row: Row | undefined): Node =>
  row ? { ...EMPTY, ...JSON.parse(rowText(row, "state")) } : EMPTY;

export const rowOf = (tenant: string, node: string, state: Node): RowOf<typeof CASE_NODES> => {
  const { facts, events, neighbours, borrowed, expired, others } = state;
  const isPlain = borrowed.length === 0 && expired === 0 && others.length === 0;
  return { tenant, node, state: JSON.stringify(isPlain ? { facts, events, neighbours } : state) };
};

/** Where there are too many facts, the most important ones stay, and of these the earliest, in whatever order they arrived. */
export const withFact = (node: Node, fact: Fact, hasExpired = false): Node => {
  const counted = { ...node, events: node.events + 1, expired: node.expired + (hasExpired ? 1 : 0) };
  const place = countWhile(node.facts, (known) => inOrder(known, fact) < 0);
  const facts = node.facts.toSpliced(place, 0, fact);
  if (facts.length <= CASE_FACTS_MAX) return { ...counted, facts };
  const least = leastOf(facts) ?? fact;
  const times = [...node.others, least.at].sort();
  const others = [times.at(0) ?? "", times.at(-1) ?? ""];
  const left = least.id === fact.id ? node.facts : facts.filter(({ id }) => id !== least.id);
  return { ...counted, facts: left, others };
};

/** `ordered`: as they happened. Without the first notice or the first making of a decision a case would say what is not true, so these stay. */
const leastOf = (ordered: readonly Fact[]): Fact | undefined => {
  const firsts = [ordered.find(isNotice), ordered.find(isMaking)];
  let least: Fact | undefined;
  for (const fact of ordered)
    if (!firsts.includes(fact) && (least === undefined || weightOf(fact) >= weightOf(least))) least = fact;
  return least;
};

const isMaking = ({ type }: Pick<Fact, "type">): boolean => type === DECISION_MADE;

/** What clocks and registers use. A waiver is a word of the operator about an obligation, so it is never dropped either. */
const ANSWERS = /^(decision|objection|incident|system)\.|^(objection|human_review)$/;

/** Which facts say most about a case: the lower, the more important. No register reads the others from a case. */
export const weightOf = (fact: Pick<Fact, "type">): number => {
  if (isMaking(fact)) return 2;
  if (isNotice(fact)) return 1;
  return ANSWERS.test(fact.type) ? 0 : 3;
};

const isMadeAfter =
  (notice: Fact) =>
  (fact: Fact): boolean =>
    isMaking(fact) && isShownBefore(notice, fact);

const borrowedBy = ({ facts, borrowed }: Pick<Node, "facts" | "borrowed">): readonly Fact[] =>
  borrowed.filter((notice) => facts.some(isMadeAfter(notice)));

/** Of the notices of one asset and person the first counts. */
export const withBorrowed = (node: Node, notice: Fact): Node => {
  if (!node.facts.some(isMadeAfter(notice))) return node;
  const { asset, subject } = notice;
  const isOfSame = (other: Fact): boolean => other.asset === asset && other.subject === subject;
  const known = node.borrowed.find(isOfSame);
  if (known && inOrder(known, notice) <= 0) return node;
  return { ...node, borrowed: [...node.borrowed.filter((other) => !isOfSame(other)), notice].sort(inOrder) };
};

/** The node of a nameless notice, with or without the mark that no decision was made after it. */
export const withAwaiting = (node: Node, isAwaiting: boolean): Node => {
  const isToChange = (fact: Fact): boolean =>
    isNamelessNotice(fact) && (fact.awaitsDecision === true) !== isAwaiting;
  if (!node.facts.some(isToChange)) return node;
  const facts = node.facts.map((fact): Fact => {
    if (!isToChange(fact)) return fact;
    const { awaitsDecision: _, ...other } = fact;
    return isAwaiting ? { ...other, awaitsDecision: true } : other;
  });
  return { ...node, facts };
};

/** A hub keeps one neighbour more than the limit, by which it is known. */
export const withNeighbour = (node: Node, neighbour: string): Node => {
  const place = countWhile(node.neighbours, (known) => known < neighbour);
  if (node.neighbours[place] === neighbour || place > CASE_NEIGHBOURS_MAX) return node;
  const neighbours = node.neighbours.toSpliced(place, 0, neighbour);
  return { ...node, neighbours: neighbours.slice(0, CASE_NEIGHBOURS_MAX + 1) };
};

/** The facts of a case, and whether it has expired: it is shown as long as one of its events is. */
export interface CaseFacts {
  readonly facts: readonly Fact[];
  readonly isExpired: boolean;
}

export const haveExpired = (nodes: readonly Node[]): boolean =>
  nodes.some(({ events }) => events > 0) && nodes.every(({ events, expired }) => expired >= events);

/** A name that stands beside too many others says nothing, such as the run of a batch job, or a constant. */
export const isHub = ({ neighbours }: Node): boolean => neighbours.length > CASE_NEIGHBOURS_MAX;

export const componentOf = (start: string, node: (name: string) => Node): readonly string[] => {
  const found = new Set([start]);
  for (const name of found) {
    const here = node(name);
    if (isHub(here)) continue;
    for (const neighbour of here.neighbours) if (!isHub(node(neighbour))) found.add(neighbour);
  }
  return [...found];
};

/**
 * The facts of a case. A name of an objection or an incident that stands beside too many others connects nothing, and so names nothing either: what it would
 * name is named by its own event, which no event can do (fact.ts). Otherwise two cases would have a row with the same key in a register.
 */
export const factsOf = (names: readonly string[], node: (name: string) => Node): readonly Fact[] =>
  names.flatMap((name) => {
    const own = node(name);
    return [...(isHub(own) ? factsOfHub(name, own) : factsBesideHubs(own, node)), ...borrowedBy(own)];
  });

const factsBesideHubs = ({ facts }: Node, node: (name: string) => Node): readonly Fact[] =>
  facts.map((fact) => {
    // As most are, and this is done for each.
    if (fact.links.objection === undefined && fact.links.incident === undefined) return fact;
    const named = renamed(fact, (kind, value) =>
      isHub(node(nodeName(kind, value))) ? ownName(kind, fact) : value,
    );
    return named === fact || followedBy(fact) !== undefined
      ? named
      : { ...named, standsAs: nameByEvent(fact) };
  });

/** Other names in it have cases of their own: the first event of the hub that uses such a name stands for it, and so does what its own id names. */
const factsOfHub = (home: string, { facts }: Node): readonly Fact[] => {
  const firsts = new Map<string, string>();
  return facts.map((fact) => {
    const own = nameByEvent(fact);
    const named = renamed(fact, (kind, value) => {
      const name = nodeName(kind, value);
      if (name === home) return ownName(kind, fact);
      const first = firsts.get(name) ?? own;
      firsts.set(name, first);
      return first;
    });
    return { ...named, standsAs: own };
  });
};

const ownName = (kind: NamedKind, fact: Fact): string | undefined => {
  const isOpening =
    kind === "objection" ? OBJECTION_RECEIVED.includes(fact.type) : fact.type === INCIDENT_DETECTED;
  return isOpening ? nameByEvent(fact) : undefined;
};

/**
 * Rule 3 of DOMAIN 2b: a notice that names nothing belongs to the decisions of the same asset about the same person that are made after it. One row for each
 * asset and person knows the first such notice and the decisions; a decision keeps a copy of the notice in its node, so that its case is whole without this
 * row. Until there is such a decision, the obligation of the first notice waits: its own node is marked.
 */
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

/** 132 bits: each person of each asset has such a key, in the table and in its index. */
const PERSON_CHARACTERS = 22;

/** The key of the row that an event concerns: that of a decision about a person, or of a nameless notice. */
export const personOf = (fact: Fact): string | undefined => {
  const { asset, subject, type } = fact;
  if (subject === undefined || !(type === DECISION_MADE || isNamelessNotice(fact))) return undefined;
  return hash("sha256", JSON.stringify([asset, subject]), "base64url").slice(0, PERSON_CHARACTERS);
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
