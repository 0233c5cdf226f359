/**
 * The duties of a case: when each falls due, and which events started and stopped its clock. Pure: whether a duty is overdue depends on the reader's
 * time.
 */
import { firstFrom } from "../cases/by-time.ts";
import { awarenessesOf, type Case, type Decision, type Incident } from "../cases/case.ts";
import { earlier, type Fact, saysWord } from "../cases/fact.ts";
import {
  asksForExplanation,
  EXPLANATION_REQUEST,
  isDenied,
  isExplanation,
  isResolved,
  isTold,
  isWithdrawn,
  type Objection,
  type Opening,
  openingsOf,
  tellsReason,
} from "../cases/objection.ts";
import type { Review } from "../cases/reviews.ts";
import { type Answers, answersIn, basesNamedIn, type explainedBy } from "./answers.ts";
import { type DeadlineId, deadlineOf, type NamedBases, namedBases } from "./deadlines.ts";
import { dueOf, isInTime, isRecordedAfter } from "./due.ts";
import { classOfIncident, reportDeadline } from "./incident-class.ts";
import { noticeClocks } from "./notice-clock.ts";
import { isInForce, type Obligation, obligation, type Rules, type Start } from "./obligation.ts";
import { waiversIn } from "./waivers.ts";

const NONE: readonly never[] = [];

/** `waiving`: the administrative events of the case. */
export const obligationsOf = (
  is: Case,
  rules: Rules,
  waiving: readonly Fact[] = NONE,
): readonly Obligation[] => {
  const { decisions, objections, reviews, incidents } = is;
  const found: Obligation[] = [];
  const add = (made: Obligation | undefined): void => {
    if (made) found.push(made);
  };
  if (objections.length > 0) {
    const answers = answersIn({ decisions, reviews });
    for (const objection of objections)
      for (const start of objectionStarts(objection, answers(objection))) add(clock(start, rules));
  }
  for (const decision of decisions) {
    const start = decisionStart(decision);
    if (start) add(clock(start, rules));
  }
  found.push(...noticeClocks(is, rules));
  for (const review of reviews) {
    const start = reviewStart(review);
    if (start) add(clock(start, rules));
  }
  for (const incident of incidents) for (const start of incidentStarts(incident)) add(clock(start, rules));
  if (waiving.length === 0) return found;
  const waivers = waiversIn(waiving, found);
  return found.map((each) => {
    const waiver = waivers.get(each.id);
    if (waiver === undefined) return each;
    // What met it is said by the events, whatever was waived.
    const isMet = each.status === "met" || each.status === "met_late";
    return { ...each, waiver, status: isMet ? each.status : "waived" };
  });
};

/** Undefined if the law does not require it. */
const clock = (start: Start, rules: Rules): Obligation | undefined => {
  const rule = deadlineOf(rules.deadlines, start.deadline);
  const { told = NONE, aware = NONE, by } = start;
  const { at: startedAt, by: startedBy } = aware.at(-1) ?? { at: by.at, by };
  if (!rule || !isInForce(rule, startedAt, start)) return undefined;
  const { holidays, lateRecordGraceMs } = rules;
  const stoppedBy = (stop: Fact | undefined): Obligation => {
    const parts = { rule, told, stoppedAt: stop?.at, holidays };
    const { dueAt, extendedBy } = dueOf({ ...parts, startedAt });
    // Without what the log received only after the obligation had fallen due.
    const knownDueAt = (): string => {
      if (extendedBy.length === 0 && startedBy === by) return dueAt;
      const dueFrom = (at: string): string =>
        dueOf({ ...parts, startedAt: at, knownWithinMs: lateRecordGraceMs }).dueAt;
      let known = dueFrom(by.at);
      for (const said of aware)
        if (said.by === by || !isRecordedAfter(said.by, known, lateRecordGraceMs)) known = dueFrom(said.at);
      return isInTime(known, dueAt) ? known : dueAt;
    };
    const isRecordedLate = (): boolean => {
      const known = knownDueAt();
      if (stop === undefined) return known < dueAt;
      return !isInTime(stop.at, known) || isRecordedAfter(stop, known, lateRecordGraceMs);
    };
    const status = stop === undefined ? "open" : isInTime(stop.at, dueAt) ? "met" : "met_late";
    return obligation(
      { ...start, stop },
      {
        startedAt,
        startedRecorded: startedBy.recorded,
        dueAt,
        status,
        extendedBy,
        isRecordedLate: status !== "met_late" && isRecordedLate(),
      },
    );
  };
  const found = stoppedBy(start.stop);
  return found.status === "met_late" ? stoppedBy(earlier(start.stop, start.metBefore)) : found;
};

const since =
  (start: Fact) =>
  (fact: Fact | undefined): fact is Fact =>
    fact !== undefined && fact.at >= start.at;

const later = (one: Fact | undefined, other: Fact | undefined): Fact | undefined =>
  one && other ? (one.at >= other.at ? one : other) : undefined;

/** The explanation that the person got after objecting: one of the decision, or one that belongs to the objection. */
const explanationAfter = (
  received: Fact,
  { facts }: Pick<Objection, "facts">,
  ofDecision: Fact | undefined,
): Fact | undefined => {
  const after = since(received);
  return earlier(
    ofDecision,
    facts.find((fact) => isExplanation(fact) && after(fact)),
  );
};

/**
 * Whether it asked for an explanation at any time that it was open, under whatever law, and got neither one nor a denial with its reason, and did not
 * withdraw the request.
 */
