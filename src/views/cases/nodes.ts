/**
 * A row of CASE_NODES as the rules see it, and how it grows. It depends only on the set of events, also where a limit is reached, and on which of them have
 * expired with their case.
 */
import { followedBy, isShownBefore, standsAlone } from "../../law/cases/case.ts";
import {
  DECISION_MADE,
  type Fact,
  INCIDENT_DETECTED,
  inOrder,
  isNamelessNotice,
  type LinkKind,
  type Links,
  NAMED_KINDS,
  type NamedKind,
  nameByEvent,
  OBJECTION_RECEIVED,
  type Writable,
} from "../../law/cases/fact.ts";
import { factFrom, type StoredFact, storedFact } from "../../law/cases/stored-fact.ts";
import { FIRST_STAYS, type Weight, weightOf } from "../../law/cases/weight.ts";
import { CASE_FACTS_MAX, CASE_NEIGHBOURS_MAX } from "../../limits.ts";
import type { Sequence } from "../../log/outcome.ts";
import { type Row, type RowOf, rowInteger, rowText } from "../store/tables.ts";
import { bareNotice, borrowedNotice } from "./person-notices.ts";
import type { CASE_NODES } from "./tables.ts";

export interface Node {
  readonly facts: readonly Fact[];
  readonly gone: readonly GoneFact[];
  /** Notices that name nothing: at most one for each asset and person that the decision names (person-notices.ts). */
  readonly borrowed: readonly Fact[];
  readonly events: number;
  /** Times of the first and the last event that is not among the facts, as text as in these. Empty where all events are. */
  readonly others: Times;
  readonly neighbours: readonly string[];
}

type Times = readonly [first: string, last: string];

/** What decides which facts of a name are kept. */
interface Place extends Pick<Fact, "at" | "id" | "sequence"> {
  readonly weight: Weight;
}

/** When its case expires, a fact leaves its place among the others behind, so that the same facts are kept as without retention. */
export interface GoneFact extends Place {
  /** The lowest sequence of the expired case. Facts that went together have the same one, and no others have it. */
  readonly with: Sequence;
  /** Of a decision that was made after a notice without a name: that notice, so that coverage still counts it. */
  readonly notice?: StoredFact;
}

const NO_OTHERS: Times = ["", ""];

export const EMPTY: Node = {
  facts: [],
  gone: [],
  borrowed: [],
  events: 0,
  others: NO_OTHERS,
  neighbours: [],
};

export const nodeName = (kind: LinkKind, value: string): string => `${kind}:${value}`;

/** The node of an event that names nothing, and stands in a register by itself. */
export const eventNode = (id: string): string => `event:${id}`;

/** From the kind of name that says most about where an event belongs to the one that says least. */
const KINDS: readonly LinkKind[] = ["decision", "objection", "incident", "correlation"];

/**
 * The names an event refers to, the most specific first: that one keeps its fact. A notice may be for everybody and name nothing; then it is a case of its
 * own, so that the register has it. An event that continues an objection or an incident without naming it may stand in a register under its own id; whatever
 * refers to it by that id belongs to its case.
 */
export const nodesOf = (fact: Fact): readonly string[] => {
  const { links } = fact;
  const names: string[] = [];
  for (const kind of KINDS) {
    const value = links[kind];
    if (value !== undefined) names.push(nodeName(kind, value));
  }
  const followed = followedBy(fact);
  if (followed !== undefined) names.push(nodeName(followed, fact.id));
  if (names.length === 0 && standsAlone(fact)) names.push(eventNode(fact.id));
  return names;
};

const parsed = new WeakMap<Row, Node>();

export const nodeFrom = (row: Row | undefined): Node => {
  if (!row) return EMPTY;
  const known = parsed.get(row);
  if (known) return known;
  const facts: readonly StoredFact[] = JSON.parse(rowText(row, "facts"));
  const node: Node = {
    facts: facts.map(factFrom),
    gone: JSON.parse(rowText(row, "gone")),
    borrowed: borrowedIn(rowText(row, "borrowed")),
    events: rowInteger(row, "events"),
    others: timesFrom(rowText(row, "others")),
    neighbours: JSON.parse(rowText(row, "neighbours")),
  };
  parsed.set(row, node);
  return node;
};

const borrowedIn = (text: string): readonly Fact[] => {
  if (text === "[]") return EMPTY.borrowed;
  const stored: readonly StoredFact[] = JSON.parse(text);
  return stored.map((each): Fact => ({ ...factFrom(each), bySubject: true }));
};

export const rowOf = (tenant: string, name: string, node: Node): RowOf<typeof CASE_NODES> => {
  return {
    tenant,
    node: name,
    facts: arrayText(node.facts.map(storedFact)),
    gone: arrayText(node.gone),
    borrowed: arrayText(node.borrowed.map(storedFact)),
    events: node.events,
    others: node.others === NO_OTHERS ? "" : node.others.join(" "),
    neighbours: arrayText(node.neighbours),
  };
};

