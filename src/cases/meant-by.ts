/**
 * What an event goes on with that names it not. In one pass over what may be meant: a case may have thousands of both, and a few lists for each pair of them
 * kept a projector from everything else for 11 s with each event (15,000 events of 60 decisions, measured).
 */
import type { Fact } from "./fact.ts";
import type { OtherPersons } from "./persons.ts";

type Thing = readonly [id: string, opening: Fact];

/** What was opened, in order, and the same by the decision that it names. */
export interface Opened {
  readonly things: readonly Thing[];
  readonly byDecision: ReadonlyMap<string | undefined, readonly Thing[]>;
}

export const openedIn = (opened: ReadonlyMap<string, Fact>): Opened => {
  const things = [...opened];
  return { things, byDecision: Map.groupBy(things, ([, { links }]) => links.decision) };
};

/** What is known of the case. */
export interface MeantBefore {
  /** What was closed until then. */
  readonly closed?: ReadonlySet<string> | undefined;
  /** Of what the same was said until then. */
  readonly said?: ReadonlySet<string> | undefined;
  readonly isOther?: OtherPersons;
  /** Nothing is meant that is opened only later. */
  readonly isUntilThen?: boolean;
}

const NONE_OF_THEM: ReadonlySet<string> = new Set();
const NONE: readonly Thing[] = [];

/**
 * Of what shares the most with the fact, the last that was opened until then and not closed, and of which the same was not said yet; or else the last that was not closed, or else the last, or
 * else the first.
 */
export const meantBy = (
  fact: Fact,
  { things, byDecision }: Opened,
  { isOther, isUntilThen = false, closed = NONE_OF_THEM, said = NONE_OF_THEM }: MeantBefore = {},
): string | undefined => {
  const { decision, correlation } = fact.links;
  const isInTime = (each: Fact): boolean => !isUntilThen || each.at <= fact.at;
  const before = { closed, said };
  if (decision !== undefined) {
    // What names the decision is about it, whoever it is about.
    const found = likestOf(fact, byDecision.get(decision) ?? NONE, isInTime, { ...before, near: undefined });
    if (found !== undefined) return found;
  }
  const isOfOther = isOther?.(fact);
  // What names one decision is not about what names another, and else what is about one of several persons is not about what another one got.
  return likestOf(
    fact,
    decision === undefined ? things : (byDecision.get(undefined) ?? NONE),
    (each) => isInTime(each) && !isOfOther?.(each),
    { ...before, near: correlation },
  );
};

/** Of those of the same correlation, where any are; of these of those about the same person, and of these of those of the same asset. */
const likestOf = (
  fact: Fact,
  things: readonly Thing[],
  isPossible: (opening: Fact) => boolean,
  {
    near,
    closed,
    said,
  }: {
    readonly near: string | undefined;
    readonly closed: ReadonlySet<string>;
    readonly said: ReadonlySet<string>;
  },
): string | undefined => {
  const { subject, asset, at } = fact;
  let likeness = -1;
  let first: string | undefined;
  let last: string | undefined;
  let open: string | undefined;
  let unsaid: string | undefined;
  for (const [id, opening] of things) {
    if (!isPossible(opening)) continue;
    const shared =
      (near !== undefined && opening.links.correlation === near ? 4 : 0) +
      (subject !== undefined && opening.subject === subject ? 2 : 0) +
      (opening.asset === asset ? 1 : 0);
    if (shared < likeness) continue;
    if (shared > likeness) {
      likeness = shared;
      first = id;
      last = open = unsaid = undefined;
    }
    if (opening.at > at) continue;
    last = id;
    if (closed.has(id)) continue;
    open = id;
    if (!said.has(id)) unsaid = id;
  }
  return unsaid ?? open ?? last ?? first;
};
