/** A case and everything known of it, found by one of the names to which its events refer. */
import type { Fact, LinkKind } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { isWaiver } from "../../law/obligations/waivers.ts";
import type { Sequence } from "../../log/outcome.ts";
import { searchQuery } from "../events/queries.ts";
import { EVENTS, isExpired } from "../events/tables.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type CaseView, caseView } from "./case-view.ts";
import { componentOf, eventNode, factsOf, isHub, type Node, nodeFrom, nodeName } from "./nodes.ts";
import { CASE_NODES } from "./tables.ts";

export interface FoundCase extends CaseView {
  /**
   * Events of the case, without the facts that expired with an earlier case of the same names. More than there are facts where a name has more events than
   * are kept.
   */
  readonly events: number;
  /** Times of the first and the last event of the case. Where an earlier case of the same names has expired, only of the events that are kept. */
  readonly firstAt: string | undefined;
  readonly lastAt: string | undefined;
  /** Whether an earlier case of the same names has expired. */
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
  if (rows.size === 0) return undefined;
  const node = (name: string): Node => nodeFrom(rows.get(name));
  const names = componentOf(start, node);
  const members = names.map(node);
  const facts = factsOf(names, node);
  // Waivers are no events of the tenant.
  const waivers = facts.filter(isWaiver).length;
  const events = members.reduce((sum, each) => sum + each.events - each.gone.length, -waivers);
  const hasExpired = members.some(({ gone }) => gone.length > 0);
  const view = caseView(tenant, facts, rules);
  const others = hasExpired ? [] : members.flatMap((each) => each.others.filter((time) => time !== ""));
  const times = [...view.is.facts.map(({ at }) => at), ...others].sort();
  return {
    ...view,
    events,
    firstAt: times.at(0),
    lastAt: times.at(-1),
    hasExpired,
    isShared: isHub(node(start)),
  };
};

/**
 * Whether nothing of the case is left. Expired facts may have taken all places of a name, so that an event that came later is no fact. So the events of the
 * correlation are asked for as well.
 */
export const isCaseExpired = async (
  views: Pick<ViewStore, "select">,
  tenant: string,
  correlationId: string,
  { is, hasExpired }: FoundCase,
  upTo?: Sequence,
): Promise<boolean> => {
  if (is.facts.length > 0 || !hasExpired) return false;
  const filter = { correlationId, timeField: "timestamp", order: "asc" } as const;
  const shown = await views.select(searchQuery(tenant, filter, { after: undefined, upTo, rowsMax: 1 }));
  return shown.length === 0;
};

/** The names by which an event belongs to the case of a correlation, even if it is not among the facts that are kept; those of its nameless notices too. */
export const namesOfCase = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  correlationId: string,
): Promise<ReadonlySet<string>> => {
  const start = nodeName("correlation", correlationId);
  const rows = await loadNodes(views, tenant, [start]);
  const node = (name: string): Node => nodeFrom(rows.get(name));
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

/** The stored events of some facts, by event_id, without those that have expired. */
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
