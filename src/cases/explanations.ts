/** For which decision an explanation is that names none. Pure, and a function of the set of facts. */
import type { DecisionFinder } from "./decision-finder.ts";
import { type Fact, inOrder, likest } from "./fact.ts";
import { asksForExplanation, isExplanation, type Objection, reasonedDenial } from "./objection.ts";

const NO_EXPLANATIONS: ReadonlyMap<Fact, string> = new Map();

/**
 * Which decisions are explained by what names none: of those whose explanation somebody in the same correlation asked for until then and waits for, the nearest one, or else the one that
 * was asked about last.
 */
export const decisionsByExplanation = (parts: {
  readonly facts: readonly Fact[];
  readonly objections: readonly Objection[];
  readonly named: (fact: Fact) => string | undefined;
  readonly nearest: DecisionFinder["nearest"];
}): ReadonlyMap<Fact, string> => {
  const { facts, objections, named, nearest } = parts;
  const requests = objections.filter(asksForExplanation);
  if (requests.length === 0) return NO_EXPLANATIONS;
  const found = new Map<Fact, string>();
  const explained = new Set<Objection>();
  for (const fact of facts.filter(isExplanation)) {
    const open = requests.filter((request) => !explained.has(request) && isOpenAt(request, fact));
    let decisionId = named(fact);
    if (decisionId === undefined) {
      const near = nearest(fact);
      const asked = likest(
        fact,
        open.filter((request) => sharesCorrelation(request, fact)),
        ({ received = fact }) => received,
      );
      const meant = asked.find((request) => request.decisionId === near) ?? lastReceived(asked);
      decisionId = meant?.decisionId ?? near;
      if (decisionId !== undefined) found.set(fact, decisionId);
    }
    const { objection } = fact.links;
    for (const request of open)
      if (request.decisionId === decisionId && (objection ?? request.id) === request.id)
        explained.add(request);
  }
  return found;
};

const isOpenAt = (request: Objection, { at }: Fact): boolean => {
  const { received, decisionId } = request;
  if (received === undefined || decisionId === undefined || received.at > at) return false;
  const denied = reasonedDenial(request);
  return denied === undefined || denied.at > at;
};

const sharesCorrelation = ({ facts }: Objection, { links: { correlation } }: Fact): boolean =>
  correlation !== undefined && facts.some(({ links }) => links.correlation === correlation);

const lastReceived = (objections: readonly Objection[]): Objection | undefined => {
  let last: Objection | undefined;
  for (const objection of objections)
    if (!last?.received || (objection.received && inOrder(last.received, objection.received) < 0))
      last = objection;
  return last;
};
