/** Which duties a case has, when each fell due, and which events started and stopped its clock. Pure: what is overdue depends on the reader's time. */
import type { Case, Decision, Incident, Objection, Review } from "../cases/case.ts";
import { type Fact, timeOf } from "../cases/fact.ts";
import { timeKey, timeKeyOf } from "../event/formats.ts";
import { type Limit, limitEnd } from "./calendar.ts";
import { appliesTo, type Deadline, type DeadlineId, deadlineOf } from "./deadlines.ts";

export interface Obligation {
  /** Deadline and starting event. */
  readonly id: string;
  readonly deadline: DeadlineId;
  readonly startedBy: Fact;
  /** RFC 3339 without the zone, which is UTC; sorts by time. */
  readonly startedAt: string;
  /**
   * The last second in which it can be met, written the same way. For LL144-NOTICE the first second in which the tool may be used; where it was
   * used earlier, that time, and the duty stays open for ever.
   */
  readonly dueAt: string;
  readonly stoppedBy: Fact | undefined;
  /** What the events say; whether what is open is overdue depends on the reader's time. */
  readonly status: "open" | "met" | "met_late";
  /** How often the limit was made longer, with reasons. */
  readonly extensions: number;
  /** The reason that was told with each of them. */
  readonly extensionReasons: readonly string[];
  readonly decisionId: string | undefined;
  readonly objectionId: string | undefined;
  readonly incidentId: string | undefined;
}

export interface Rules {
  readonly deadlines: readonly Deadline[];
  /** Days that are no business days, in every zone. */
  readonly holidays: ReadonlySet<string>;
}

export const obligationsOf = (
  { decisions, objections, reviews, incidents }: Case,
  rules: Rules,
): readonly Obligation[] => {
  const decisionOf = (id: string | undefined) => decisions.find((decision) => decision.id === id);
  const found: Obligation[] = [];
  const add = (made: Obligation | undefined): void => {
    if (made) found.push(made);
  };
  for (const objection of objections)
    for (const start of objectionStarts(objection, decisionOf(objection.decisionId)))
      add(clock(start, rules));
  for (const decision of decisions) {
    const start = decisionStart(decision);
    if (start) add(clock(start, rules));
    add(noticeClock(decision, rules));
  }
  for (const review of reviews) {
    const start = reviewStart(review, decisionOf(review.decisionId));
    if (start) add(clock(start, rules));
  }
  for (const incident of incidents) for (const start of incidentStarts(incident)) add(clock(start, rules));
  return found;
};

interface Start {
  readonly deadline: DeadlineId;
  readonly by: Fact;
  /** Where the law counts from another time than the event's own. */
  readonly at?: string;
  readonly stop: Fact | undefined;
  /** Facts that may tell an extension. */
  readonly told?: readonly Fact[];
  /** Facts whose legal bases decide whether it applies. */
  readonly named: readonly Fact[];
  readonly about: Partial<Pick<Obligation, "decisionId" | "objectionId" | "incidentId">>;
}

/** Undefined where the law does not ask for it. */
const clock = (start: Start, rules: Rules): Obligation | undefined => {
  const rule = deadlineOf(rules.deadlines, start.deadline);
  const startedAt = start.at ?? start.by.at;
  if (!rule || !isInForce(rule, startedAt, start.named)) return undefined;
  const { dueAt, reasons } = dueOf({ rule, startedAt, told: start.told ?? [], rules });
  const { stop } = start;
  const status = stop === undefined ? "open" : isInTime(stop.at, dueAt) ? "met" : "met_late";
  return obligation(start, { startedAt, dueAt, status, reasons });
};

const obligation = (
  { deadline, by, stop, about }: Start,
  found: Pick<Obligation, "startedAt" | "dueAt" | "status"> & { readonly reasons: readonly string[] },
): Obligation => ({
  id: `${deadline}:${by.id}`,
  deadline,
  startedBy: by,
  stoppedBy: stop,
  decisionId: about.decisionId,
  objectionId: about.objectionId,
  incidentId: about.incidentId,
  startedAt: found.startedAt,
  dueAt: found.dueAt,
  status: found.status,
  extensions: found.reasons.length,
  extensionReasons: found.reasons,
});

