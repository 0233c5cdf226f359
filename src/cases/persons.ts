/**
 * Whom a case is about. A correlation may be that of a run over many persons, or of a chain of systems. Then an event that names nothing else is about what
 * its own person got, from its own system.
 */
import { DECISION_MADE, type Fact } from "./fact.ts";

/** Whether a thing is certainly about another person than the fact. */
export type OtherPersons = (fact: Fact) => (thing: Fact) => boolean;

const NEVER = (): boolean => false;

/**
 * Where decisions are about several persons, any other person is somebody else. Where they are about a single one, another hash may be the same person, named
 * in another way.
 */
export const otherPersons = (facts: readonly Fact[]): OtherPersons => {
  let persons: ReadonlySet<string> | undefined;
  return ({ subject }) => {
    if (subject === undefined) return NEVER;
    persons ??= new Set(facts.flatMap((fact) => (fact.type === DECISION_MADE ? (fact.subject ?? []) : [])));
    if (persons.size < 2) return NEVER;
    return (thing) => thing.subject !== undefined && thing.subject !== subject;
  };
};

/** Whether any thing can be about another person, by the result of `OtherPersons`. */
export const mayBeOther = (isOfOther: (thing: Fact) => boolean): boolean => isOfOther !== NEVER;

/** Those about the same person, if there are any; of these, those of the same asset, if there are any. */
export const likest = <Thing>(
  fact: Fact,
  things: readonly Thing[],
  factOf: (thing: Thing) => Fact,
): readonly Thing[] => {
  if (things.length < 2) return things;
  const { subject, asset } = fact;
  const ofPerson = subject === undefined ? [] : things.filter((thing) => factOf(thing).subject === subject);
  const near = ofPerson.length > 0 ? ofPerson : things;
  const ofAsset = near.filter((thing) => factOf(thing).asset === asset);
  return ofAsset.length > 0 ? ofAsset : near;
};
