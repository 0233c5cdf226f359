/**
 * The view of cases, and of all registers that are made from them. A record changes the nodes it refers to. Then the rows of every case that it touches are
 * made anew from the facts of the case, and what differs from before is written.
 */
import { type Fact, isNamelessNotice } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { type FirstEvent, onFirstEvents } from "../kit/first-events.ts";
import type { Projection, StateKey, States, Told } from "../kit/projection.ts";
import type { Row } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { DUTY_CHANGES, dutyChanges } from "./duty-changes.ts";
import { expireCasesAlike } from "./expire-alike.ts";
import {
  componentOf,
  EMPTY,
  eventNode,
  factsOf,
  isHub,
  type Node,
  nodeFrom,
  nodeName,
  rowOf,
  withAwaiting,
  withBorrowed,
  withFact,
  withNeighbour,
} from "./nodes.ts";
import {
  awaitedOf,
  borrowedNotice,
  isFirstNotice,
  PERSON_NOTICES,
  type Person,
  personFrom,
  personOf,
  personRow,
  personWith,
} from "./person-notices.ts";
import { type CaseChanges, registerChanges } from "./register-changes.ts";
import { REGISTERS } from "./registers/registers.ts";
import { CASE_EXPIRY, CASE_EXPIRY_KEY, CASE_NODES, CASES_VIEW } from "./tables.ts";
import { placeOf } from "./waivers.ts";

export const casesProjection = (rules: Rules, rulesVersion: number): Projection => {
  const projection: Projection = onFirstEvents({
    name: CASES_VIEW,
    version: VERSION * RULES_VERSIONS_MAX + rulesVersion,
    tables: [CASE_NODES, PERSON_NOTICES, ...REGISTERS.map(({ table }) => table), CASE_EXPIRY, DUTY_CHANGES],
    besideLog: [CASE_EXPIRY, DUTY_CHANGES],
    builtOn: [{ table: CASE_EXPIRY, key: CASE_EXPIRY_KEY }],
    expireAlike: (live, made) => expireCasesAlike(live, made, { view: projection, rules }),
    stateKeys,
    furtherKeys,
    evolve: (states, events) => evolve(states, events, rules),
  });
  return projection;
};

const VERSION = 50;
/** Other deadlines make other rows, so they are part of the version. */
const RULES_VERSIONS_MAX = 2 ** 32;

const keyOf = (tenant: string, node: string): StateKey => ({ table: CASE_NODES, key: { tenant, node } });

const stateKeys = (events: readonly FirstEvent[]): readonly StateKey[] => {
  const keys: StateKey[] = [];
  for (const event of events) {
    const { tenant, fact, names } = placeOf(event);
    for (const node of names) keys.push(keyOf(tenant, node));
    const person = personOf(fact);
    if (person !== undefined) keys.push({ table: PERSON_NOTICES, key: { tenant, person } });
  }
  return keys;
};

const NONE: readonly StateKey[] = [];

/**
 * The neighbours of the names found so far, one step further with each call. Each call goes on where the last one stopped, and names that were walked from
 * another event of the step are not walked again: thousands of names may hang together.
 */
const furtherKeys = (states: States, event: FirstEvent): readonly StateKey[] => {
  const { tenant } = placeOf(event);
  const pending = walks.get(event) ?? startsOf(states, event);
  if (pending.length === 0) return NONE;
  const walked = walkedOf(states, tenant);
  const keys: StateKey[] = [];
  const left: string[] = [];
  for (const name of pending) {
    if (walked.has(name)) continue;
    const { table, key } = keyOf(tenant, name);
    if (!states.isNamed(table, key)) {
      keys.push({ table, key });
      left.push(name);
      continue;
    }
    walked.add(name);
    const node = nodeFrom(states.get(table, key));
    if (!isHub(node)) for (const neighbour of node.neighbours) pending.push(neighbour);
  }
  walks.set(event, left);
  return keys;
};

