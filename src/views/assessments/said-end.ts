/** The end of validity of an assessment that was stated last. The assessment has one name and may be completed again and again. */
export interface SaidEnd {
  readonly until: string;
  /** When it was stated, as text that sorts by time. */
  readonly at: string;
  /** Whether the event that stated it completed the assessment. */
  readonly isByCompletion: boolean;
}

const DATE_CHARACTERS = "2026-11-20".length;

/**
 * An end that was stated before the completion belongs to an earlier completion if it was stated with that completion or after it, or if it is before
 * this one.
 */
export const isSaidOfCompletion = (
  { until, at, isByCompletion }: SaidEnd,
  completedAt: string,
  /** When it was completed the time before; undefined if it was not. */
  completedBefore: string | undefined,
): boolean =>
  at >= completedAt ||
  (!isByCompletion &&
    (completedBefore === undefined || at > completedBefore) &&
    until >= completedAt.slice(0, DATE_CHARACTERS));
