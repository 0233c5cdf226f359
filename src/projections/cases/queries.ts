/** A case and everything that is known of it, found by one of the names that its events refer to. */
import type { Fact, LinkKind } from "../../cases/fact.ts";
import type { Rules } from "../../obligations/clocks.ts";
import { type Row, rowText } from "../../views/tables.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { EVENTS, isExpired } from "../events/tables.ts";
import { type CaseView, caseView } from "./case-view.ts";
import { componentOf, isHub, type Node, nodeFrom, nodeName } from "./nodes.ts";
import { CASE_NODES } from "./tables.ts";

export interface FoundCase extends CaseView {
  /** Events of the case; more than there are facts where a name has more events than are kept. */
  readonly events: number;
}

export const findCase = async (
  views: ViewStore,
  tenant: string,
  { kind, value, rules }: { readonly kind: LinkKind; readonly value: string; readonly rules: Rules },
): Promise<FoundCase | undefined> => {
  const start = nodeName(kind, value);
  const nodes = await loadCase(views, tenant, start);
  if (nodes.size === 0) return undefined;
  const node = (name: string): Node => nodes.get(name) ?? nodeFrom(undefined);
  const members = componentOf(start, node).map(node);
  const facts: readonly Fact[] = members.flatMap(({ facts: own }) => own);
  const events = members.reduce((sum, each) => sum + each.events, 0);
  return { ...caseView(tenant, facts, rules), events };
};

/** The names by which an event belongs to the case of a correlation, also where it is not among the facts that are kept. */
export const namesOfCase = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  correlationId: string,
): Promise<ReadonlySet<string>> => {
  const start = nodeName("correlation", correlationId);
  const nodes = await loadCase(views, tenant, start);
  return new Set(componentOf(start, (name) => nodes.get(name) ?? nodeFrom(undefined)));
};

/** The node and all that can be reached from it, one step for all of them at a time. */
const loadCase = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  start: string,
): Promise<ReadonlyMap<string, Node>> => {
  const nodes = new Map<string, Node>();
  const asked = new Set<string>();
  for (let names = [start]; names.length > 0; ) {
    for (const name of names) asked.add(name);
    const rows = await views.load(
      CASE_NODES,
      names.map((node) => ({ tenant, node })),
    );
    const found = rows.map((row) => [rowText(row, "node"), nodeFrom(row)] as const);
    for (const [name, node] of found) nodes.set(name, node);
    const reached = found.flatMap(([, node]) => (isHub(node) ? [] : node.neighbours));
    names = [...new Set(reached)].filter((name) => !asked.has(name));
  }
  return nodes;
};

/** The stored events of some facts, by event_id; without those that have expired. */
export const eventsOfFacts = async (
  views: ViewStore,
  tenant: string,
  facts: readonly Fact[],
): Promise<ReadonlyMap<string, Row>> => {
  const rows = await views.load(
    EVENTS,
    facts.map(({ id }) => ({ tenant, event_id: id })),
  );
  return new Map(rows.filter((row) => !isExpired(row)).map((row) => [rowText(row, "event_id"), row]));
};