/** The names of an event, and those in other cases that it may reach by its person. None where all are new, as in most cases. */
const startsOf = (states: States, event: FirstEvent): string[] => {
  const { tenant, fact, names } = placeOf(event);
  const reached = reachedBy(states, tenant, fact);
  if (reached.length === 0 && names.every((node) => states.get(CASE_NODES, { tenant, node }) === undefined))
    return [];
  return [...names, ...reached];
};

/** The first notice reaches decisions. What takes its place, and what is decided after it, reaches the notice that waited. */
const reachedBy = (states: States, tenant: string, fact: Fact): readonly string[] => {
  const key = personOf(fact);
  const row = key === undefined ? undefined : states.get(PERSON_NOTICES, { tenant, person: key });
  if (row === undefined) return NO_NAMES;
  const person = personFrom(row);
  const isFirst = isNamelessNotice(fact) && isFirstNotice(person, fact);
  const decisions = isFirst ? person.decisions.map((id) => nodeName("decision", id)) : NO_NAMES;
  const awaited = awaitedOf(person);
  const isStill = awaited === undefined || awaitedOf(personWith(person, fact))?.id === awaited.id;
  return isStill ? decisions : [...decisions, eventNode(awaited.id)];
};

const NO_NAMES: readonly string[] = [];

/** The names that are still to be walked from an event. */
const walks = new WeakMap<FirstEvent, string[]>();

/** By tenant: names that are loaded in this step, and whose neighbours were asked for. Forgotten once the step has changed them. */
const walkedNames = new WeakMap<States, Map<string, Set<string>>>();

const walkedOf = (states: States, tenant: string): Set<string> => {
  const tenants = walkedNames.get(states) ?? new Map<string, Set<string>>();
  walkedNames.set(states, tenants);
  const walked = tenants.get(tenant) ?? new Set<string>();
  tenants.set(tenant, walked);
  return walked;
};

const evolve = (states: States, events: readonly FirstEvent[], rules: Rules): readonly Write[] => {
  walkedNames.delete(states);
  const tenants = new Map<string, TenantNodes>();
  for (const event of events) {
    const { tenant, fact, names } = placeOf(event);
    if (names.length === 0) continue;
    const nodes = tenants.get(tenant) ?? tenantNodes(states, tenant);
    tenants.set(tenant, nodes);
    nodes.add(fact, names);
  }
  const last = events.at(-1)?.sequence;
  return [...tenants.values()].flatMap((nodes) => {
    const changes = registerChanges(nodes.tenant, nodes.touched(), rules);
    return [...nodes.writes(), ...changes, ...dutyChanges(nodes.tenant, changes, last)];
  });
};

type TenantNodes = ReturnType<typeof tenantNodes>;

/** The rows of CASE_NODES for some events, each of them once, that are in no view. */
export const nodeRowsOf = (tenant: string, events: readonly Told[]): readonly Row[] => {
  const nodes = tenantNodes({ get: () => undefined }, tenant);
  for (const { fact, names } of events) nodes.add(fact, names);
  return nodes
    .writes()
    .flatMap((write) => (write.kind === "upsert" && write.table === CASE_NODES ? [write.row] : []));
};

interface NodeChange {
  readonly before: Node;
  now: Node;
}

/** Whether its case has other facts than before. A name of an event may stay as it was: a hub takes no more neighbours. */
const isDirty = ({ before, now }: NodeChange): boolean =>
  now.facts !== before.facts || now.neighbours !== before.neighbours || now.borrowed !== before.borrowed;

