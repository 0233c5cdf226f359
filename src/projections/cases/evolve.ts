/**
 * The view of cases and of all registers that are made of them. A record changes the nodes it refers to; the rows of every case that is touched are
 * made anew from its facts, and what differs from before is written.
 */
import type { Fact } from "../../cases/fact.ts";
import type { Rules } from "../../obligations/clocks.ts";
import {
  indexedBesideKey,
  keyText,
  type Row,
  rowInteger,
  type Table,
  type Value,
} from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import type { Projection, StateKey, States } from "../projection.ts";
import { caseView } from "./case-view.ts";
import { componentOf, EMPTY, isHub, type Node, nodeFrom, rowOf, withFact, withNeighbour } from "./nodes.ts";
import { REGISTERS } from "./registers/registers.ts";
import { CASE_NODES } from "./tables.ts";

export const casesProjection = (rules: Rules, rulesVersion: number): Projection =>
  onFirstEvents({
    name: "cases",
    version: VERSION * RULES_VERSIONS_MAX + rulesVersion,
    tables: [CASE_NODES, ...REGISTERS.map(({ table }) => table)],
    stateKeys: (events) =>
      events.flatMap(({ tenant, told }) => told.names.map((node) => keyOf(tenant, node))),
    furtherKeys,
    evolve: (states, events) => evolve(states, events, rules),
  });

const VERSION = 3;
/** Other deadlines make other rows, so they are part of the version. */
export const RULES_VERSIONS_MAX = 2 ** 32;

const keyOf = (tenant: string, node: string): StateKey => ({ table: CASE_NODES, key: { tenant, node } });

const NONE: readonly StateKey[] = [];

/** The neighbours of what is named already, one step further each time. */
const furtherKeys = (states: States, event: FirstEvent): readonly StateKey[] => {
  const { tenant } = event;
  const { names } = event.told;
  // Most cases are new.
  if (names.every((node) => states.get(CASE_NODES, { tenant, node }) === undefined)) return NONE;
  const keys: StateKey[] = [];
  const seen = new Set(names);
  for (const name of seen) {
    const { table, key } = keyOf(tenant, name);
    if (!states.isNamed(table, key)) {
      keys.push({ table, key });
      continue;
    }
    const node = nodeFrom(states.get(table, key));
    if (!isHub(node)) for (const neighbour of node.neighbours) seen.add(neighbour);
  }
  return keys;
};

const evolve = (states: States, events: readonly FirstEvent[], rules: Rules): readonly Write[] => {
  const tenants = new Map<string, TenantNodes>();
  for (const event of events) {
    const { fact, names } = event.told;
    if (names.length === 0) continue;
    const nodes = tenants.get(event.tenant) ?? tenantNodes(states, event.tenant);
    tenants.set(event.tenant, nodes);
    nodes.add(fact, names);
  }
  return [...tenants.values()].flatMap((nodes) => [
    ...nodes.writes(),
    ...rowChanges(nodes.tenant, nodes.touched(), rules),
  ]);
};

type TenantNodes = ReturnType<typeof tenantNodes>;

interface NodeChange {
  readonly before: Node;
  now: Node;
}

/** Cases as their facts. */
interface Touched {
  readonly before: readonly (readonly Fact[])[];
  readonly now: readonly (readonly Fact[])[];
}

const tenantNodes = (states: States, tenant: string) => {
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
  /** Nodes whose case has other facts than before. A node in `changes` may be as it was: a hub takes no more neighbours. */
  const dirty = (): readonly string[] => {
    const names: string[] = [];
    for (const [name, change] of changes)
      if (change.now.facts !== change.before.facts || change.now.neighbours !== change.before.neighbours)
        names.push(name);
    return names;
  };
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
    },
    /** All cases that changed, as they were and as they are. */
    touched: (): Touched => {
      const names = dirty();
      const old = names.filter((name) => before(name) !== EMPTY);
      // A case may have fallen apart: each of its old parts is looked at as well.
      const parts = old.flatMap((name) => componentOf(name, before));
      return { before: casesOf(old, before), now: casesOf([...names, ...parts], now) };
    },
    writes: (): readonly Write[] =>
      [...changes].map(([name, { now: node }]) => ({
        kind: "upsert",
        table: CASE_NODES,
        row: rowOf(tenant, name, node),
      })),
  };
};

const casesOf = (names: readonly string[], node: (name: string) => Node): readonly (readonly Fact[])[] => {
  const done = new Set<string>();
  const cases: Fact[][] = [];
  for (const name of names) {
    if (done.has(name)) continue;
    const facts: Fact[] = [];
    for (const member of componentOf(name, node)) {
      done.add(member);
      for (const fact of node(member).facts) facts.push(fact);
    }
    if (facts.length > 0) cases.push(facts);
  }
  return cases;
};

const rowChanges = (tenant: string, touched: Touched, rules: Rules): readonly Write[] => {
  const before = touched.before.map((facts) => caseView(tenant, facts, rules));
  const now = touched.now.map((facts) => caseView(tenant, facts, rules));
  return REGISTERS.flatMap(({ table, kind, rowsOf: made }) =>
    kind === "rows"
      ? differences(table, before.flatMap(made), now.flatMap(made))
      : countChanges(table, before.flatMap(made), now.flatMap(made)),
  );
};

const byKey = (table: Table, rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [keyText(table, row), row]));

const differences = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  // Where a key stands twice, as it may beside a hub, the last row counts, here as in the store.
  if (before.length === 0) return now.map((row) => ({ kind: "upsert", table, row }));
  const [old, next] = [byKey(table, before), byKey(table, now)];
  const writes: Write[] = [];
  for (const [key, row] of next) {
    const known = old.get(key);
    if (!known) writes.push({ kind: "upsert", table, row });
    else if (differs(row, known, Object.keys(row))) {
      const isReordered = differs(row, known, indexedBesideKey(table));
      writes.push({ kind: "upsert", table, row, ...(!isReordered && { indexed: "same" }) });
    }
  }
  for (const [key, row] of old) {
    if (next.has(key)) continue;
    const names = table.primaryKey.map((name) => [name, row[name] ?? null] as const);
    writes.push({ kind: "delete", table, key: Object.fromEntries(names) });
  }
  return writes;
};

const differs = (row: Row, other: Row, names: readonly string[]): boolean =>
  names.some((name) => row[name] !== other[name]);

/** Rows that count: what a case gave before is taken away, what it gives now is added. */
const countChanges = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const counts = Object.keys(table.columns).filter((name) => !table.primaryKey.includes(name));
  const changes = new Map<string, Record<string, Value>>();
  const count = (rows: readonly Row[], sign: 1 | -1): void => {
    for (const row of rows) {
      const key = keyText(table, row);
      const known = changes.get(key);
      const change = known ?? { ...row };
      for (const name of counts)
        change[name] = (known ? rowInteger(change, name) : 0) + sign * rowInteger(row, name);
      changes.set(key, change);
    }
  };
  count(before, -1);
  count(now, 1);
  return [...changes.values()]
    .filter((row) => counts.some((name) => row[name] !== 0))
    .map((row) => ({ kind: "add", table, row }));
};
