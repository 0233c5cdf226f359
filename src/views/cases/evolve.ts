/**
 * The view of cases, and of all registers that follow from them. A record changes the nodes it refers to. Then the rows of every case that it touches are
 * recomputed from the facts of the case, and the differences are written.
 */

import { metadataText } from "../../event/facts.ts";
import { type Fact, factOf, isNamelessNotice } from "../../law/cases/fact.ts";
import { isWaiver, type Rules } from "../../law/obligations/obligation.ts";
import { EVENTS, isExpired } from "../events/tables.ts";
import type { FirstEvent, Projection, StateKey, States } from "../kit/projection.ts";
import { eventKey, onFirstEvents } from "../kit/read-model.ts";
import type { Row, Table } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { expireCasesAlike } from "./expiry.ts";
import {
  awaitedOf,
  borrowedNotice,
  type CaseFacts,
  componentOf,
  EMPTY,
  eventNode,
  factsOf,
  haveExpired,
  isFirstNotice,
  isHub,
  type Node,
  nodeFrom,
  nodeName,
  nodesOf,
  PERSON_NOTICES,
  type Person,
  personFrom,
  personOf,
  personRow,
  personWith,
  rowOf,
  withAwaiting,
  withBorrowed,
  withFact,
  withNeighbour,
} from "./nodes.ts";
import { agendaChanges, DUTY_AGENDA } from "./registers/obligations.ts";
import { type CaseChanges, REGISTERS, registerChanges } from "./registers/registers.ts";
import { CASE_EXPIRY, CASE_NODES, CASES_VIEW } from "./tables.ts";

export const casesProjection = (rules: Rules, rulesVersion: number): Projection => {
  const nodeOfRow = remembered((row: Row) => nodeFrom(row));
  const nodeIn: NodeIn = (row) => (row ? nodeOfRow(row) : EMPTY);
  const placeIn = remembered(placeOf);
  const walks = new WeakMap<States, Walk>();
  const projection: Projection = onFirstEvents({
    name: CASES_VIEW,
    version: VERSION * RULES_VERSIONS_MAX + rulesVersion,
    tables: [CASE_NODES, PERSON_NOTICES, ...REGISTERS.map(({ table }) => table), CASE_EXPIRY, DUTY_AGENDA],
    besideLog: [CASE_EXPIRY, DUTY_AGENDA],
    builtOn: [{ table: CASE_EXPIRY, key: { name: "cases" } }],
    expireAlike: (live, made) => expireCasesAlike(live, made, { view: projection, rules }),
    stateKeys: (events) => events.map(placeIn).flatMap(keysOf),
    furtherKeys: (states, event) => {
      const walk = walks.get(states) ?? { walked: new Set(), left: new Map() };
      walks.set(states, walk);
      return walkOn(states, placeIn(event), walk, nodeIn);
    },
    evolve: (states, events) => {
      walks.delete(states);
      const last = events.at(-1)?.sequence ?? 0;
      const places = Map.groupBy(events, (event) => placeIn(event).tenant);
      return [...places].flatMap(([tenant, those]) => {
        const nodes = tenantNodes(states, tenant, nodeIn);
        for (const event of those) nodes.add(placeIn(event), hasExpired(states, event));
        const changes = registerChanges(tenant, nodes.touched(), rules);
        return [...nodes.writes(), ...changes, ...agendaChanges(tenant, changes, last)];
      });
    },
  });
  return projection;
};

const VERSION = 57;
/** Other deadlines make other rows, so they are part of the version. */
const RULES_VERSIONS_MAX = 2 ** 32;

type NodeIn = (row: Row | undefined) => Node;

const remembered = <Thing extends object, Result>(
  resultOf: (thing: Thing) => Result,
): ((thing: Thing) => Result) => {
  const results = new WeakMap<Thing, Result>();
  return (thing) => {
    const known = results.get(thing);
    if (known !== undefined) return known;
    const result = resultOf(thing);
    results.set(thing, result);
    return result;
  };
};

interface Place {
  readonly tenant: string;
  readonly fact: Fact;
  readonly names: readonly string[];
  readonly person: string | undefined;
}

