/** Notices, and what the person did with them. Pure, and a function of the set of facts. */
import { type Fact, isNoticeAnswer, isNoticeDismissed, isNoticeShown } from "./fact.ts";

/** What a person was told beforehand, and what the person did with it. */
export interface Notice {
  /** The event that showed it. Of an orphan, which nothing showed, the event that dismissed or acknowledged it. */
  readonly id: string;
  readonly shown: Fact | undefined;
  readonly dismissed: Fact | undefined;
  readonly acknowledged: Fact | undefined;
}

const NONE: readonly never[] = [];

/**
 * Each event shows one notice. An event that dismisses or acknowledges one means the only notice that names its decision, or else the only one under its
 * correlation; of several such events the first counts.
 */
export const noticesOf = (facts: readonly Fact[]): readonly Notice[] => {
  const notices: { -readonly [Name in keyof Notice]: Notice[Name] }[] = [];
  let hasAnswers = false;
  for (const fact of facts) {
    if (fact.bySubject) continue;
    if (isNoticeShown(fact))
      notices.push({ id: fact.id, shown: fact, dismissed: undefined, acknowledged: undefined });
    else hasAnswers ||= isNoticeAnswer(fact);
  }
  // Most cases have a notice, and few notices are answered.
  if (!hasAnswers) return notices.length === 0 ? NONE : notices;
  const shown = [...notices];
  const byDecision = Map.groupBy(shown, (notice) => notice.shown?.links.decision);
  const byCorrelation = Map.groupBy(shown, (notice) => notice.shown?.links.correlation);
  for (const fact of facts) {
    if (!isNoticeAnswer(fact)) continue;
    const { decision, correlation } = fact.links;
    const ofDecision = decision === undefined ? undefined : byDecision.get(decision);
    const those = ofDecision ?? (correlation === undefined ? undefined : byCorrelation.get(correlation));
    let notice = those?.length === 1 ? those[0] : undefined;
    if (!notice) {
      notice = { id: fact.id, shown: undefined, dismissed: undefined, acknowledged: undefined };
      notices.push(notice);
    }
    if (isNoticeDismissed(fact)) notice.dismissed ??= fact;
    else notice.acknowledged ??= fact;
  }
  return notices;
};
