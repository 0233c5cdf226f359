/**
 * What an event goes on with that names it not. Found by what it shares with what may be meant: a case may have thousands of both, and a few lists for each pair of them
 * kept a projector from everything else for 11 s with each event (15,000 events of 60 decisions, measured).
 */
import { countWhile } from "./count-while.ts";
import type { Fact } from "./fact.ts";
import { lazily } from "./lazily.ts";
import type { OtherPersons } from "./persons.ts";

type Thing = readonly [id: string, opening: Fact];

/** In order, and the same by what facts may share with them. */
interface Things extends ByAsset {
  readonly byCorrelation: ReadonlyMap<string | undefined, readonly Thing[]>;
  readonly bySubject: ReadonlyMap<string | undefined, ByAsset>;
}

interface ByAsset {
  readonly all: readonly Thing[];
  readonly byAsset: ReadonlyMap<string, readonly Thing[]>;
}

/** What was opened, the same of what names no decision, and by the decision that it names. Mostly nobody asks: events name what they go on with. */
export interface Opened {
  readonly things: () => Things;
  readonly ofNoDecision: () => Things;
  readonly byDecision: () => ReadonlyMap<string | undefined, readonly Thing[]>;
}

export const openedIn = (opened: ReadonlyMap<string, Fact>): Opened => {
  const byDecision = lazily(() => Map.groupBy(opened, ([, { links }]) => links.decision));
  return {
    things: lazily(() => thingsIn([...opened])),
    ofNoDecision: lazily(() => thingsIn(byDecision().get(undefined) ?? NONE)),
    byDecision,
  };
};

const thingsIn = (all: readonly Thing[]): Things => ({
  ...byAssetOf(all),
  byCorrelation: Map.groupBy(all, ([, { links }]) => links.correlation),
  bySubject: new Map(
    [...Map.groupBy(all, ([, { subject }]) => subject)].map(([subject, own]) => [subject, byAssetOf(own)]),
  ),
});

const byAssetOf = (all: readonly Thing[]): ByAsset => ({
  all,
  byAsset: Map.groupBy(all, ([, { asset }]) => asset),
});

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
const NEVER = (): boolean => false;

/**
 * Of what shares the most with the fact, the last that was opened until then and not closed, and of which the same was not said yet; or else the last that was not closed, or else the last, or
 * else the first.
 */
export const meantBy = (
  fact: Fact,
  { things, ofNoDecision, byDecision }: Opened,
  { isOther, isUntilThen = false, closed = NONE_OF_THEM, said = NONE_OF_THEM }: MeantBefore = {},
): string | undefined => {
  const { decision, correlation } = fact.links;
  const isInTime = (each: Fact): boolean => !isUntilThen || each.at <= fact.at;
  const before = { closed, said };
  if (decision !== undefined) {
    // What names the decision is about it, whoever it is about.
    const found = likestOf(fact, byDecision().get(decision) ?? NONE, isInTime, {
      ...before,
      near: undefined,
    });
    if (found !== undefined) return found;
  }
  const isOfOther = isOther?.(fact) ?? NEVER;
  // What names one decision is not about what names another, and else what is about one of several persons is not about what another one got.
  const those = decision === undefined ? things() : ofNoDecision();
  if (correlation !== undefined) {
    const near = those.byCorrelation.get(correlation) ?? NONE;
    const isPossible = (each: Fact): boolean => isInTime(each) && !isOfOther(each);
    const found = likestOf(fact, near, isPossible, { ...before, near: correlation });
    if (found !== undefined) return found;
  }
  for (const alike of likelierFirst(fact, those)) {
    const found = lastOf(fact, alike, isOfOther, { ...before, isUntilThen });
    if (found !== undefined) return found;
  }
  return undefined;
};

/** What is about the same person, and of the rest what is of the same asset. Where none of one list is possible, all that is of the next one shares as much with the fact. */
function* likelierFirst(
  { subject, asset }: Fact,
  { all, byAsset, bySubject }: Things,
): Generator<readonly Thing[]> {
  const own = subject === undefined ? undefined : bySubject.get(subject);
  if (own) {
    yield own.byAsset.get(asset) ?? NONE;
    yield own.all;
  }
  yield byAsset.get(asset) ?? NONE;
  yield all;
}

/** Of things that share as much with the fact as each other: from its time back, as mostly the last one is meant. */
const lastOf = (
  { at }: Fact,
  things: readonly Thing[],
  isOfOther: (opening: Fact) => boolean,
  { closed, said, isUntilThen }: Required<Pick<MeantBefore, "isUntilThen">> & Before,
): string | undefined => {
  const count = countWhile(things, ([, opening]) => opening.at <= at);
  let last: string | undefined;
  let open: string | undefined;
  for (let place = count - 1; place >= 0; place--) {
    const thing = things[place];
    if (!thing || isOfOther(thing[1])) continue;
    const [id] = thing;
    last ??= id;
    if (closed.has(id)) continue;
    open ??= id;
    if (!said.has(id)) return id;
  }
  if (last !== undefined || isUntilThen) return open ?? last;
  return things.slice(count).find(([, opening]) => !isOfOther(opening))?.[0];
};

interface Before {
  readonly closed: ReadonlySet<string>;
  readonly said: ReadonlySet<string>;
}

/** Of those of the same correlation, where any are; of these of those about the same person, and of these of those of the same asset. */
const likestOf = (
  fact: Fact,
  things: readonly Thing[],
  isPossible: (opening: Fact) => boolean,
  { near, closed, said }: Before & { readonly near: string | undefined },
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
