/** Until when an assessment is valid. Pure. */
import { auditedDates, isBiasAudit } from "../../law/obligations/bias-audit.ts";
import type { Latest } from "../kit/latest.ts";

export const STARTED = "assessment.impact_assessment_started";
export const UPDATED = "assessment.impact_assessment_updated";
export const COMPLETED = "assessment.impact_assessment_completed";

export const COMPLETED_UNTIL = "completed_until";
export const COMPLETED_BEFORE = "completed_before";

/** As stated for the last completion; for a bias audit without a stated end, the last date of the law's year (NYC Administrative Code § 20-871(a)). */
export const validUntil = (said: Latest): string | undefined => {
  const completedAt = said[COMPLETED]?.[0];
  if (said.valid_until !== undefined) {
    const [until, at, saidBy] = said.valid_until;
    const end = { until, at, isByCompletion: saidBy === said[COMPLETED_UNTIL]?.[2] };
    if (completedAt === undefined || isSaidOfCompletion(end, completedAt, said[COMPLETED_BEFORE]?.[0]))
      return until;
  }
  const isAudit = completedAt !== undefined && isBiasAudit(said.assessment_type?.[0]);
  return isAudit ? auditedDates(completedAt, undefined).last : undefined;
};

/** The end of validity of an assessment that was stated last. The assessment has one name and may be completed again and again. */
export interface SaidEnd {
  readonly until: string;
  readonly at: string;
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
  completedBefore: string | undefined,
): boolean =>
  at >= completedAt ||
  (!isByCompletion &&
    (completedBefore === undefined || at > completedBefore) &&
    until >= completedAt.slice(0, DATE_CHARACTERS));
