/** One case and one decision in full, with their missing steps. */

import { Type } from "@sinclair/typebox";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { linkOf } from "../../law/cases/case.ts";
import { type Fact, inOrder, recordedTimeOf, timeOf } from "../../law/cases/fact.ts";
import { LINKED_BY, type LinkedBy } from "../../law/cases/links.ts";
import { CASE_FACTS_MAX } from "../../limits.ts";
import { caseEntry, decisionEntry, decisionIn, findBeside } from "../../views/cases/entries.ts";
import { eventsOfFacts, findCase } from "../../views/cases/queries.ts";
import { decisionList } from "../../views/cases/registers/decisions.ts";
import { humanReviewList } from "../../views/cases/registers/human-reviews.ts";
import { incidentList } from "../../views/cases/registers/incidents.ts";
import { objectionList } from "../../views/cases/registers/objections.ts";
import { LINKED_BY_RULE } from "../../views/cases/registers/register.ts";
import { CASES_VIEW } from "../../views/cases/tables.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { BESIDE_EVENTS_MAX } from "../../views/kit/limits.ts";
import { entryMembers, entrySchema } from "../../views/kit/list.ts";
import { ONE_CASE } from "../http/access.ts";
import { type Answer, giveText, notFound, refuse } from "../http/answers.ts";
import type { Call } from "../http/call.ts";
import type { Dependencies } from "../http/dependencies.ts";
import type { Route } from "../http/route.ts";
import { bool, int, nullable, Time, time, wordsOf } from "../http/schemas.ts";
import { inOwnTurn } from "../http/wait-for-view.ts";
import { obligationSchema } from "./obligations.ts";

export const caseRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { route } = dependencies;
  const ONE = {
    access: ONE_CASE,
    tag: "Reading",
    // `events` too, for the events themselves and for those that no rule links.
    views: [CASES_VIEW, EVENTS_VIEW],
  } as const;
  return [
    route({
      ...ONE,
      on: "GET /v1/cases/:correlation_id",
      id: "readCase",
      summary: "One case",
      description:
        "All events with this correlation_id, and all that are linked to them by decision, objection or incident: what was decided, and whether notice, explanation, review, objection and resolution are in the log. A case is open while anything is unanswered.",
      gives: caseSchema,
      problems: ["case_shared", "case_expired", "overloaded"],
      answer: (call) => inOwnTurn(() => readCase(dependencies, call)),
    }),
    route({
      ...ONE,
      on: "GET /v1/decisions/:decision_id",
      id: "readDecision",
      summary: "The dossier of one decision",
      description:
        "Notice, decision, explanation, objection, human review and reversal in one answer, with the missing steps, the obligations and their clocks, and every event as sent, with the rule that links it. A step is `missing` once it is due, and `pending` before.",
      gives: dossierSchema,
      problems: ["case_expired", "overloaded"],
      answer: (call) => inOwnTurn(() => readDecision(dependencies, call)),
    }),
  ];
};

const readCase = async (dependencies: Dependencies, { principal, params }: Call): Promise<Answer> => {
  const { views, rules, now } = dependencies;
  const { tenant } = principal;
  const value = params.correlation_id ?? "";
  const found = value ? await findCase(views, tenant, { kind: "correlation", value, rules }) : undefined;
  if (!found) return notFound("case");
  if (found.isShared) return refuse("case_shared");
  if (found.hasExpired) return refuse("case_expired");
  const { facts, links } = found.is;
  // Several decisions about one person share the same nameless notice.
  const once = new Map(facts.map((fact) => [fact.id, fact]));
  const linked = [...once.values()].map((fact) => ({ fact, linkedBy: linkOf(fact, links)?.by }));
  const entry = { ...caseEntry(found, rules, timeKey(now().toISOString())), correlation_id: value };
  return story(dependencies, tenant, entry, linked);
};

const readDecision = async (dependencies: Dependencies, { principal, params }: Call): Promise<Answer> => {
  const { views, rules, now } = dependencies;
  const { tenant } = principal;
  const value = canonicalEventId(params.decision_id ?? "");
  const found = value ? await findCase(views, tenant, { kind: "decision", value, rules }) : undefined;
  const known = decisionIn(found, value);
  if (found?.hasExpired && !known) return refuse("case_expired");
  if (!found || !known) return notFound("decision");
  const { decision, row } = known;
  const { unlinked, notices } = await findBeside(views, tenant, { found, decision, row, rules });
  const linked = [
    ...decision.facts.map((fact) => ({ fact, linkedBy: found.is.links.decisionOf(fact)?.by })),
    ...notices.map((fact) => ({ fact, linkedBy: "subject" as const })),
  ].sort((one, other) => inOrder(one.fact, other.fact));
  const at = timeKey(now().toISOString());
  return story(dependencies, tenant, decisionEntry({ found, row, rules, at, unlinked }), linked);
};