export const lacksExplanation = (objection: Objection, explained: ReturnType<typeof explainedBy>): boolean =>
  openingsOf(objection).some(
    (opening) =>
      opening.received !== undefined &&
      asksForExplanation(opening) &&
      explanationAfter(opening.received, opening, explained(opening, opening.received.at)) === undefined &&
      opening.ended === undefined,
  );

/** One set of clocks for each time that the objection was open. */
const objectionStarts = (objection: Objection, answers: Answers): readonly Start[] => {
  const named = [...basesNamedIn(objection.facts), ...answers.named];
  const reasons = objection.facts.filter(tellsReason);
  const results = objection.facts.filter(isResolved);
  return openingsOf(objection).flatMap((opening) =>
    openingStarts(opening, { answers, named, reasons, results }),
  );
};

const openingStarts = (
  objection: Opening,
  {
    answers,
    named,
    reasons,
    results,
  }: {
    readonly answers: Answers;
    readonly named: NamedBases;
    /** Of all times that it was open, in order: what is told later is told of this time too. */
    readonly reasons: readonly Fact[];
    readonly results: readonly Fact[];
  },
): readonly Start[] => {
  const { id, received, facts, ended } = objection;
  // A clock that was stopped stays so, whatever is resolved again later. So of each kind the first counts.
  const resolutions = facts.filter(isResolved);
  const refusal = resolutions.find(isDenied);
  const about = { objectionId: id, decisionId: objection.decisionId };
  const begunBy = [received, answers.made];
  const denial = (): readonly Start[] =>
    refusal
      ? [
          {
            deadline: "PIPA-DENY",
            by: refusal,
            stop: tellsReason(refusal)
              ? refusal
              : earlier(
                  firstFrom(reasons, refusal.at),
                  resolutions.find((fact) => isWithdrawn(fact) && fact.at >= refusal.at),
                ),
            named,
            // Where neither is in the log, only the denial itself can name the laws.
            begunBy: received || answers.made ? begunBy : [refusal],
            about,
            thing: facts,
          },
        ]
      : [];
  if (!received) return denial();
  const after = since(received);
  const result = resolutions.find(after);
  const explained = explanationAfter(received, objection, answers.explained(received.at));
  const acknowledged = facts.find((fact) => fact.type === "objection.acknowledged" && after(fact));
  const told = facts.filter(isTold);
  const start = (deadline: DeadlineId, stop: Fact | undefined): Start => ({
    deadline,
    by: received,
    stop,
    told,
    named,
    begunBy,
    about,
    thing: facts,
  });
  // First the decision is reconsidered, then the person is answered.
  const refused = (): Start => {
    const redone = answers.redone(received.at);
    // What the person was promised before was kept with that, whatever is resolved once more. Who was denied before has not been told.
    const promised = resolutions.find((fact) => after(fact) && !isDenied(fact));
    const metBefore = later(redone, promised);
    const answered = (redone && firstFrom(results, redone.at)) ?? metBefore;
    return { ...start("PIPA-REFUSE", earlier(ended, answered)), metBefore };
  };
  const ofType = (): Start => {
    switch (objection.type?.toLowerCase()) {
      case EXPLANATION_REQUEST:
        return start("PIPA-EXPL", earlier(explained, ended));
      case "automated_decision_refusal":
        return refused();
      default:
        return start("PIPA-REVIEW", result);
    }
  };
  return [
    ofType(),
    start("CIA-EXPL", earlier(explained, result)),
    start("GDPR-12-3", result),
    start("OBJ-ACK", earlier(acknowledged, result)),
    ...denial(),
  ];
};

/** Words for an outcome that is adverse for the person. */
export const ADVERSE_OUTCOMES: readonly string[] = ["denied", "rejected", "adverse", "declined"];

const decisionStart = ({ id, made, explanations, facts, bases }: Decision): Start | undefined =>
  made && ADVERSE_OUTCOMES.includes(saysWord(made, "outcome") ?? "")
    ? {
        deadline: "CO-ADVERSE",
        by: made,
        stop: explanations.find(since(made)),
        named: namedBases(bases),
        about: { decisionId: id },
        thing: facts,
      }
    : undefined;

const reviewStart = ({ triggered, triggers, completed, decisionId }: Review): Start | undefined =>
  triggered && {
    deadline: "HR-CLOSE",
    by: triggered,
    stop: completed,
    named: namedBases(triggered.bases ?? NONE),
    about: { decisionId },
    thing: triggers,
  };

const incidentStarts = (incident: Incident): readonly Start[] => {
  const { id, detected, reports, facts } = incident;
  if (!detected) return [];
  const aware = awarenessesOf(incident);
  const at = aware.at(-1)?.at ?? detected.at;
  const about = { incidentId: id };
  const start = { by: detected, aware, named: basesNamedIn(facts), about, thing: facts };
  return [
    {
      ...start,
      deadline: reportDeadline(classOfIncident(incident, reports[0]?.at)),
      // The first report stops the clock (art. 73(5)), even if a later event says that the operator became aware only after it.
      stop: reports.find((report) => report.at >= at || report.at >= detected.at) ?? reports[0],
      metBefore: reports[0],
    },
    ...(saysWord(detected, "role") === "deployer"
      ? [
          {
            ...start,
            deadline: "EU26-5" as const,
            stop: facts.find((fact) => saysWord(fact, "notified") === "provider"),
          },
        ]
      : []),
  ];
};
