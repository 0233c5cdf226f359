/**
 * Decides which completions of an assessment are bias audits, and until when each is valid, from everything that was said about the assessment. Pure.
 */
import { isBiasAudit } from "../../law/obligations/bias-audit.ts";
import { isSaidOfCompletion, type SaidEnd } from "../assessments/said-end.ts";
import { isLater } from "../kit/latest.ts";

/** What an event says about an assessment. */
export interface AssessmentEvent {
  readonly eventId: string;
  /** As text that sorts by time. */
  readonly at: string;
  readonly assetId: string;
  readonly isStarted: boolean;
  readonly isCompleted: boolean;
  readonly type: string | undefined;
  readonly validUntil: string | undefined;
}

export interface BiasAudit {
  readonly eventId: string;
  /** When it was completed, as text that sorts by time. */
  readonly at: string;
  readonly assetId: string;
  readonly validUntil: string | undefined;
}

/** `isNamed`: it has a name of its own, and not that of its asset, under which several may stand. The events in any order. */
export const completedAudits = (
  events: readonly AssessmentEvent[],
  { isNamed }: { readonly isNamed: boolean },
): readonly BiasAudit[] => {
  const audits: BiasAudit[] = [];
  /** The completions at the latest time so far; later statements belong to them. */
  let last: readonly Completed[] = [];
  /** From then on what is said is said of the next one. */
  let isBegunAnew = false;
  let [completedAt, completedBefore]: [string | undefined, string | undefined] = [undefined, undefined];
  let end: SaidEnd | undefined;
  let type: string | undefined;
  const close = (): void => {
    for (const { event, type: of } of last) {
      if (!isBiasAudit(of)) continue;
      const { eventId, at, assetId } = event;
      const validUntil = end && isSaidOfCompletion(end, at, completedBefore) ? end.until : undefined;
      audits.push({ eventId, at, assetId, validUntil });
    }
  };
  for (const together of atOneTime(events.toSorted(asSaid))) {
    const said = together.findLast((event) => event.type !== undefined)?.type;
    type = said ?? type;
    if (together.some(({ isCompleted }) => isCompleted)) {
      close();
      isBegunAnew = false;
      [completedAt, completedBefore] = [together[0]?.at, completedAt];
      last = together
        .filter(({ isCompleted }) => isCompleted)
        .map((event) => ({ event, type: event.type ?? type }));
    } else if (together.some(({ isStarted }) => isStarted)) {
      isBegunAnew = true;
      last = last.filter((completed) => completed.type !== undefined);
    } else {
      // An update says anew what was completed, or is the first to say it.
      const isCorrection = isNamed && !isBegunAnew;
      last = last.map((completed) => ({
        ...completed,
        type: isCorrection ? (said ?? completed.type) : (completed.type ?? said),
      }));
    }
    // What it is may be said later than until when it is valid; another assessment of the same asset has an end of its own.
    for (const event of together) {
      const of = event.type ?? type;
      const isOfAnother = !isNamed && of !== undefined && !isBiasAudit(of);
      if (event.validUntil === undefined || isOfAnother) continue;
      end = { until: event.validUntil, at: event.at, isByCompletion: event.isCompleted };
    }
  }
  close();
  return audits;
};

/** `type` is undefined as long as no event stated it. */
interface Completed {
  readonly event: AssessmentEvent;
  readonly type: string | undefined;
}

/** Equal times are ordered as in the register of assessments: a database orders ids by their bytes. */
const asSaid = (one: AssessmentEvent, other: AssessmentEvent): number =>
  isLater([one, one.at, one.eventId], [other, other.at, other.eventId]) ? 1 : -1;

/** Events of one time are grouped, because nobody knows which of them came first. */
const atOneTime = (events: readonly AssessmentEvent[]): readonly (readonly AssessmentEvent[])[] => {
  const groups: AssessmentEvent[][] = [];
  for (const event of events) {
    const group = groups.at(-1);
    if (group?.[0]?.at === event.at) group.push(event);
    else groups.push([event]);
  }
  return groups;
};
