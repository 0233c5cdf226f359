/**
 * The obligations of a case: when each falls due, and which events started and stopped its clock. Pure: whether an obligation is overdue depends on the
 * reader's time.
 */
import {
  awarenessesOf,
  type Case,
  type Decision,
  decisionsById,
  type Incident,
  type Review,
} from "../cases/case.ts";
import { basesOf, earlier, type Fact, firstFrom, inOrder, saysWord } from "../cases/fact.ts";
import {
  asksForExplanation,
  EXPLANATION_REQUEST,
  isDenied,
  isExplanation,
  isResolved,
  isReversal,
  isTold,
  isWithdrawn,
  type Objection,
  type Opening,
  openingsOf,
  tellsReason,
} from "../cases/objection.ts";
import { type DeadlineId, deadlineOf, type NamedBases, namedBases } from "./deadline-table.ts";
import { classOfIncident, reportDeadline } from "./incident-class.ts";
import { noticeClocks } from "./notice-clock.ts";
import { isInForce, type Obligation, type Rules, type Start, stoppedBy, waiversIn } from "./obligation.ts";

/** `waiving`: the administrative events of the case. */
export const obligationsOf = (
  is: Case,
  rules: Rules,
  waiving: readonly Fact[] = [],
): readonly Obligation[] => {
  const found = [
    ...objectionClocks(is, rules),
    ...clocks(is.decisions.flatMap(decisionStarts), rules),
    ...noticeClocks(is, rules),
    ...clocks(is.reviews.flatMap(reviewStarts), rules),
    ...clocks(is.incidents.flatMap(incidentStarts), rules),
  ];
  const waivers = waiversIn(waiving, found);
  return found.map((each) => {
    const waiver = waivers.get(each.id);
    if (waiver === undefined) return each;
    // What met it is said by the events, whatever was waived.
    const isMet = each.status === "met" || each.status === "met_late";
    return { ...each, waiver, status: isMet ? each.status : "waived" };
  });
};

const objectionClocks = (is: Case, rules: Rules): readonly Obligation[] => {
  // Most cases have none, and this is called for every event.
  if (is.objections.length === 0) return [];
  const answers = answersIn(is);
  return is.objections.flatMap((objection) => clocks(objectionStarts(objection, answers(objection)), rules));
};

const clocks = (starts: readonly Start[], rules: Rules): readonly Obligation[] =>
  starts.flatMap((start) => {
    const rule = deadlineOf(rules.deadlines, start.deadline);
    const { at, by } = start.aware?.at(-1) ?? { at: start.by.at, by: start.by };
    if (!rule || !isInForce(rule, at, start)) return [];
    const running = { rule, start, startedAt: at, startedBy: by };
    const found = stoppedBy(start.stop, running, rules);
    return found.status === "met_late"
      ? stoppedBy(earlier(start.stop, start.metBefore), running, rules)
      : found;
  });

const since =
  (start: Fact) =>
  (fact: Fact): boolean =>
    fact.at >= start.at;

const later = (one: Fact | undefined, other: Fact | undefined): Fact | undefined =>
  one && other ? (one.at >= other.at ? one : other) : undefined;

/** One set of clocks for each time that the objection was open. */
const objectionStarts = (objection: Objection, answers: Answers): readonly Start[] => {
  const { facts } = objection;
  const beside = {
    answers,
    named: [...namedBases(basesOf(facts)), ...answers.named],
    // What is told later is told of an earlier time too.
    reasons: facts.filter(tellsReason),
    results: facts.filter(isResolved),
  };
  return openingsOf(objection).flatMap((opening) => [
    ...receivedStarts(opening, beside),
    ...denialStarts(opening, beside),
  ]);
};

interface BesideOpening extends Pick<Start, "named"> {
  readonly answers: Answers;
  readonly reasons: readonly Fact[];
  readonly results: readonly Fact[];
}

/** Every clock of an objection that was received, but that of a denial. */
const receivedStarts = (objection: Opening, { answers, named, results }: BesideOpening): readonly Start[] => {
  const { received, facts, ended } = objection;
  if (!received) return [];
  const after = since(received);
  // A clock that was stopped stays so, whatever is resolved again later. So of each kind the first counts.
  const resolutions = facts.filter((fact) => isResolved(fact) && after(fact));
  const [result] = resolutions;
  const explained = explanationAfter(received, objection, answers.explained(objection, received.at));
  const acknowledged = facts.find((fact) => fact.type === "objection.acknowledged" && after(fact));
  const told = facts.filter(isTold);
  const start = (deadline: DeadlineId, stop: Fact | undefined): Start => ({
    ...{ deadline, by: received, stop, told, named, thing: facts },
    ...{ begunBy: [received, answers.made], about: aboutOf(objection) },
  });
  // First the decision is reconsidered, then the person is answered.
  const refused = (): Start => {
    const redone = answers.redone(received.at);
    // A promise made before was kept with that, whatever is resolved again. A denial before has not been communicated.
    const metBefore = later(
      redone,
      resolutions.find((fact) => !isDenied(fact)),
    );
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
  ];
};

/** A denial needs its reason, also where the objection was never received. */
const denialStarts = (objection: Opening, { answers, named, reasons }: BesideOpening): readonly Start[] => {
  const { received, facts } = objection;
  const resolutions = facts.filter(isResolved);
  const refusal = resolutions.find(isDenied);
  if (!refusal) return [];
  const withdrawn = resolutions.find((fact) => isWithdrawn(fact) && fact.at >= refusal.at);
  return [
    {
      deadline: "PIPA-DENY",
      by: refusal,
      stop: tellsReason(refusal) ? refusal : earlier(firstFrom(reasons, refusal.at), withdrawn),
      named,
      // Where neither is in the log, only the denial itself can name the laws.
      begunBy: received || answers.made ? [received, answers.made] : [refusal],
      about: aboutOf(objection),
      thing: facts,
    },
  ];
};

