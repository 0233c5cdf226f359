import { earlier, type Fact, OBJECTION_RECEIVED, saysWord } from "./fact.ts";
import type { LinkedBy } from "./links.ts";

/**
 * An objection that is received again after it was resolved is open again (DOMAIN 2b). Then `received`, and what became of it, are those of the last time.
 */
export interface Objection {
  readonly id: string;
  readonly decisionId: string | undefined;
  readonly linkedBy: LinkedBy | undefined;
  /** Where no decision is known: explanations and reversals that name it, or stand under a correlation of which it is the only objection. In order. */
  readonly answers: readonly Fact[];
  /** Its type, as it was received. Where that is not said, as another event said last; and where none did, as it was the time before. */
  readonly type: string | undefined;
  /** Absent where events refer to an objection that was never seen. Of several received while it is open, the first counts. */
  readonly received: Fact | undefined;
  readonly acknowledged: Fact | undefined;
  readonly escalated: Fact | undefined;
  readonly resolved: Fact | undefined;
  readonly facts: readonly Fact[];
}

export interface Opening extends Omit<Objection, "linkedBy" | "answers"> {
  readonly facts: readonly Fact[];
  /** What ended it without what was asked for; where that was then asked for again, what ended it the next time. */
  readonly ended: Fact | undefined;
}

export const isResolved = ({ type }: Fact): boolean => type === "objection.resolved";
const isReceived = ({ type }: Fact): boolean => OBJECTION_RECEIVED.includes(type);
const saysType = (fact: Fact | undefined): string | undefined => fact?.says.objection_type;

export const openingsOf = ({
  id,
  decisionId,
  facts,
}: Pick<Objection, "id" | "decisionId" | "facts">): readonly Opening[] => {
  const openings: Omit<Opening, "ended">[] = [];
  for (const own of timesOpen(facts)) {
    const received = own.find(isReceived);
    openings.push({
      id,
      decisionId,
      facts: own,
      received,
      type: saysType(received) ?? saysType(own.findLast(saysType)) ?? openings.at(-1)?.type,
      acknowledged: own.find(({ type }) => type === "objection.acknowledged"),
      escalated: own.find(({ type }) => type === "objection.escalated"),
      resolved: own.findLast(isResolved),
    });
  }
  // From the last one: what ended it ends the one before as well, if that asked for the same.
  let next: Opening | undefined;
  return openings
    .toReversed()
    .map((opening): Opening => {
      const isAskedAgain = opening.type?.toLowerCase() === next?.type?.toLowerCase();
      next = { ...opening, ended: endWithoutAnswer(opening) ?? (isAskedAgain ? next?.ended : undefined) };
      return next;
    })
    .reverse();
};

/** The facts of each time that it was open: it opens again where it is received after it was resolved. */
const timesOpen = (facts: readonly Fact[]): readonly (readonly Fact[])[] => {
  const times: (readonly Fact[])[] = [];
  let [start, isOpened] = [0, false];
  let resolved: Fact | undefined;
  for (const [index, fact] of facts.entries()) {
    if (isResolved(fact) && isOpened) resolved = fact;
    if (!isReceived(fact)) continue;
    if (resolved && resolved.at < fact.at) {
      times.push(facts.slice(start, index));
      [start, resolved] = [index, undefined];
    }
    isOpened = true;
  }
  return [...times, facts.slice(start)];
};

export const isDenied = (fact: Fact): boolean => saysWord(fact, "resolution") === "denied";

/** What the person sent tells that person nothing. */
export const isTold = (fact: Fact): boolean => !isReceived(fact);

/** By how many days the event says that the limit is extended. Not above 0 where it says nothing of it, or no number. */
export const extensionDays = ({ says }: Fact): number => Math.floor(Number(says.extension_days ?? 0));

/** Tells the reason for what became of the objection itself. A review has a reason of its own, and so have an extension and what the person sent. */
export const tellsReason = (fact: Fact): boolean =>
  fact.type.startsWith("objection.") &&
  isTold(fact) &&
  fact.says.reason !== undefined &&
  (isResolved(fact) || !(extensionDays(fact) > 0));

/**
 * What ends a request for an explanation, or a refusal of an automated decision, without what was asked for: a denial as soon as its reason is told, or that
 * the person withdrew it.
 */
const endWithoutAnswer = ({ received, facts }: Pick<Objection, "received" | "facts">): Fact | undefined => {
  if (!received) return undefined;
  const results = facts.filter((fact) => isResolved(fact) && fact.at >= received.at);
  const denial = results.find(isDenied);
  return earlier(
    results.find((fact) => isWithdrawn(fact) || (isDenied(fact) && tellsReason(fact))),
    denial && facts.find((fact) => fact.at >= denial.at && !isResolved(fact) && tellsReason(fact)),
  );
};

export const isWithdrawn = (fact: Fact): boolean => saysWord(fact, "resolution") === "withdrawn";

export const isExplanation = ({ type }: Fact): boolean => type === "decision.explanation_provided";
export const isReversal = ({ type }: Fact): boolean => type === "decision.decision_reversed";

export const EXPLANATION_REQUEST = "explanation_request";
export const asksForExplanation = (objection: Pick<Objection, "type">): boolean =>
  objection.type?.toLowerCase() === EXPLANATION_REQUEST;
