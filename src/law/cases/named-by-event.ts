/**
 * Something may be opened under a name that is used for too much to say anything. Then it is named by its event (projections/cases/nodes.ts). Whoever refers
 * to that event by its id means the same thing, if both are in one case. Pure, and a function of the set of facts.
 */
import { type Fact, NAMED_KINDS, type NamedKind, nameByEvent } from "./fact.ts";

export const meaningByEvent = (facts: readonly Fact[]): readonly Fact[] => {
  // Most cases name neither an objection nor an incident, and this is called for every event.
  if (!facts.some(namesEither)) return facts;
  const opening = new Map<string, Fact>();
  for (const fact of facts)
    if (NAMED_KINDS.some((kind) => isNamedByItself(fact, kind))) opening.set(fact.id, fact);
  if (opening.size === 0) return facts;
  const openedBy = (kind: NamedKind, id: string | undefined): Fact | undefined => {
    const fact = id === undefined ? undefined : opening.get(id);
    return fact && isNamedByItself(fact, kind) ? fact : undefined;
  };
  return facts.map((fact) => {
    let links = fact.links;
    for (const kind of NAMED_KINDS) {
      const meant = openedBy(kind, links[kind]);
      if (meant) links = { ...links, [kind]: nameByEvent(meant) };
    }
    return links === fact.links ? fact : { ...fact, links };
  });
};

const namesEither = ({ links }: Fact): boolean =>
  links.objection !== undefined || links.incident !== undefined;

/** No event can give such a name itself. */
const isNamedByItself = (fact: Fact, kind: NamedKind): boolean =>
  fact.links[kind] !== undefined && fact.links[kind] === nameByEvent(fact);