/**
 * Where an event belongs. Waiving an obligation is an administrative event in the log of the system; it belongs to the case of the obligation, in the log of
 * whose tenant nobody can write such an event.
 */
const placeOf = ({ tenant, facts, sequence, recorded: received }: FirstEvent): Place => {
  const made = factOf(facts, sequence, received);
  if (!isWaiver(made)) return { tenant, fact: made, names: nodesOf(made), person: personOf(made) };
  const text = (name: string): string => metadataText(facts.metadata, name) ?? "";
  const says = { obligation_id: text("obligation_id"), actor: text("actor"), reason: text("reason") };
  const { at, id, recorded, type, asset } = made;
  return {
    tenant: text("tenant"),
    fact: { at, id, sequence, recorded, type, asset, links: {}, says },
    names: [text("case_name")],
    person: undefined,
  };
};

/** Whether an event keeps no case: it expired before this view took it, or it is a waiver. */
const hasExpired = (states: States, { tenant, facts }: FirstEvent): boolean => {
  const row = states.get(EVENTS, eventKey(tenant, facts));
  return isWaiver({ type: facts.eventType }) || (row !== undefined && isExpired(row));
};

const keysOf = ({ tenant, names, person }: Place): readonly StateKey[] => {
  const keys: StateKey[] = names.map((node) => ({ table: CASE_NODES, key: { tenant, node } }));
  if (person !== undefined) keys.push({ table: PERSON_NOTICES, key: { tenant, person } });
  return keys;
};

/** The walk over the names of a step: thousands may hang together, so each is walked once, whichever event reaches it. */
interface Walk {
  readonly walked: Set<string>;
  readonly left: Map<Place, readonly string[]>;
}

const walkOn = (
  states: States,
  place: Place,
  { walked, left }: Walk,
  nodeIn: NodeIn,
): readonly StateKey[] => {
  const { tenant, names } = place;
  const reached = [...(left.get(place) ?? names), ...(left.has(place) ? [] : reachedBy(states, place))];
  const keys: StateKey[] = [];
  const asked: string[] = [];
  for (const node of reached) {
    // No tenant has a space in it.
    const text = `${tenant} ${node}`;
    if (walked.has(text)) continue;
    const key = { tenant, node };
    if (!states.isNamed(CASE_NODES, key)) {
      keys.push({ table: CASE_NODES, key });
      asked.push(node);
      continue;
    }
    walked.add(text);
    const here = nodeIn(states.get(CASE_NODES, key));
    if (!isHub(here)) reached.push(...here.neighbours);
  }
  if (asked.length > 0) left.set(place, asked);
  return keys;
};

/** Names in other cases that an event reaches by its person. The first notice reaches decisions. What takes its place, and what is decided after it, reaches the notice that waited. */
const reachedBy = (states: States, { tenant, fact, person: key }: Place): readonly string[] => {
  const row = key === undefined ? undefined : states.get(PERSON_NOTICES, { tenant, person: key });
  if (row === undefined) return [];
  const person = personFrom(row);
  const isFirst = isNamelessNotice(fact) && isFirstNotice(person, fact);
  const decisions = isFirst ? person.decisions.map((id) => nodeName("decision", id)) : [];
  const awaited = awaitedOf(person);
  const isStill = awaited === undefined || awaitedOf(personWith(person, fact))?.id === awaited.id;
  return isStill ? decisions : [...decisions, eventNode(awaited.id)];
};

/** The nodes of some events, each of them once, that are in no view. */
export const nodesWith = (tenant: string, facts: readonly Fact[]): ((name: string) => Node) => {
  const nodes = tenantNodes({ get: () => undefined }, tenant, () => EMPTY);
  for (const fact of facts) nodes.add({ fact, names: nodesOf(fact), person: personOf(fact) });
  return nodes.now;
};