const tenantNodes = (states: Pick<States, "get">, tenant: string) => {
  const changes = new Map<string, NodeChange>();
  const stored = (name: string): Node => nodeFrom(states.get(CASE_NODES, { tenant, node: name }));
  const before = (name: string): Node => changes.get(name)?.before ?? stored(name);
  const now = (name: string): Node => changes.get(name)?.now ?? stored(name);
  const changeOf = (name: string): NodeChange => {
    const known = changes.get(name);
    if (known) return known;
    const node = stored(name);
    const change = { before: node, now: node };
    changes.set(name, change);
    return change;
  };
  const persons = personChanges(states, tenant, {
    borrow: (notice, decision) => {
      const own = changeOf(nodeName("decision", decision));
      own.now = withBorrowed(own.now, notice);
    },
    mark: ({ id }, isAwaiting) => {
      const own = changeOf(eventNode(id));
      own.now = withAwaiting(own.now, isAwaiting);
    },
  });
  return {
    tenant,
    add: (fact: Fact, names: readonly string[]): void => {
      const [home, ...others] = names;
      if (home === undefined) return;
      const own = changeOf(home);
      own.now = withFact(own.now, fact);
      for (const other of others) {
        own.now = withNeighbour(own.now, other);
        const beside = changeOf(other);
        beside.now = withNeighbour(beside.now, home);
      }
      persons.add(fact);
    },
    /** All changed cases, before and after. */
    touched: (): CaseChanges => {
      const names: string[] = [];
      const old: string[] = [];
      for (const [name, change] of changes) {
        if (!isDirty(change)) continue;
        names.push(name);
        if (change.before !== EMPTY) old.push(name);
      }
      // A case may have fallen apart, so each of its old parts is looked at as well, once.
      const seen = new Set<string>();
      for (const name of old)
        if (!seen.has(name))
          for (const part of componentOf(name, before)) {
            seen.add(part);
            names.push(part);
          }
      return { before: casesOf(old, before), now: casesOf(names, now) };
    },
    writes: (): readonly Write[] => {
      const writes: Write[] = [...persons.writes()];
      for (const [name, change] of changes) {
        // A name beside others is touched by every event that has it, and mostly stays as it was.
        if (change.now === change.before) continue;
        writes.push({ kind: "upsert", table: CASE_NODES, row: rowOf(tenant, name, change.now) });
      }
      return writes;
    },
  };
};

interface NoticeChanges {
  /** Gives a decision a copy of a notice. */
  readonly borrow: (notice: Fact, decision: string) => void;
  /** Says of a notice in its own case whether it waits for a decision. */
  readonly mark: (notice: Fact, isAwaiting: boolean) => void;
}

const personChanges = (states: Pick<States, "get">, tenant: string, { borrow, mark }: NoticeChanges) => {
  const persons = new Map<string, { readonly before: Person; now: Person }>();
  const changeOf = (person: string) => {
    const known = persons.get(person);
    if (known) return known;
    const before = personFrom(states.get(PERSON_NOTICES, { tenant, person }));
    const change = { before, now: before };
    persons.set(person, change);
    return change;
  };
  return {
    add: (fact: Fact): void => {
      const key = personOf(fact);
      if (key === undefined) return;
      const person = changeOf(key);
      const before = person.now;
      const now = personWith(before, fact);
      person.now = now;
      const { decision } = fact.links;
      const reached = decision === undefined ? (now.first === before.first ? [] : now.decisions) : [decision];
      if (now.first) for (const id of reached) borrow(borrowedNotice(now.first, fact, id), id);
      const [waited, waits] = [awaitedOf(before), awaitedOf(now)];
      if (waited?.id === waits?.id) return;
      if (waited) mark(waited, false);
      if (waits) mark(waits, true);
    },
    writes: (): readonly Write[] =>
      [...persons].flatMap(([key, { before, now }]): readonly Write[] =>
        now === before ? [] : [{ kind: "upsert", table: PERSON_NOTICES, row: personRow(tenant, key, now) }],
      ),
  };
};

const casesOf = (names: readonly string[], node: (name: string) => Node): readonly (readonly Fact[])[] => {
  const done = new Set<string>();
  const cases: (readonly Fact[])[] = [];
  for (const name of names) {
    if (done.has(name)) continue;
    const members = componentOf(name, node);
    for (const member of members) done.add(member);
    const facts = factsOf(members, node);
    if (facts.length > 0) cases.push(facts);
  }
  return cases;
};