/** The two times are stored with a space between them. */
const timesFrom = (text: string): Times => {
  if (text === "") return NO_OTHERS;
  const [first = "", last = ""] = text.split(" ");
  return [first, last];
};

const arrayText = (items: readonly unknown[]): string => (items.length === 0 ? "[]" : JSON.stringify(items));

/** Where there are too many facts, the most important ones stay, and of these the earliest, in whatever order they arrived. */
export const withFact = (node: Node, fact: Fact): Node => {
  const { facts, gone, borrowed, others, neighbours } = node;
  const events = node.events + 1;
  const isFull = facts.length + gone.length >= CASE_FACTS_MAX;
  if (isFull && isLessThanAny(fact, node))
    return { events, facts, gone, borrowed, others: withTime(others, fact), neighbours };
  const last = facts.at(-1);
  const isLast = last === undefined || inOrder(last, fact) < 0;
  const more = isLast ? [...facts, fact] : [...facts, fact].sort(inOrder);
  if (!isFull) return { events, facts: more, gone, borrowed, others, neighbours };
  const least = leastOf([...more.map(placeOf), ...gone]) ?? fact;
  const told = { events, borrowed, others: withTime(others, least), neighbours };
  if (fact.id === least.id) return { ...told, facts, gone };
  const isKept = ({ id }: Pick<Fact, "id">): boolean => id !== least.id;
  return { ...told, facts: more.filter(isKept), gone: gone.filter(isKept) };
};

const withTime = ([first, last]: Times, { at }: Pick<Fact, "at">): Times => [
  first === "" || at < first ? at : first,
  at > last ? at : last,
];

/** True for most events of a long conversation, so it is found out without a look at all that is kept. False means that nobody knows yet. */
const isLessThanAny = (fact: Fact, node: Node): boolean => {
  const least = leastKept(node);
  if (least === undefined) return false;
  const weight = weightOf(fact);
  // It comes after one of its own weight, so it is not the first of them.
  if (weight === least.weight) return inOrder(least, fact) < 0;
  return weight > least.weight && !FIRST_STAYS.includes(weight);
};

/** By the facts of a full node: nodes that differ only in their counts share them. */
const leasts = new WeakMap<readonly Fact[], Pick<Node, "gone"> & { readonly least: Place | undefined }>();

const leastKept = ({ facts, gone }: Node): Place | undefined => {
  const known = leasts.get(facts);
  if (known?.gone === gone) return known.least;
  const least = leastOf([...facts.map(placeOf), ...gone]);
  leasts.set(facts, { gone, least });
  return least;
};

const leastOf = (places: readonly Place[]): Place | undefined => {
  const ordered = [...places].sort(inOrder);
  const firsts = FIRST_STAYS.map((weight) => ordered.find((place) => place.weight === weight));
  let least: Place | undefined;
  for (const place of ordered)
    if (!firsts.includes(place) && (least === undefined || place.weight >= least.weight)) least = place;
  return least;
};

const placeOf = (fact: Fact): Place => {
  const { at, id, sequence } = fact;
  return { at, id, sequence, weight: weightOf(fact) };
};

/** The node without the facts for which `goneWith` returns a sequence. `known`: what is left of them, if they went before. */
export const withoutFacts = (
  node: Node,
  goneWith: (fact: Fact) => Sequence | undefined,
  known?: ReadonlyMap<string, GoneFact>,
): Node => {
  const left: Fact[] = [];
  const gone = [...node.gone];
  for (const fact of node.facts) {
    const expired = goneWith(fact);
    if (expired === undefined) left.push(fact);
    else gone.push(known?.get(fact.id) ?? { ...placeOf(fact), with: expired, ...noticeKept(node, fact) });
  }
  const rest = { ...node, facts: left, gone: gone.sort(inOrder) };
  return { ...rest, borrowed: borrowedBy(rest) };
};

const noticeKept = ({ borrowed }: Node, made: Fact): Pick<GoneFact, "notice"> => {
  const notice = borrowed.find((each) => isMadeAfter(each)(made));
  return notice ? { notice: storedFact(bareNotice(notice)) } : {};
};

/** The notices that decisions had which have gone. */
export const noticesGone = (node: Node, gone: readonly GoneFact[]): readonly Fact[] =>
  gone.flatMap(({ id, notice }) => {
    const made = notice && node.facts.find((fact) => fact.id === id);
    return made ? [borrowedNotice(factFrom(notice), made, made.links.decision ?? "")] : [];
  });

/** The makings of a decision, of the same asset about the same person, before which a notice was shown. */
const isMadeAfter =
  (notice: Fact) =>
  (fact: Fact): boolean =>
    fact.type === DECISION_MADE && isShownBefore(notice, fact);