interface LinkedFact {
  readonly fact: Fact;
  readonly linkedBy: LinkedBy | undefined;
}

/** With the events as sent. One may have expired from the views; its fact and its place in the log remain. */
const story = async (
  { views }: Dependencies,
  tenant: string,
  entry: object,
  linked: readonly LinkedFact[],
) => {
  const facts = linked.map(({ fact }) => fact);
  const rows = await eventsOfFacts(views, tenant, facts);
  return giveText(withTimeline(entry, linked, (id) => rows.get(id)?.event));
};

export const withTimeline = (
  entry: object,
  linked: readonly LinkedFact[],
  textOf: (eventId: string) => unknown,
): string => {
  const timeline = linked.map(({ fact, linkedBy = null }) => {
    const { sequence } = fact;
    const head = { at: timeOf(fact), sequence, received_at: recordedTimeOf(fact), linked_by: linkedBy };
    return `${JSON.stringify(head).slice(0, -1)},"event":${textOf(fact.id) ?? "null"}}`;
  });
  return `${JSON.stringify(entry).slice(0, -1)},"timeline":[${timeline.join(",")}]}`;
};

const Timeline = Type.Array(
  Type.Object({
    at: Time,
    sequence: Type.Integer(),
    received_at: time("When the log received it."),
    linked_by: Type.Union([...LINKED_BY.map((rule) => Type.Literal(rule)), Type.Null()], {
      description: LINKED_BY_RULE,
    }),
    event: nullable(Type.Record(Type.String(), Type.Unknown())),
  }),
  {
    description: `The events in the order of their own times, up to ${CASE_FACTS_MAX} per name they refer to. Beyond that, events about objections, explanations, reviews, reversals and incidents are kept first, then notices, decisions and the rest, the earliest of each; the first decision and notice always.`,
  },
);

const UnlinkedEvents = (description: string) =>
  Type.Array(
    Type.Object({
      event_id: Type.String(),
      event_type: Type.String(),
      sequence: Type.Integer(),
      at: Time,
      recorded_at: Time,
      asset_id: Type.String(),
      subject_hash: nullable(Type.String()),
      candidates: Type.Array(
        Type.Object({
          kind: wordsOf(["decision", "objection", "incident"]),
          id: Type.String(),
        }),
        { description: "What it could belong to: its correlation has several of a kind, or none." },
      ),
    }),
    {
      description: `${description} To link one, send an event of its kind that names the decision, objection or incident.`,
    },
  );

const parts = {
  objections: Type.Array(entrySchema(objectionList)),
  human_reviews: Type.Array(entrySchema(humanReviewList)),
  obligations: Type.Array(obligationSchema),
  timeline: Timeline,
};

/** A case has only the events that it keeps; of others, only number and times. */
const OF_TIMELINE = "Of the events in the timeline.";

const SPAN = nullable(
  time("Of all events of the case; of those in the timeline, if one of the same names has expired."),
);

const caseSchema = Type.Object({
  correlation_id: Type.String(),
  state: wordsOf(["open", "closed"], {
    description:
      "`open` while an obligation is unmet, or an objection, human review or incident is not closed.",
  }),
  started_at: SPAN,
  last_at: SPAN,
  asset_ids: Type.Array(Type.String(), { description: OF_TIMELINE }),
  events: int(
    "More than in the timeline where a name has more than are kept. Events that were kept and expired with the case are not counted; others that expired are.",
  ),
  notice_shown: bool(
    "Whether each decision has a notice, shown before or after it; a decision with none shown before lists `notice` under `missing`. Without a known decision: whether there is any notice.",
  ),
  explanation_given: bool("Any explanation is in the log."),
  human_review_triggered: bool("Any human review was triggered."),
  human_review_completed: bool("Every human review is completed. False where there is none."),
  objection_received: bool("Any objection was received."),
  objection_resolved: bool("Every objection is resolved. False where there is none."),
  decision_reversed: bool("Any decision was reversed."),
  decisions: Type.Array(entrySchema(decisionList)),
  incidents: Type.Array(entrySchema(incidentList)),
  unlinked: UnlinkedEvents("Events of the case that no rule links to what they are about."),
  ...parts,
});

export const dossierSchema = Type.Object({
  ...entryMembers(decisionList),
  unlinked: UnlinkedEvents(
    `Events that no rule links to a decision: of the same asset and person, among the newest ${BESIDE_EVENTS_MAX} about both, or under a correlation of which this decision is one of several.`,
  ),
  ...parts,
});
