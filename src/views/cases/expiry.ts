/**
 * Which cases have expired, and what is left of them. A case goes as a whole, when every event that it keeps has expired: with only a part of its facts it
 * would say what is not true, such as that a decision had no notice. The names and their connections stay, as the identity of an event does.
 */
import type { Fact } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { isWaiver } from "../../law/obligations/waivers.ts";
import type { Sequence } from "../../log/outcome.ts";
import { EVENTS, isExpired } from "../events/tables.ts";
import { CASES_WALK_MS } from "../kit/limits.ts";
import { type Row, rowInteger, rowText } from "../store/tables.ts";
import { type TenantQuery, tenantList } from "../store/tenant-query.ts";
import type { Expectation, ViewRevision, ViewStore, Write } from "../store/view-store.ts";
import { dutyChanges } from "./duty-changes.ts";
import {
  componentOf,
  eventNode,
  factsOf,
  type GoneFact,
  type Node,
  nodeFrom,
  noticesGone,
  rowOf,
  withAwaiting,
  withoutAwaiting,
  withoutFacts,
} from "./nodes.ts";
import {
  awaitedOf,
  PERSON_NOTICES,
  personFrom,
  personOf,
  personRow,
  withoutDecisions,
} from "./person-notices.ts";
import { loadNodes } from "./queries.ts";
import { type CaseChanges, registerChanges } from "./register-changes.ts";
import { CASE_EXPIRY, CASE_EXPIRY_KEY, CASE_NODES } from "./tables.ts";

export type RowChanges = Pick<ViewRevision, "expected" | "writes">;

/** The nodes of a case that exist, and its facts as the registers were made from them. */
export interface Members {
  readonly nodes: ReadonlyMap<string, Node>;
  /** The facts of a node that are asked for. What one of a hub names is named by the first of them that does (nodes.ts). */
  readonly factsOf: (name: string, isAskedFor?: (fact: Fact) => boolean) => readonly Fact[];
}

/** The cases to which the names belong, as their existing nodes. */
export const casesWith = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  names: readonly string[],
): Promise<{ readonly cases: readonly Members[]; readonly rows: ReadonlyMap<string, Row> }> => {
  const rows = await loadNodes(views, tenant, names);
  const node = (name: string): Node => nodeFrom(rows.get(name));
  const done = new Set<string>();
  const cases: Members[] = [];
  for (const name of names) {
    if (done.has(name)) continue;
    const nodes = new Map<string, Node>();
    for (const member of componentOf(name, node)) {
      done.add(member);
      if (rows.has(member)) nodes.set(member, node(member));
    }
    cases.push({
      nodes,
      factsOf: (member, isAskedFor = () => true) =>
        factsOf([member], (each) => {
          const found = node(each);
          return each === member ? { ...found, facts: found.facts.filter(isAskedFor) } : found;
        }),
    });
  }
  return { cases, rows };
};

const allFactsOf = (members: Members): readonly Fact[] =>
  [...members.nodes.keys()].flatMap((name) => members.factsOf(name));

/** Without the notices that stand in cases of their own. */
const ownFactsOf = (members: Members): readonly Fact[] =>
  allFactsOf(members).filter(({ bySubject }) => !bySubject);