const isInForce = (rule: Deadline, startedAt: string, named: readonly Fact[]): boolean => {
  if (rule.appliesFrom !== undefined && startedAt < rule.appliesFrom) return false;
  return appliesTo(rule, basesOf(named));
};

const NONE: readonly never[] = [];

const basesOf = (named: readonly Fact[]): readonly string[] => {
  let found: readonly string[] | undefined;
  for (const { bases } of named) {
    if (bases === undefined) continue;
    if (found !== undefined) return named.flatMap((fact) => fact.bases ?? []);
    found = bases;
  }
  return found ?? NONE;
};

/** The last second counts as a whole. */
const isInTime = (at: string, dueAt: string): boolean => at.slice(0, dueAt.length) <= dueAt;

const endOf = (startedAt: string, limit: Limit, { zone }: Deadline, { holidays }: Rules): string =>
  timeKey(limitEnd(`${startedAt}Z`, limit, { zone, holidays }));

const dueOf = (parts: {
  rule: Deadline;
  startedAt: string;
  told: readonly Fact[];
  rules: Rules;
}): { readonly dueAt: string; readonly reasons: readonly string[] } => {
  const { rule, startedAt, told, rules } = parts;
  let { limit } = rule;
  let dueAt = endOf(startedAt, limit, rule, rules);
  let reasons: readonly string[] = NONE;
  for (const fact of told) {
    const { extension } = rule;
    const asked = Number(fact.says.extension_days ?? 0);
    const { reason } = fact.says;
    if (!extension || reasons.length >= extension.times || !(asked > 0) || reason === undefined) continue;
    // What is told after the limit has run out extends nothing.
    if (!isInTime(fact.at, dueAt)) continue;
    const most = extension.limit.count;
    const count = extension.limit.unit === "days" ? Math.min(Math.floor(asked), most) : most;
    limit = { count: limit.count + count, unit: limit.unit };
    dueAt = endOf(startedAt, limit, rule, rules);
    reasons = [...reasons, reason];
  }
  return { dueAt, reasons };
};

const since =
  (start: Fact) =>
  (fact: Fact | undefined): fact is Fact =>
    fact !== undefined && fact.at >= start.at;

const later = (one: Fact | undefined, other: Fact | undefined): Fact | undefined =>
  one && other ? (one.at >= other.at ? one : other) : undefined;

const earlier = (...facts: readonly (Fact | undefined)[]): Fact | undefined =>
  facts.reduce(
    (first, fact) => (first && fact ? (fact.at < first.at ? fact : first) : (first ?? fact)),
    undefined,
  );

const isDenied = (fact: Fact): boolean => fact.says.resolution === "denied";

const objectionStarts = (objection: Objection, decision: Decision | undefined): readonly Start[] => {
  const { id, received, acknowledged, resolved, facts } = objection;
  const about = { objectionId: id, decisionId: objection.decisionId };
  const named = [...facts, ...(decision?.facts ?? [])];
  const denial = (): readonly Start[] =>
    resolved && isDenied(resolved)
      ? [
          {
            deadline: "PIPA-DENY",
            by: resolved,
            stop: [resolved, ...facts.filter(since(resolved))].find(({ says }) => says.reason !== undefined),
            named,
            about,
          },
        ]
      : [];
  if (!received) return denial();
  const after = since(received);
  const result = after(resolved) ? resolved : undefined;
  const denied = result && isDenied(result) && result.says.reason !== undefined ? result : undefined;
  const explained = earlier(
    decision?.explanations.find(after),
    facts.find((fact) => fact.type === "decision.explanation_provided" && after(fact)),
  );
  const redone = earlier(
    decision?.reversals.find(after),
    decision?.reviews.map(({ completed }) => completed).find(after),
  );
  const start = (deadline: DeadlineId, stop: Fact | undefined): Start => ({
    deadline,
    by: received,
    stop,
    told: facts,
    named,
    about,
  });
  const byType: Readonly<Record<string, Start>> = {
    explanation_request: start("PIPA-EXPL", earlier(explained, denied)),
    automated_decision_refusal: start("PIPA-REFUSE", denied ?? later(redone, result)),
  };
  return [
    byType[received.says.objection_type ?? ""] ?? start("PIPA-REVIEW", result),
    start("CIA-EXPL", earlier(explained, result)),
    start("GDPR-12-3", result),
    start("OBJ-ACK", earlier(after(acknowledged) ? acknowledged : undefined, result)),
    ...denial(),
  ];
};