const changesOf = <Thing>(stored: (name: string) => Thing) => {
  const changes = new Map<string, { readonly before: Thing; now: Thing }>();
  return {
    before: (name: string): Thing => changes.get(name)?.before ?? stored(name),
    now: (name: string): Thing => changes.get(name)?.now ?? stored(name),
    change: (name: string, to: (thing: Thing) => Thing): void => {
      const known = changes.get(name);
      if (known) known.now = to(known.now);
      else {
        const before = stored(name);
        changes.set(name, { before, now: to(before) });
      }
    },
    /** A name beside others is touched by every event that has it, and mostly stays as it was. */
    changed: () => [...changes].filter(([, { before, now }]) => before !== now),
  };
};

const tenantNodes = (states: Pick<States, "get">, tenant: string, nodeIn: NodeIn) => {
  const nodes = changesOf((node) => nodeIn(states.get(CASE_NODES, { tenant, node })));
  const persons = changesOf((person) => personFrom(states.get(PERSON_NOTICES, { tenant, person })));
  const addToPerson = (fact: Fact, key: string): void => {
    const before = persons.now(key);
    const now = personWith(before, fact);
    persons.change(key, () => now);
    const { first } = now;
    if (first)
      for (const id of decisionsReached(before, now, fact))
        nodes.change(nodeName("decision", id), (node) => withBorrowed(node, borrowedNotice(first, fact, id)));
    const [waited, waits] = [awaitedOf(before), awaitedOf(now)];
    if (waited?.id === waits?.id) return;
    if (waited) nodes.change(eventNode(waited.id), (node) => withAwaiting(node, false));
    if (waits) nodes.change(eventNode(waits.id), (node) => withAwaiting(node, true));
  };
  return {
    now: nodes.now,
    add: ({ fact, names: [home, ...others], person }: Omit<Place, "tenant">, isGone = false): void => {
      if (home === undefined) return;
      nodes.change(home, (node) => others.reduce(withNeighbour, withFact(node, fact, isGone)));
      for (const other of others) nodes.change(other, (node) => withNeighbour(node, home));
      if (person !== undefined) addToPerson(fact, person);
    },
    /** All changed cases, before and after. A case may have fallen apart, so each of its old parts is looked at as well. */
    touched: (): CaseChanges => {
      const dirty = nodes.changed().filter(([, { before, now }]) => isDirty(before, now));
      const known = dirty.filter(([, { before }]) => before !== EMPTY);
      const before = casesOf(namesOf(known), nodes.before);
      const now = casesOf([...namesOf(dirty), ...before.flatMap(({ members }) => members)], nodes.now);
      return { before: withFacts(before), now: withFacts(now) };
    },
    writes: (): readonly Write[] => [
      ...persons.changed().map(([key, { now }]) => upsert(PERSON_NOTICES, personRow(tenant, key, now))),
      ...nodes.changed().map(([name, { now }]) => upsert(CASE_NODES, rowOf(tenant, name, now))),
    ],
  };
};

const upsert = (table: Table, row: Row): Write => ({ kind: "upsert", table, row });

const namesOf = (changed: readonly (readonly [name: string, unknown])[]): readonly string[] =>
  changed.map(([name]) => name);

const decisionsReached = (before: Person, now: Person, { links }: Fact): readonly string[] => {
  if (links.decision !== undefined) return [links.decision];
  return now.first === before.first ? [] : now.decisions;
};

/** Whether its case has other facts than before. A name of an event may stay as it was: a hub takes no more neighbours. */
const isDirty = (before: Node, now: Node): boolean =>
  now.facts !== before.facts ||
  now.neighbours !== before.neighbours ||
  now.borrowed !== before.borrowed ||
  haveExpired([now]) !== haveExpired([before]);

const casesOf = (names: readonly string[], node: (name: string) => Node) => {
  const done = new Set<string>();
  return names.flatMap((name) => {
    if (done.has(name)) return [];
    const members = componentOf(name, node);
    for (const member of members) done.add(member);
    return [{ members, facts: factsOf(members, node), isExpired: haveExpired(members.map(node)) }];
  });
};

const withFacts = (cases: readonly CaseFacts[]): readonly CaseFacts[] =>
  cases.filter(({ facts }) => facts.length > 0);