/** What is left of a case without some of its facts. A notice that has expired waits for no decision any more. */
export const withoutGone = (
  parts: {
    readonly tenant: string;
    readonly members: Members;
    readonly rules: Rules;
    /** By node: what is left of facts that went before. */
    readonly known?: (name: string) => ReadonlyMap<string, GoneFact>;
  },
  goneWith: (name: string, fact: Fact) => Sequence | undefined,
): readonly Write[] => {
  const { tenant, members, rules } = parts;
  const writes: Write[] = [];
  // Facts that expired together were a case, without everything that had expired before or came later.
  const groups = new Map<Sequence | undefined, Fact[]>();
  for (const [name, node] of members.nodes) {
    const known = parts.known?.(name);
    for (const group of new Set(node.facts.map((fact) => goneWith(name, fact)))) {
      const facts = members.factsOf(name, (fact) => goneWith(name, fact) === group);
      const notices =
        known && group !== undefined
          ? noticesGone(
              node,
              [...known.values()].filter((fact) => fact.with === group),
            )
          : facts.filter(({ bySubject }) => bySubject);
      const own = facts.filter(({ bySubject }) => !bySubject);
      const left = group === undefined ? own : own.map(withoutAwaiting);
      groups.set(group, [...(groups.get(group) ?? []), ...left, ...notices]);
    }
    const reduced = withoutFacts(node, (fact) => goneWith(name, fact), known);
    if (reduced.facts.length < node.facts.length)
      writes.push({ kind: "upsert", table: CASE_NODES, row: rowOf(tenant, name, reduced) });
  }
  const left = groups.get(undefined);
  groups.delete(undefined);
  const changes: CaseChanges = {
    before: [allFactsOf(members)],
    now: left ? [left] : [],
    gone: [...groups.values()],
  };
  const inRegisters = registerChanges(tenant, changes, rules);
  return [...writes, ...inRegisters, ...dutyChanges(tenant, inRegisters, undefined)];
};

/**
 * The changes when everything of these names that has expired goes. `expiring`: event_ids that expire now. `readHolds` tells which facts are on hold: their
 * case stays, even if the event itself expired before the hold.
 */
export const casesExpiring = async (
  views: Pick<ViewStore, "load">,
  parts: {
    readonly tenant: string;
    readonly names: readonly string[];
    readonly expiring: ReadonlySet<string>;
    readonly rules: Rules;
    readonly readHolds: () => Promise<(fact: Fact) => boolean>;
  },
): Promise<RowChanges> => {
  const { tenant, names, expiring, rules, readHolds } = parts;
  const { cases, rows } = await casesWith(views, tenant, names);
  const asked = cases.flatMap(ownFactsOf).filter(({ id }) => !expiring.has(id));
  const stored = await views.load(
    EVENTS,
    asked.map(({ id }) => ({ tenant, event_id: id })),
  );
  const gone = new Set(stored.filter(isExpired).map((row) => rowText(row, "event_id")));
  const over = cases.flatMap((members) => {
    const facts = ownFactsOf(members);
    // A waiver is no event of the tenant: it goes with the others.
    const events = facts.filter((fact) => !isWaiver(fact));
    const isOver = events.length > 0 && events.every(({ id }) => expiring.has(id) || gone.has(id));
    return isOver ? [{ members, facts }] : [];
  });
  if (over.length === 0) return { expected: [], writes: [] };
  const isOnHold = await readHolds();
  const going = over.filter(({ facts }) => !facts.some(isOnHold));
  const persons = await personsWithout(
    views,
    tenant,
    going.flatMap(({ facts }) => facts),
    rules,
  );
  const expected = [...persons.expected];
  const writes = [...persons.writes];
  for (const { members, facts } of going) {
    // A case may have more facts than a call takes arguments: on V8 some 125,000.
    const first = facts.reduce((least, { sequence }) => Math.min(least, sequence), Number.MAX_SAFE_INTEGER);
    for (const node of members.nodes.keys())
      expected.push({ table: CASE_NODES, key: { tenant, node }, row: rows.get(node) });
    for (const write of withoutGone({ tenant, members, rules }, () => first)) writes.push(write);
  }
  return { expected, writes };
};

