/**
 * A case expires as a whole, when each of its events has: with a part of its facts it would say what is not true, such as that a decision had no notice.
 * Each node counts which of its events have expired, so what is shown follows from the events and their expiry alone. Then the rows leave the registers; a
 * later event under one of the names brings the case back whole.
 */
import { isOnHold } from "../../access/retention/age.ts";
import type { HoldRecord } from "../../access/retention/records.ts";
import type { Fact } from "../../law/cases/fact.ts";
import { isWaiver, type Rules } from "../../law/obligations/obligation.ts";
import { EVENTS, isExpired } from "../events/tables.ts";
import { type Row, rowText } from "../store/tables.ts";
import type {
  Expectation,
  Snapshot,
  ViewDefinition,
  ViewRevision,
  ViewStore,
  Write,
} from "../store/view-store.ts";
import { componentOf, EMPTY, factsOf, haveExpired, type Node, nodeFrom, nodesOf, rowOf } from "./nodes.ts";
import { loadNodes, namesOfCase } from "./queries.ts";
import { agendaChanges } from "./registers/obligations.ts";
import { registerChanges } from "./registers/registers.ts";
import { CASE_EXPIRY, CASE_NODES } from "./tables.ts";

interface CaseExpiry extends Pick<ViewRevision, "expected" | "writes"> {
  /** Nodes of cases that would expire although a hold keeps a part of them. Nothing of these may expire. */
  readonly held: ReadonlySet<string>;
}

interface Expiring {
  readonly tenant: string;
  readonly rules: Rules;
  readonly isHeld: (fact: Fact) => boolean;
}

/** The changes when these events expire. `events`: their event_ids, by the node that counts them. */
export const casesExpiring = async (
  views: Pick<ViewStore, "load">,
  { events, ...expiring }: Expiring & { readonly events: ReadonlyMap<string, ReadonlySet<string>> },
): Promise<CaseExpiry> => {
  const { tenant } = expiring;
  const rows = await loadNodes(views, tenant, [...events.keys()]);
  const homes = [...events].map(([name, ids]) => ({ name, ids, node: nodeFrom(rows.get(name)) }));
  const asked = homes.flatMap(({ node }) => node.facts).map(({ id }) => ({ tenant, event_id: id }));
  const gone = new Set(
    (await views.load(EVENTS, asked)).filter(isExpired).map((row) => rowText(row, "event_id")),
  );
  const counts = new Map<string, number>();
  for (const { name, ids, node } of homes) {
    const { facts } = node;
    const expired = facts.filter((fact) => ids.has(fact.id) || gone.has(fact.id) || isWaiver(fact)).length;
    // Counted anew, as a view of events that took the place of another may have shown some of them again. Of more events than are kept the sum is known.
    counts.set(name, node.events === facts.length ? expired : node.expired + ids.size);
  }
  return changesTo(counts, rows, expiring);
};

const changesTo = (
  counts: ReadonlyMap<string, number>,
  rows: ReadonlyMap<string, Row>,
  { tenant, rules, isHeld }: Expiring,
): CaseExpiry => {
  const nodes = new Map([...rows].map(([name, row]) => [name, nodeFrom(row)]));
  const before = (name: string): Node => nodes.get(name) ?? EMPTY;
  const now = (name: string): Node => {
    const node = before(name);
    return { ...node, expired: counts.get(name) ?? node.expired };
  };
  const held = new Set<string>();
  const done = new Set<string>();
  const expected: Expectation[] = [];
  const writes: Write[] = [];
  for (const home of counts.keys()) {
    if (done.has(home)) continue;
    const members = componentOf(home, before).filter((name) => rows.has(name));
    for (const name of members) done.add(name);
    const isOver = !haveExpired(members.map(before)) && haveExpired(members.map(now));
    const facts = isOver ? factsOf(members, before) : [];
    if (facts.some(isHeld)) {
      for (const name of members) held.add(name);
      continue;
    }
    for (const name of members) {
      expected.push({ table: CASE_NODES, key: { tenant, node: name }, row: rows.get(name) });
      if (counts.has(name))
        writes.push({ kind: "upsert", table: CASE_NODES, row: rowOf(tenant, name, now(name)) });
    }
    if (!isOver) continue;
    const cases = { before: [{ facts, isExpired: false }], now: [{ facts, isExpired: true }] };
    const inRegisters = registerChanges(tenant, cases, rules);
    for (const write of [...inRegisters, ...agendaChanges(tenant, inRegisters, 0)]) writes.push(write);
  }
  return { held, expected, writes: writes.length === 0 ? writes : [...writes, CASES_REVISED] };
};

/** A process that computes with rows from before this change will notice. */
const CASES_REVISED: Write = { kind: "add", table: CASE_EXPIRY, row: { name: "cases", revisions: 1 } };

/** For a view that was just made from the log, while events may have expired: the same cases have expired as in the live one. */
export const expireCasesAlike = async (
  live: Snapshot,
  made: Pick<ViewStore, "load" | "revise">,
  { view, rules }: { readonly view: ViewDefinition; readonly rules: Rules },
): Promise<void> => {
  for await (const page of live.rows(CASE_NODES)) {
    for (const [tenant, rows] of Map.groupBy(page, (row) => rowText(row, "tenant"))) {
      const counts = new Map(rows.map((row) => [rowText(row, "node"), nodeFrom(row).expired]));
      const keys = [...counts.keys()].map((node) => ({ tenant, node }));
      for (const row of await made.load(CASE_NODES, keys)) {
        const node = rowText(row, "node");
        if (counts.get(node) === nodeFrom(row).expired) counts.delete(node);
      }
      if (counts.size === 0) continue;
      const found = await loadNodes(made, tenant, [...counts.keys()]);
      const { expected, writes } = changesTo(counts, found, { tenant, rules, isHeld: () => false });
      await made.revise({ views: [view], expected, writes });
    }
  }
};

/** Whether one of these holds of a tenant keeps an event: by its asset, or by the case to which it belongs. */
export const holdsOver = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  holds: readonly HoldRecord[],
): Promise<(fact: Fact) => boolean> => {
  const cases = new Map<string, ReadonlySet<string>>();
  for (const { correlation_id: id, released_at: releasedAt } of holds)
    if (id !== undefined && releasedAt === undefined) cases.set(id, await namesOfCase(views, tenant, id));
  return (fact) => {
    const names = nodesOf(fact);
    const isMember = ([, members]: readonly [string, ReadonlySet<string>]): boolean =>
      names.some((name) => members.has(name));
    const correlationIds = [...cases].filter(isMember).map(([id]) => id);
    return isOnHold({ assetId: fact.asset, correlationIds }, holds);
  };
};
