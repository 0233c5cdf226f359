/** An obligation, and what starts it. Pure. */

import type { Awareness } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { dateIn } from "./calendar.ts";
import { appliesTo, type Deadline, type DeadlineId, type NamedBases } from "./deadline-table.ts";
import type { Waiver } from "./waivers.ts";

export interface Obligation {
  /** The rule and the id of the starting event. */
  readonly id: string;
  readonly rule: DeadlineId;
  readonly startedBy: Fact;
  /** The asset whose obligation it is: where a notice started the clock, that of the decision. */
  readonly asset: string;
  /** RFC 3339 in UTC without the zone, so that it sorts by time. */
  readonly startedAt: string;
  readonly startedRecorded: string;
  /**
   * The last second in which it can be met, in the same form. For LL144-NOTICE it is the first second in which the tool may be used. If the tool was
   * used earlier, it is the time of that use, and the obligation is breached.
   */
  readonly dueAt: string;
  /** Of LL144-NOTICE, where there is a notice: the first second in which the tool may be used. */
  readonly earliestDecisionAt: string | undefined;
  readonly stoppedBy: Fact | undefined;
  /** What the events say. Whether an open obligation is overdue depends on the reader's time. */
  readonly status: ObligationStatus;
  /**
   * Whether it was met in time, or is open, only by what the log received after it fell due, and after the grace that the operator gives: the event that met
   * it, an extension, or a later start.
   */
  readonly isRecordedLate: boolean;
  /** Present as long as it stands, also where the obligation was met after all. */
  readonly waiver: Waiver | undefined;
  readonly extensions: number;
  readonly extendedRecorded: string | undefined;
  readonly extensionReasons: readonly string[];
  readonly decisionId: string | undefined;
  readonly objectionId: string | undefined;
  readonly incidentId: string | undefined;
  /** The events of what it is about, one of which may have started it before an earlier one arrived. */
  readonly thing: readonly Fact[];
}

/**
 * `waiting`: a notice was given, and no decision yet: nothing falls due until there is one. `breached`: what had to come before a decision did not come, so
 * that nothing can meet it any more.
 */
export const OBLIGATION_STATUSES = ["open", "waiting", "met", "met_late", "breached", "waived"] as const;
export type ObligationStatus = (typeof OBLIGATION_STATUSES)[number];

export interface Rules {
  readonly deadlines: readonly Deadline[];
  /** How long after the due time an event that met an obligation in time may reach the log before it counts as recorded late. */
  readonly lateRecordGraceMs: number;
  readonly holidays: ReadonlySet<string>;
  /** 0 for the table as it is. */
  readonly version: number;
}

export interface Start {
  readonly deadline: DeadlineId;
  readonly by: Fact;
  /** Set if the law counts from another time than that of the event: what says so, in order. The last counts. */
  readonly aware?: readonly Awareness[];
  readonly stop: Fact | undefined;
  /** What counts in the place of `stop` where that comes too late: it had met the obligation already. */
  readonly metBefore?: Fact | undefined;
  readonly told?: readonly Fact[];
  readonly named: NamedBases;
  /** What began the obligation. Of these, the first that names legal bases says under which laws it began. Absent: `by`. */
  readonly begunBy?: readonly (Fact | undefined)[];
  readonly about: Partial<Pick<Obligation, "decisionId" | "objectionId" | "incidentId">>;
  readonly thing: readonly Fact[];
}

export const obligation = (
  { deadline, by, stop, about, thing }: Start,
  found: Pick<Obligation, "startedAt" | "startedRecorded" | "dueAt" | "status" | "isRecordedLate"> & {
    readonly extendedBy: readonly Fact[];
  },
): Obligation => {
  const { extendedBy, ...known } = found;
  return {
    ...known,
    id: `${deadline}:${by.id}`,
    rule: deadline,
    startedBy: by,
    asset: by.asset,
    stoppedBy: stop,
    decisionId: about.decisionId,
    objectionId: about.objectionId,
    incidentId: about.incidentId,
    thing,
    earliestDecisionAt: undefined,
    waiver: undefined,
    extensions: extendedBy.length,
    extendedRecorded: extendedBy
      .map(({ recorded }) => recorded)
      .sort()
      .at(-1),
    extensionReasons: extendedBy.flatMap(({ says }) => says.reason ?? []),
  };
};

/** Whether its law asks for it, and did so already when it began. */
export const isInForce = (
  rule: Deadline,
  startedAt: string,
  { by, named, begunBy = [by] }: Pick<Start, "by" | "named" | "begunBy">,
): boolean => {
  const first = begunBy.find((fact) => fact?.bases !== undefined);
  if (!appliesTo(rule, named, first?.bases ?? [])) return false;
  // Checked last: most decisions have no such obligation at all.
  return rule.appliesFrom === undefined || dateIn(rule.zone, `${startedAt}Z`) >= rule.appliesFrom;
};