/** Those whose decision is still there. */
const borrowedBy = ({ facts, borrowed }: Pick<Node, "facts" | "borrowed">): readonly Fact[] =>
  borrowed.length === 0 ? borrowed : borrowed.filter((notice) => facts.some(isMadeAfter(notice)));

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
  const facts = node.facts.map((fact) => {
    if (!isToChange(fact)) return fact;
    return isAwaiting ? { ...fact, awaitsDecision: true as const } : withoutAwaiting(fact);
  });
  return { ...node, facts };
};

export const withoutAwaiting = ({ awaitsDecision: _, ...fact }: Fact): Fact => fact;

export const withNeighbour = (node: Node, neighbour: string): Node => {
  if (node.neighbours.includes(neighbour)) return node;
  if (node.neighbours.length === 0)
    return {
      events: node.events,
      facts: node.facts,
      gone: node.gone,
      borrowed: node.borrowed,
      others: node.others,
      neighbours: [neighbour],
    };
  const neighbours = [...node.neighbours, neighbour].sort();
  if (neighbours.length > CASE_NEIGHBOURS_MAX + 1) neighbours.pop();
  return neighbours.length === node.neighbours.length &&
    neighbours.every((name, index) => name === node.neighbours[index])
    ? node
    : { ...node, neighbours };
};

/** A name that stands beside too many others says nothing, such as the run of a batch job, or a constant. */
export const isHub = ({ neighbours }: Node): boolean => neighbours.length > CASE_NEIGHBOURS_MAX;

const isOnly = (name: string, names: readonly string[]): boolean => names.length === 1 && names[0] === name;

/** The nodes that can be reached from this one over names that are no hubs. */
export const componentOf = (start: string, node: (name: string) => Node): readonly string[] => {
  const { neighbours } = node(start);
  const [beside] = neighbours;
  if (beside === undefined) return [start];
  // Most cases are a decision and a correlation, each with the other as its only neighbour.
  if (neighbours.length === 1 && isOnly(start, node(beside).neighbours)) return [start, beside];
  const found = new Set([start]);
  for (const name of found) {
    const here = node(name);
    if (isHub(here)) continue;
    for (const neighbour of here.neighbours) if (!isHub(node(neighbour))) found.add(neighbour);
  }
  return [...found];
};

/**
 * The facts of a case. An objection_id or incident_id that stands beside too many others connects nothing, and so names nothing either: what it would name is
 * named by its own event, as if it had no name. Other names among the facts of a hub have cases of their own, so here the first event of the hub that uses
 * such a name stands for it. No event can give these names to anything. Otherwise two cases would have a row with the same key in a register, and the one
 * that arrives last would overwrite the other.
 */
export const factsOf = (names: readonly string[], node: (name: string) => Node): readonly Fact[] => {
  const withoutHubs: NameOf = (kind, value, fact) =>
    isHub(node(nodeName(kind, value))) ? ownName(kind, fact) : value;
  const facts: Fact[] = [];
  for (const name of names) {
    const own = node(name);
    if (isHub(own)) for (const fact of factsOfHub(name, own)) facts.push(fact);
    else for (const fact of own.facts) facts.push(renamed(fact, withoutHubs));
    for (const notice of borrowedBy(own)) facts.push(notice);
  }
  return facts;
};

/** Nodes beside a hub are not loaded: there may be any number of them. */
const factsOfHub = (home: string, { facts }: Node): readonly Fact[] => {
  const firsts = new Map<string, string>();
  for (const fact of facts)
    for (const kind of NAMED_KINDS) {
      const value = fact.links[kind];
      if (value === undefined) continue;
      const name = nodeName(kind, value);
      if (!firsts.has(name)) firsts.set(name, nameByEvent(fact));
    }
  const nameOf: NameOf = (kind, value, fact) => {
    const name = nodeName(kind, value);
    return name === home ? ownName(kind, fact) : firsts.get(name);
  };
  return facts.map((fact) => {
    const named = renamed(fact, nameOf);
    // What its id names has a case of its own as well.
    return followedBy(fact) === undefined ? named : { ...named, standsAs: nameByEvent(fact) };
  });
};

/** The name for an event that opens something; undefined for any other. */
const ownName = (kind: NamedKind, fact: Fact): string | undefined => {
  const isOpening =
    kind === "objection" ? OBJECTION_RECEIVED.includes(fact.type) : fact.type === INCIDENT_DETECTED;
  return isOpening ? nameByEvent(fact) : undefined;
};

/** What stands in the place of a name in a fact; undefined where nothing does. */
type NameOf = (kind: NamedKind, value: string, fact: Fact) => string | undefined;

const renamed = (fact: Fact, nameOf: NameOf): Fact => {
  let links: Writable<Links> | undefined;
  for (const kind of NAMED_KINDS) {
    const value = fact.links[kind];
    const name = value === undefined ? undefined : nameOf(kind, value, fact);
    if (name === value) continue;
    links ??= { ...fact.links };
    if (name === undefined) delete links[kind];
    else links[kind] = name;
  }
  if (links === undefined) return fact;
  return followedBy(fact) === undefined
    ? { ...fact, links, standsAs: nameByEvent(fact) }
    : { ...fact, links };
};
