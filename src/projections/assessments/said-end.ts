/** What was said last of the end of an assessment, which has one name and may be completed again and again. */
export interface SaidEnd {
  readonly until: string;
  /** When it was said, as text that sorts. */
  readonly at: string;
  /** Whether an event said it that completed the assessment. */
  readonly isByCompletion: boolean;
}

const DATE_CHARACTERS = "2026-11-20".length;

/** What was said before it was completed was said of an earlier one where that was completed with it or from then on, or where it ended before. */
export const isSaidOfCompletion = (
  { until, at, isByCompletion }: SaidEnd,
  completedAt: string,
  /** When it was completed the time before; undefined where it was not. */
  completedBefore: string | undefined,
): boolean =>
  at >= completedAt ||
  (!isByCompletion &&
    (completedBefore === undefined || at > completedBefore) &&
    until >= completedAt.slice(0, DATE_CHARACTERS));
