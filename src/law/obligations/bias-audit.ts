/**
 * The bias audit of Local Law 144: a tool may be used if it was audited no more than one year before (NYC Administrative Code § 20-871(a)). A year is
 * counted in dates of New York, so the whole day of the audit counts, and so does the same day of the next year. Pure.
 */

import { dateAtStart, instantKeyOf } from "../../event/formats.ts";
import type { Decision } from "../cases/case.ts";
import type { Limit } from "./deadline-table.ts";
import { type Calendar, dateIn, lastDateOver, limitDate } from "./due-date.ts";

export const BIAS_AUDIT = { law: "nyc_ll144", duty: "bias_audit", assessmentType: "bias_audit" } as const;

export const isBiasAudit = (assessmentType: string | undefined): boolean =>
  assessmentType?.toLowerCase() === BIAS_AUDIT.assessmentType;

/** Enforced since this date, like the notice (deadline-table.ts). */
const APPLIES_FROM = "2023-07-05";
const YEAR: Limit = { count: 12, unit: "months" };
const NEW_YORK: Calendar = { zone: "America/New_York", holidays: new Set() };

/** Whether the law requires an audit before this decision: the decision, or an event that belongs to it, names the legal basis. */
export const needsBiasAudit = ({ made, bases }: Decision): boolean =>
  // Few decisions name it, and a date in a zone takes time to work out.
  made !== undefined && bases.includes(BIAS_AUDIT.law) && dateInNewYork(made.at) >= APPLIES_FROM;

export const dateInNewYork = (at: string): string => dateIn(NEW_YORK.zone, `${at}Z`);

export interface Dates {
  readonly first: string;
  readonly last: string;
}

/** The dates on which the tool may be used. An end that events give can only shorten the year of the law. */
export const auditedDates = (completedAt: string, validUntil: string | undefined): Dates => {
  const last = limitDate(`${completedAt}Z`, YEAR, NEW_YORK);
  const said = validUntil === undefined ? undefined : lastDateBy(validUntil);
  return { first: dateInNewYork(completedAt), last: said !== undefined && said < last ? said : last };
};

/** A date counts whole. Of a time, only the days count that are over by then, so that no later decision is inside. A date that does not exist says nothing. */
const lastDateBy = (validUntil: string): string | undefined => {
  const instant = instantKeyOf(validUntil);
  return instant === undefined ? dateAtStart(validUntil) : lastDateOver(NEW_YORK.zone, `${instant}Z`);
};

export const joinedDates = (given: readonly Dates[]): readonly Dates[] => {
  const joined: Dates[] = [];
  for (const dates of given
    .filter(({ first, last }) => first <= last)
    .toSorted((one, other) => (one.first < other.first ? -1 : 1))) {
    const before = joined.at(-1);
    if (before === undefined || dates.first > before.last) joined.push(dates);
    else if (dates.last > before.last) joined[joined.length - 1] = { first: before.first, last: dates.last };
  }
  return joined;
};