/** The rows that join notices and decisions by person (person-notices.ts), when these facts go. */
const personsWithout = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  facts: readonly Fact[],
  rules: Rules,
): Promise<RowChanges> => {
  const going = Map.groupBy(facts, (fact) => personOf(fact));
  const keys = [...going.keys()].flatMap((person) => (person === undefined ? [] : [{ tenant, person }]));
  const rows = await views.load(PERSON_NOTICES, keys);
  const known = rows.map((row) => ({ row, person: personFrom(row), key: rowText(row, "person") }));
  const notices = known.flatMap(({ person: { first, last } }) => [first?.id ?? [], last?.id ?? []].flat());
  const nodes = await views.load(
    CASE_NODES,
    [...new Set(notices)].map((id) => ({ tenant, node: eventNode(id) })),
  );
  const ids = new Set(facts.map(({ id }) => id));
  const kept = new Set(nodes.flatMap((row) => nodeFrom(row).facts).map(({ id }) => id));
  const isKept = ({ id }: Fact): boolean => kept.has(id) && !ids.has(id);
  const expected: Expectation[] = [];
  const writes: Write[] = [];
  for (const { row, person, key } of known) {
    const gone = new Set((going.get(key) ?? []).flatMap(({ links }) => links.decision ?? []));
    const left = withoutDecisions(person, gone, isKept);
    expected.push({ table: PERSON_NOTICES, key: { tenant, person: key }, row });
    writes.push(
      left
        ? { kind: "upsert", table: PERSON_NOTICES, row: personRow(tenant, key, left) }
        : { kind: "delete", table: PERSON_NOTICES, key: { tenant, person: key } },
    );
    // Where the first notice has gone, the last one waits in its place.
    const awaited = left && awaitedOf(left);
    const node = awaited && nodes.find((each) => each.node === eventNode(awaited.id));
    if (!node) continue;
    expected.push({ table: CASE_NODES, key: { tenant, node: rowText(node, "node") }, row: node });
    writes.push(...markedNotice({ tenant, row: node, isAwaiting: true, rules }));
  }
  return { expected, writes };
};

/** The changes where a notice without a name begins to wait for a decision, or waits no more. `row`: its node, which is a case of its own. */
export const markedNotice = (parts: {
  readonly tenant: string;
  readonly row: Row;
  readonly isAwaiting: boolean;
  readonly rules: Rules;
}): readonly Write[] => {
  const { tenant, row, isAwaiting, rules } = parts;
  const name = rowText(row, "node");
  const before = nodeFrom(row);
  const now = withAwaiting(before, isAwaiting);
  if (now === before) return [];
  const casesOf = (node: Node): readonly (readonly Fact[])[] => [factsOf([name], () => node)];
  const changes = registerChanges(tenant, { before: casesOf(before), now: casesOf(now) }, rules);
  return [{ kind: "upsert", table: CASE_NODES, row: rowOf(tenant, name, now) }, ...changes];
};

/** The same changes, and one that a process computing with the old rows will notice. */
export const noticeably = async (
  views: Pick<ViewStore, "load">,
  { expected, writes }: RowChanges,
  change: { readonly walkedAt?: number } = {},
): Promise<RowChanges> => {
  const [row] = await views.load(CASE_EXPIRY, [CASE_EXPIRY_KEY]);
  const next = {
    ...CASE_EXPIRY_KEY,
    revisions: (row ? rowInteger(row, "revisions") : 0) + 1,
    walked_at: change.walkedAt ?? (row ? rowInteger(row, "walked_at") : 0),
  };
  return {
    expected: [...expected, { table: CASE_EXPIRY, key: CASE_EXPIRY_KEY, row }],
    writes: [...writes, { kind: "upsert", table: CASE_EXPIRY, row: next }],
  };
};

export const isWalkDue = async (views: Pick<ViewStore, "load">, nowMs: number): Promise<boolean> => {
  const [row] = await views.load(CASE_EXPIRY, [CASE_EXPIRY_KEY]);
  const walkedAt = row ? rowInteger(row, "walked_at") : 0;
  // A time in the future was written by a clock that was ahead; it makes a look due as well.
  return Math.abs(nowMs - walkedAt) >= CASES_WALK_MS;
};

/** Nodes after a name. */
export const walkQuery = (tenant: string, after: string | undefined, rowsMax: number): TenantQuery =>
  tenantList({
    tenant,
    table: CASE_NODES,
    columns: ["node", "facts"],
    where: [],
    orderBy: ["node"],
    order: "asc",
    after: after === undefined ? undefined : [after],
    rowsMax,
  });