/** Words for an outcome that is bad for the person. */
export const ADVERSE_OUTCOMES: readonly string[] = ["denied", "rejected", "adverse", "declined"];

const decisionStart = ({ id, made, explanations, facts }: Decision): Start | undefined =>
  made && ADVERSE_OUTCOMES.includes(made.says.outcome ?? "")
    ? {
        deadline: "CO-ADVERSE",
        by: made,
        stop: explanations.find(since(made)),
        named: facts,
        about: { decisionId: id },
      }
    : undefined;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The other way round: the notice comes first, and the decision must not come too early. */
const noticeClock = ({ id, made, notices, facts }: Decision, rules: Rules): Obligation | undefined => {
  const rule = deadlineOf(rules.deadlines, "LL144-NOTICE");
  if (!made || !rule || !isInForce(rule, made.at, facts)) return undefined;
  const notice = notices.find(({ at }) => at <= made.at);
  const about = { decisionId: id };
  if (!notice) {
    const start = { deadline: rule.id, by: made, stop: undefined, named: facts, about };
    return obligation(start, { startedAt: made.at, dueAt: made.at, status: "open", reasons: NONE });
  }
  const lastDay = limitEnd(timeOf(notice), rule.limit, { zone: rule.zone, holidays: rules.holidays });
  const dueAt = timeKey(new Date(Date.parse(lastDay) - DAY_MS + 1000).toISOString());
  const isInTime = made.at >= dueAt;
  const start = { deadline: rule.id, by: notice, stop: isInTime ? made : undefined, named: facts, about };
  const found = { startedAt: notice.at, dueAt: isInTime ? dueAt : made.at, reasons: NONE };
  return {
    ...obligation(start, { ...found, status: isInTime ? "met" : "open" }),
    id: `${rule.id}:${made.id}`,
  };
};

const reviewStart = (
  { triggered, completed, decisionId }: Review,
  decision: Decision | undefined,
): Start | undefined =>
  triggered && {
    deadline: "HR-CLOSE",
    by: triggered,
    stop: completed,
    named: decision?.facts ?? [triggered],
    about: { decisionId },
  };

const INCIDENT_DEADLINES: Readonly<Record<string, DeadlineId>> = {
  death: "EU73-DEATH",
  critical_infrastructure: "EU73-CRIT",
  widespread_infringement: "EU73-CRIT",
};

const incidentStarts = ({ id, detected, reports, facts }: Incident): readonly Start[] => {
  if (!detected) return [];
  const { aware_at, incident_class, role } = detected.says;
  const at = (aware_at === undefined ? undefined : timeKeyOf(aware_at)) ?? detected.at;
  const about = { incidentId: id };
  const start = { by: detected, at, named: facts, about };
  return [
    {
      ...start,
      deadline: INCIDENT_DEADLINES[incident_class ?? ""] ?? "EU73-GEN",
      stop: reports.find((report) => report.at >= at) ?? reports[0],
    },
    ...(role === "deployer"
      ? [
          {
            ...start,
            deadline: "EU26-5" as const,
            stop: facts.find(({ says }) => says.notified === "provider"),
          },
        ]
      : []),
  ];
};