const aboutOf = ({ id, decisionId }: Opening): Start["about"] => ({ objectionId: id, decisionId });

/** Words for an outcome that is adverse for the person. */
export const ADVERSE_OUTCOMES: readonly string[] = ["denied", "rejected", "adverse", "declined"];

const decisionStarts = ({ id, made, explanations, facts, bases }: Decision): readonly Start[] =>
  made && ADVERSE_OUTCOMES.includes(saysWord(made, "outcome") ?? "")
    ? [
        {
          deadline: "CO-ADVERSE",
          by: made,
          stop: explanations.find(since(made)),
          named: namedBases(bases),
          about: { decisionId: id },
          thing: facts,
        },
      ]
    : [];

const reviewStarts = ({ triggered, triggers, completed, decisionId }: Review): readonly Start[] =>
  triggered
    ? [
        {
          deadline: "HR-CLOSE",
          by: triggered,
          stop: completed,
          named: namedBases(triggered.bases ?? []),
          about: { decisionId },
          thing: triggers,
        },
      ]
    : [];

const incidentStarts = (incident: Incident): readonly Start[] => {
  const { id, detected, reports, facts } = incident;
  if (!detected) return [];
  const aware = awarenessesOf(incident);
  const at = aware.at(-1)?.at ?? detected.at;
  const about = { incidentId: id };
  const start = { by: detected, aware, named: namedBases(basesOf(facts)), about, thing: facts };
  const report: Start = {
    ...start,
    deadline: reportDeadline(classOfIncident(incident, reports[0]?.at)),
    // The first report stops the clock (art. 73(5)), even if a later event says that the operator became aware only after it.
    stop: reports.find((each) => each.at >= at || each.at >= detected.at) ?? reports[0],
    metBefore: reports[0],
  };
  if (saysWord(detected, "role") !== "deployer") return [report];
  const stop = facts.find((fact) => saysWord(fact, "notified") === "provider");
  return [report, { ...start, deadline: "EU26-5", stop }];
};

/**
 * What answers an objection: what belongs to its decision or, where that is not known, what names the objection or stands under a correlation of which it is
 * the only one. Found by time, as a case may have thousands of objections and answers.
 */
interface Answers {
  readonly made: Fact | undefined;
  readonly named: NamedBases;
  readonly explained: Explained;
  /** The first event from then on by which the decision was reversed or a person decided again. */
  redone(at: string): Fact | undefined;
}

/** The first explanation from then on that names no other objection. */
type Explained = (objection: Pick<Objection, "id">, at: string) => Fact | undefined;

/** An explanation that names no objection may answer any. The explanations are in order. */
export const explainedBy = (explanations: readonly Fact[]): Explained => {
  const about = Map.groupBy(explanations, ({ links }) => links.objection);
  return ({ id }, at) => {
    const [own, any] = [firstFrom(about.get(id) ?? [], at), firstFrom(about.get(undefined) ?? [], at)];
    return own && any ? (inOrder(own, any) < 0 ? own : any) : (own ?? any);
  };
};

/** The explanation that the person got after objecting: one of the decision, or one that belongs to the objection. */
const explanationAfter = (
  received: Fact,
  { facts }: Pick<Objection, "facts">,
  ofDecision: Fact | undefined,
): Fact | undefined =>
  earlier(
    ofDecision,
    facts.find((fact) => isExplanation(fact) && fact.at >= received.at),
  );

/**
 * Whether it asked for an explanation at any time that it was open, under whatever law, and got neither one nor a denial with its reason, and did not
 * withdraw the request.
 */
export const lacksExplanation = (objection: Objection, explained: Explained): boolean =>
  openingsOf(objection).some(
    (opening) =>
      opening.received !== undefined &&
      asksForExplanation(opening) &&
      explanationAfter(opening.received, opening, explained(opening, opening.received.at)) === undefined &&
      opening.ended === undefined,
  );

const answersIn = ({
  decisions,
  reviews,
}: Pick<Case, "decisions" | "reviews">): ((objection: Objection) => Answers) => {
  const byId = decisionsById(decisions);
  const byObjection = Map.groupBy(reviews, ({ objectionId }) => objectionId);
  const decided = new Map<Decision, Answers>();
  return ({ id, decisionId, answers }) => {
    const decision = byId.get(decisionId);
    if (decision === undefined)
      return answersAmong({
        made: undefined,
        explanations: answers.filter(isExplanation),
        reversals: answers.filter(isReversal),
        reviews: byObjection.get(id) ?? [],
        bases: basesOf(answers),
      });
    const known = decided.get(decision) ?? answersAmong(decision);
    decided.set(decision, known);
    return known;
  };
};

/** Reviews of one decision, or of one objection, follow each other, so their completions are in order. */
const answersAmong = ({
  made,
  explanations,
  reversals,
  reviews,
  bases,
}: Pick<Decision, "made" | "explanations" | "reversals" | "bases"> & {
  readonly reviews: readonly Review[];
}): Answers => {
  const completions = reviews.flatMap(({ completed }) => completed ?? []);
  return {
    made,
    named: namedBases(bases),
    explained: explainedBy(explanations),
    redone: (at) => earlier(firstFrom(reversals, at), firstFrom(completions, at)),
  };
};
