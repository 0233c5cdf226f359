/**
 * Finds what an event continues without naming it, by what both have in common. Candidates are kept in groups: a case may have thousands of both, and to make
 * a few lists for each pair kept a projector busy for 11 s with each event (15,000 events of 60 decisions, measured).
 */
import { countWhile } from "./count-while.ts";
import type { Fact } from "./fact.ts";
import { lazily } from "./lazily.ts";
import type { OtherPersons } from "./persons.ts";

type Thing = readonly [id: string, opening: Fact];

/** All things in order, and the same indexed by what facts may share with them. */
interface Things extends ByAsset {
  readonly byCorrelation: ReadonlyMap<string | undefined, readonly Thing[]>;
  readonly bySubject: ReadonlyMap<string | undefined, ByAsset>;
}

interface ByAsset {
  readonly all: readonly Thing[];
  readonly byAsset: ReadonlyMap<string, readonly Thing[]>;
}

/**
 * All that was opened, the part of it that names no decision, and the rest by the decision that it names. Mostly nobody asks for these: events name what they
 * continue.
 */
export interface Opened {
  readonly openedAt: (id: string) => string;
  readonly things: () => Things;
  readonly ofNoDecision: () => Things;
  readonly byDecision: () => ReadonlyMap<string | undefined, readonly Thing[]>;
}

export const openedIn = (opened: ReadonlyMap<string, Fact>): Opened => {
  const byDecision = lazily(() => Map.groupBy(opened, ([, { links }]) => links.decision));
  return {
    openedAt: (id) => opened.get(id)?.at ?? "",
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

/** What has happened in the case before the event. */
export interface MeantBefore {
  /** Things that were closed before. */
  readonly closed?: ReadonlySet<string> | undefined;
  /** What already had an event of the same type until then. */
  readonly said?: ReadonlySet<string> | undefined;
  readonly isOther?: OtherPersons;
  /** What is opened only later is not meant. */
  readonly isUntilThen?: boolean;
}

const NONE_OF_THEM: ReadonlySet<string> = new Set();
const NONE: readonly Thing[] = [];
const NEVER = (): boolean => false;

/**
 * Of the things that share the most with the fact: the last one opened until then that is not closed and had no such event yet; or else the last that is not
 * closed; or else the last; or else the first. That one was opened only after the fact, and events refer back (DOMAIN 2b): so what was opened until then and
 * had no such event yet is meant before it, even if it shares less.
 */
export const meantBy = (fact: Fact, opened: Opened, before: MeantBefore = {}): string | undefined => {
  const found = sharingMost(fact, opened, before);
  if (found === undefined || before.isUntilThen || opened.openedAt(found) <= fact.at) return found;
  const earlier = sharingMost(fact, opened, { ...before, isUntilThen: true });
  return earlier === undefined || before.said?.has(earlier) ? found : earlier;
};

const sharingMost = (
  fact: Fact,
  { things, ofNoDecision, byDecision }: Opened,
  { isOther, isUntilThen = false, closed = NONE_OF_THEM, said = NONE_OF_THEM }: MeantBefore,
): string | undefined => {
  const { decision, correlation } = fact.links;
  const isInTime = (each: Fact): boolean => !isUntilThen || each.at <= fact.at;
  const before = { closed, said };
  if (decision !== undefined) {
    // An event that names the decision is about it, whichever person it is about.
    const found = likestOf(fact, byDecision().get(decision) ?? NONE, isInTime, {
      ...before,
      near: undefined,
    });
    if (found !== undefined) return found;
  }
  const isOfOther = isOther?.(fact) ?? NEVER;
  // An event that names one decision is not about what names another. And where a case has several persons, an event about one of them is not about what another one got.
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

/**
 * First what is about the same person, then all; of each, first what is of the same asset. Where nothing in a list is possible, all things in the next one
 * share equally much with the fact.
 */
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

/** Of things that share equally much with the fact. Looks backwards from its time, as mostly the last one is meant. */
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

/** Of things of the same correlation, where there are any; of these, of those about the same person; of these, of those of the same asset. */
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
