/**
 * The view of cases and of all registers that are made of them. A record changes the nodes it refers to; the rows of every case that is touched are
 * made anew from its facts, and what differs from before is written.
 */
import { type Fact, factOf } from "../../cases/fact.ts";
import type { Rules } from "../../obligations/clocks.ts";
import { keyText, type Row, type Table } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import type { Projection, StateKey, States } from "../projection.ts";
import { caseView } from "./case-view.ts";
import { componentOf, isHub, type Node, nodeFrom, nodesOf, rowOf, withFact, withNeighbour } from "./nodes.ts";
import { REGISTERS } from "./registers/registers.ts";
import { CASE_NODES } from "./tables.ts";

export const casesProjection = (rules: Rules, rulesVersion: number): Projection =>
  onFirstEvents({
    name: "cases",
    version: VERSION * RULES_VERSIONS_MAX + rulesVersion,
    tables: [CASE_NODES, ...REGISTERS.map(({ table }) => table)],
    stateKeys: ({ tenant, facts, sequence }) =>
      nodesOf(factOf(facts, sequence)).map((node) => keyOf(tenant, node)),
    furtherKeys,
    evolve: (states, events) => evolve(states, events, rules),
  });

const VERSION = 1;
/** Other deadlines make other rows, so they are part of the version. */
export const RULES_VERSIONS_MAX = 2 ** 32;

const keyOf = (tenant: string, node: string): StateKey => ({ table: CASE_NODES, key: { tenant, node } });

/** The neighbours of what is named already, one step further each time. */
const furtherKeys = (states: States, { tenant, facts, sequence }: FirstEvent): readonly StateKey[] => {
  const keys: StateKey[] = [];
  const seen = new Set(nodesOf(factOf(facts, sequence)));
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
    const fact = factOf(event.facts, event.sequence);
    const names = nodesOf(fact);
    if (names.length === 0) continue;
    const nodes = tenants.get(event.tenant) ?? tenantNodes(states, event.tenant);
    tenants.set(event.tenant, nodes);
    nodes.add(fact, names);
  }
  return [...tenants.values()].flatMap((nodes) => [
    ...nodes.writes(),
    ...rowChanges(nodes.tenant, nodes.touched, rules),
  ]);
};

type TenantNodes = ReturnType<typeof tenantNodes>;

const tenantNodes = (states: States, tenant: string) => {
  const changed = new Map<string, Node>();
  const before = (name: string): Node => nodeFrom(states.get(CASE_NODES, { tenant, node: name }));
  const now = (name: string): Node => changed.get(name) ?? before(name);
  /** Nodes whose case has other facts than before. */
  const dirty = new Set<string>();
  const change = (name: string, node: Node): void => {
    const old = now(name);
    changed.set(name, node);
    if (node.facts !== old.facts || node.neighbours !== old.neighbours) dirty.add(name);
  };
  return {
    tenant,
    add: (fact: Fact, names: readonly string[]): void => {
      const [home, ...others] = names;
      if (home === undefined) return;
      change(home, withFact(now(home), fact));
      for (const other of others) {
        change(home, withNeighbour(now(home), other));
        change(other, withNeighbour(now(other), home));
      }
    },
    /** The facts of all cases that changed, as they were and as they are. */
    touched: {
      before: () => casesOf([...dirty], before),
      now: () => {
        // A case may have fallen apart: each of its old parts is looked at as well.
        const parts = [...dirty].flatMap((name) => [name, ...componentOf(name, before)]);
        return casesOf(parts, now);
      },
    },
    writes: (): readonly Write[] =>
      [...changed].map(([name, node]) => ({
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
    const component = componentOf(name, node);
    for (const member of component) done.add(member);
    cases.push(component.flatMap((member) => node(member).facts));
  }
  return cases;
};

const rowChanges = (tenant: string, touched: TenantNodes["touched"], rules: Rules): readonly Write[] => {
  const before = touched.before().map((facts) => caseView(tenant, facts, rules));
  const now = touched.now().map((facts) => caseView(tenant, facts, rules));
  return REGISTERS.flatMap(({ table, kind, rowsOf: made }) =>
    kind === "rows"
      ? differences(table, before.flatMap(made), now.flatMap(made))
      : countChanges(table, before.flatMap(made), now.flatMap(made)),
  );
};

const byKey = (table: Table, rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [keyText(table, row), row]));

const differences = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const [old, next] = [byKey(table, before), byKey(table, now)];
  const writes: Write[] = [];
  for (const [key, row] of next) {
    const known = old.get(key);
    if (!known || Object.keys(row).some((name) => row[name] !== known[name]))
      writes.push({ kind: "upsert", table, row });
  }
  for (const [key, row] of old) {
    if (next.has(key)) continue;
    const names = table.primaryKey.map((name) => [name, row[name] ?? null] as const);
    writes.push({ kind: "delete", table, key: Object.fromEntries(names) });
  }
  return writes;
};

/** Rows that count: what a case gave before is taken away, what it gives now is added. */
const countChanges = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const changes = new Map<string, Record<string, string | number | null>>();
  const count = (rows: readonly Row[], sign: 1 | -1): void => {
    for (const row of rows) {
      const key = keyText(table, row);
      const change = changes.get(key) ?? { ...row };
      for (const [name, value] of Object.entries(row)) {
        if (table.primaryKey.includes(name) || typeof value !== "number") continue;
        const sum = changes.has(key) ? Number(change[name]) : 0;
        change[name] = sum + sign * value;
      }
      changes.set(key, change);
    }
  };
  count(before, -1);
  count(now, 1);
  return [...changes.values()]
    .filter((row) =>
      Object.entries(row).some(([name, value]) => !table.primaryKey.includes(name) && value !== 0),
    )
    .map((row) => ({ kind: "add", table, row }));
};
