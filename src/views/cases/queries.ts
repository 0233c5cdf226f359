/** A case and everything known of it, found by one of the names to which its events refer. */

import { eventFacts, readEvent } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import { type Fact, factOf, type LinkKind } from "../../law/cases/fact.ts";
import { isWaiver, type Rules } from "../../law/obligations/obligation.ts";
import { findEvent } from "../events/queries.ts";
import { EVENTS, isExpired } from "../events/tables.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import {
  componentOf,
  EMPTY,
  eventNode,
  factsOf,
  haveExpired,
  isHub,
  type Node,
  nodeFrom,
  nodeName,
  nodesOf,
} from "./nodes.ts";
import { OBLIGATIONS } from "./registers/obligations.ts";
import { type CaseView, caseView } from "./registers/register.ts";
import { CASE_NODES } from "./tables.ts";

export interface FoundCase extends CaseView {
  /** More than there are facts where a name has more events than are kept; 0 after the case has expired. */
  readonly events: number;
  readonly firstAt: string | undefined;
  readonly lastAt: string | undefined;
  readonly hasExpired: boolean;
  /** Whether the name stands beside so many others that it holds no case together. Then everything with a name of its own is a case of its own. */
  readonly isShared: boolean;
}

export const findCase = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  { kind, value, rules }: { readonly kind: LinkKind; readonly value: string; readonly rules: Rules },
): Promise<FoundCase | undefined> => {
  const start = nodeName(kind, value);
  const rows = await loadNodes(views, tenant, [start]);
  return rows.size === 0 ? undefined : caseAround(tenant, start, { node: nodesIn(rows), rules });
};

export const caseAround = (
  tenant: string,
  start: string,
  { node, rules }: { readonly node: (name: string) => Node; readonly rules: Rules },
): FoundCase => {
  const names = componentOf(start, node);
  const members = names.map(node);
  const hasExpired = haveExpired(members);
  const facts = hasExpired ? [] : factsOf(names, node);
  // Waivers are no events of the tenant.
  const waivers = facts.filter(isWaiver).length;
  const events = hasExpired ? 0 : members.reduce((sum, each) => sum + each.events, -waivers);
  const view = caseView(tenant, facts, rules);
  const others = hasExpired ? [] : members.flatMap((each) => each.others);
  const times = [...view.is.facts.map(({ at }) => at), ...others].sort();
  const isShared = isHub(node(start));
  return { ...view, events, firstAt: times.at(0), lastAt: times.at(-1), hasExpired, isShared };
};

export const nodesIn = (rows: ReadonlyMap<string, Row>): ((name: string) => Node) => {
  const nodes = new Map([...rows].map(([name, row]) => [name, nodeFrom(row)]));
  return (name) => nodes.get(name) ?? EMPTY;
};

/** The names by which an event belongs to the case of a correlation, even if it is not among the facts that are kept; those of its nameless notices too. */
export const namesOfCase = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  correlationId: string,
): Promise<ReadonlySet<string>> => {
  const start = nodeName("correlation", correlationId);
  const rows = await loadNodes(views, tenant, [start]);
  const node = nodesIn(rows);
  const names = componentOf(start, node);
  const notices = names.flatMap((name) => node(name).borrowed.map(({ id }) => eventNode(id)));
  return new Set([...names, ...notices]);
};

/** The rows of these nodes and of all nodes that can be reached from them. Each round loads one step further, for all of them together. */
export const loadNodes = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  starts: readonly string[],
): Promise<ReadonlyMap<string, Row>> => {
  const nodes = new Map<string, Row>();
  const asked = new Set<string>();
  for (let names = starts; names.length > 0; ) {
    for (const name of names) asked.add(name);
    const rows = await views.load(
      CASE_NODES,
      names.map((node) => ({ tenant, node })),
    );
    for (const row of rows) nodes.set(rowText(row, "node"), row);
    const reached = rows.map(nodeFrom).flatMap((node) => (isHub(node) ? [] : node.neighbours));
    names = [...new Set(reached)].filter((name) => !asked.has(name));
  }
  return nodes;
};

export const eventsOfFacts = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  facts: readonly Fact[],
): Promise<ReadonlyMap<string, Row>> => {
  const rows = await views.load(
    EVENTS,
    facts.map(({ id }) => ({ tenant, event_id: id })),
  );
  return new Map(rows.filter((row) => !isExpired(row)).map((row) => [rowText(row, "event_id"), row]));
};

export const findObligation = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  obligationId: string,
): Promise<Row | undefined> => (await views.load(OBLIGATIONS, [{ tenant, obligation_id: obligationId }]))[0];

/** The name by which a waiver finds the case of the obligation: that of the event that started it. Undefined if that event has expired. */
export const caseNameOf = async (
  views: ViewStore,
  tenant: string,
  obligation: Row,
): Promise<string | undefined> => {
  const event = await findEvent(views, tenant, rowText(obligation, "started_by"));
  if (event?.kind !== "stored") return undefined;
  const facts = eventFacts(readEvent(event.eventText));
  return facts && nodesOf(factOf(facts, event.sequence, timeKey(event.receivedAt)))[0];
};
