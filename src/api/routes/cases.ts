/** One case and one decision: their whole story, with missing steps named. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { linkOf } from "../../law/cases/case.ts";
import { type Fact, inOrder, recordedTimeOf, timeOf } from "../../law/cases/fact.ts";
import { LINKED_BY, type LinkedBy } from "../../law/cases/links.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { CASE_FACTS_MAX } from "../../limits.ts";
import { caseEntry, decisionEntry, isOfDecision } from "../../views/cases/entries.ts";
import { eventsOfFacts, findCase, isCaseExpired } from "../../views/cases/queries.ts";
import { decisionList, decisionsRegister } from "../../views/cases/registers/decisions.ts";
import { humanReviewList } from "../../views/cases/registers/human-reviews.ts";
import { incidentList } from "../../views/cases/registers/incidents.ts";
import { objectionList } from "../../views/cases/registers/objections.ts";
import { LINKED_BY_RULE } from "../../views/cases/registers/register.ts";
import { CASES_VIEW } from "../../views/cases/tables.ts";
import { findBeside } from "../../views/cases/unlinked.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { BESIDE_EVENTS_MAX } from "../../views/kit/limits.ts";
import { entryMembers, entrySchema } from "../../views/kit/list.ts";
import { rowText } from "../../views/store/tables.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { ONE_CASE } from "../http/access.ts";
import type { Call } from "../http/call.ts";
import type { Guard } from "../http/guard.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import {
  inOwnTurn,
  MIN_SEQUENCE,
  notFound,
  pathParameter,
  type ReadDependencies,
  reading,
} from "../http/reading.ts";
import { dataOf } from "../http/schemas.ts";
import { successWhole } from "../http/success.ts";
import { obligationSchema } from "./obligations.ts";

export const caseRoutes = ({
  guard,
  ...dependencies
}: ReadDependencies & { readonly guard: Guard; readonly rules: Rules }) =>
  new Elysia({ prefix: "/v1" })
    .get("/cases/:correlation_id", guard(ONE_CASE, readCase(dependencies)), {
      detail: describe(CASE),
    })
    .get("/decisions/:decision_id", guard(ONE_CASE, readDecision(dependencies)), {
      detail: describe(DECISION),
    });

type Dependencies = ReadDependencies & { readonly rules: Rules };

/** `events` too, for the events themselves and for those that no rule links. */
const VIEWS = [CASES_VIEW, EVENTS_VIEW];

const readCase = ({ views, now, rules }: Dependencies) =>
  reading(views, {
    view: VIEWS,
    ask: () => timeKey(now().toISOString()),
    answer: (at, call) =>
      inOwnTurn(async () => {
        const { tenant } = call.principal;
        const value = call.params.correlation_id ?? "";
        const found = value
          ? await findCase(views, tenant, { kind: "correlation", value, rules })
          : undefined;
        if (!found) return notFound(call, "case");
        if (found.isShared) return problem(call.context, "case_shared");
        if (await isCaseExpired(views, tenant, value, found)) return problem(call.context, "case_expired");
        const { facts, links } = found.is;
        // Several decisions about one person have the same nameless notice.
        const once = new Map(facts.map((fact) => [fact.id, fact]));
        const linked = [...once.values()].map((fact) => ({ fact, linkedBy: linkOf(fact, links)?.by }));
        return answerWithTimeline(views, call, linked, {
          ...caseEntry(found, rules, at),
          correlation_id: value,
        });
      }),
  });

const readDecision = ({ views, now, rules }: Dependencies) =>
  reading(views, {
    view: VIEWS,
    ask: () => timeKey(now().toISOString()),
    answer: (at, call) =>
      inOwnTurn(async () => {
        const { tenant } = call.principal;
        const value = canonicalEventId(call.params.decision_id ?? "");
        const found = value ? await findCase(views, tenant, { kind: "decision", value, rules }) : undefined;
        const decision = found?.is.decisions.find(({ id }) => id === value);
        if (found?.hasExpired && !decision) return problem(call.context, "case_expired");
        if (!found || !decision) return notFound(call, "decision");
        const [row] = decisionsRegister.rowsOf(found).filter(isOfDecision(decision));
        if (!row) throw new Error("a decision has a row");
        const { unlinked, notices } = await findBeside(views, tenant, { found, decision, row, rules });
        const linked = [
          ...decision.facts.map((fact) => ({ fact, linkedBy: found.is.links.decisionOf(fact)?.by })),
          ...notices.map((fact) => ({ fact, linkedBy: "subject" as const })),
        ].sort((one, other) => inOrder(one.fact, other.fact));
        return answerWithTimeline(
          views,
          call,
          linked,
          decisionEntry({ found, decision, row, rules, at, unlinked }),
        );
      }),
  });

interface LinkedFact {
  readonly fact: Fact;
  /** Undefined where no rule links it. */
  readonly linkedBy: LinkedBy | undefined;
}

/** The answer contains the events as they were sent. */
const answerWithTimeline = async (
  views: ViewStore,
  call: Call,
  linked: readonly LinkedFact[],
  entry: object,
): Promise<Response> => {
  const facts = linked.map(({ fact }) => fact);
  const rows = await eventsOfFacts(views, call.principal.tenant, facts);
  // The event may have expired from the views; its fact and its place in the log remain.
  const texts = new Map([...rows].map(([id, row]) => [id, rowText(row, "event")]));
  return successWhole(call.context, withTimeline(entry, linked, texts));
};

/** `texts`: the events as they were sent, by event_id. */
export const withTimeline = (
  entry: object,
  linked: readonly LinkedFact[],
  texts: ReadonlyMap<string, string>,
): string => {
  const timeline = linked.map(({ fact, linkedBy }) => {
    const { sequence } = fact;
    const head = {
      at: timeOf(fact),
      sequence,
      received_at: recordedTimeOf(fact),
      linked_by: linkedBy ?? null,
    };
    return `${JSON.stringify(head).slice(0, -1)},"event":${texts.get(fact.id) ?? "null"}}`;
  });
  const text = JSON.stringify(entry);
  return `${text.slice(0, -1)},"timeline":[${timeline.join(",")}]}`;
};

const LinkedByRule = Type.Union([...LINKED_BY.map((rule) => Type.Literal(rule)), Type.Null()], {
  description: LINKED_BY_RULE,
});

const Timeline = Type.Array(
  Type.Object({
    at: Type.String({ format: "date-time" }),
    sequence: Type.Integer(),
    received_at: Type.String({ format: "date-time", description: "When the log received it." }),
    linked_by: LinkedByRule,
    event: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  }),
  {
    description: `The events in the order of their own times, up to ${CASE_FACTS_MAX} per name they refer to. Of more, what is said of objections, explanations, reviews, reversals and incidents stays first of all, then notices, then decisions, then all else, and of each the earliest; the first decision and the first notice always.`,
  },
);

const UnlinkedEvents = (description: string) =>
  Type.Array(
    Type.Object({
      event_id: Type.String(),
      event_type: Type.String(),
      sequence: Type.Integer(),
      at: Type.String({ format: "date-time" }),
      recorded_at: Type.String({ format: "date-time" }),
      asset_id: Type.String(),
      subject_hash: Type.Union([Type.String(), Type.Null()]),
      candidates: Type.Array(
        Type.Object({
          kind: Type.Union([Type.Literal("decision"), Type.Literal("objection"), Type.Literal("incident")]),
          id: Type.String(),
        }),
        { description: "What it could belong to: several of a kind stand under its correlation, or none." },
      ),
    }),
    {
      description: `${description} To link one, send an event of its kind that names the decision, the objection or the incident.`,
    },
  );

const parts = {
  objections: Type.Array(entrySchema(objectionList)),
  human_reviews: Type.Array(entrySchema(humanReviewList)),
  obligations: Type.Array(obligationSchema),
  timeline: Timeline,
};

/** A case knows only the events that it keeps; of others it has the number and the times. */
const OF_TIMELINE = "Of the events in the timeline.";

const time = Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
  description:
    "Of all events of the case; of those in the timeline, where one of the same names has expired before.",
});

const CaseAnswer = dataOf(
  Type.Object({
    correlation_id: Type.String(),
    state: Type.Union([Type.Literal("open"), Type.Literal("closed")], {
      description:
        "`open` while a duty is not met, or an objection, a human review or an incident is not closed.",
    }),
    started_at: time,
    last_at: time,
    asset_ids: Type.Array(Type.String(), { description: OF_TIMELINE }),
    events: Type.Integer({
      description:
        "More than in the timeline where a name has more than are kept. Those that were kept and went with the case when it expired are not counted, others that expired are.",
    }),
    notice_shown: Type.Boolean({
      description:
        "For every decision a notice is in the log, before it or after it: where none came before, `notice` is among the `missing` steps of the decision. Where no decision is known, whether there is any notice.",
    }),
    explanation_given: Type.Boolean({ description: "Any explanation is in the log." }),
    human_review_triggered: Type.Boolean({ description: "Any human review was triggered." }),
    human_review_completed: Type.Boolean({
      description: "Every human review is completed. False where there is none.",
    }),
    objection_received: Type.Boolean({ description: "Any objection was received." }),
    objection_resolved: Type.Boolean({
      description: "Every objection is resolved. False where there is none.",
    }),
    decision_reversed: Type.Boolean({ description: "Any decision was reversed." }),
    decisions: Type.Array(entrySchema(decisionList)),
    incidents: Type.Array(entrySchema(incidentList)),
    unlinked: UnlinkedEvents("Events of the case that no rule links to what they are about."),
    ...parts,
  }),
);

export const dossierSchema = Type.Object({
  ...entryMembers(decisionList),
  unlinked: UnlinkedEvents(
    `Events that no rule links to a decision: of the same asset and person, among the newest ${BESIDE_EVENTS_MAX} about both, or under a correlation of which this decision is one of several.`,
  ),
  ...parts,
});
const DecisionAnswer = dataOf(dossierSchema);

const TIMELINE_EXAMPLE = [
  {
    at: "2026-11-20T10:00:00Z",
    sequence: 1,
    received_at: "2026-11-20T10:00:00.512Z",
    linked_by: "decision_id",
    event: {
      event_id: "evt_sample_001",
      timestamp: "2026-11-20T10:00:00Z",
      asset_id: "credit_model",
      event_type: "decision.automated_decision_made",
      correlation_id: "case-17",
      metadata: { decision_id: "dec_42", outcome: "approved" },
    },
  },
];

const DECISION_ENTRY_EXAMPLE = {
  decision_id: "dec_42",
  asset_id: "credit_model",
  asset_version: null,
  correlation_id: "case-17",
  subject_hash: null,
  risk_tier: null,
  made_at: "2026-11-20T10:00:00Z",
  made_recorded_at: "2026-11-20T10:00:00.512Z",
  made_again: 0,
  outcome: "approved",
  notice_at: null,
  notice_recorded_at: null,
  notice_linked_by: null,
  explanation_at: null,
  explanation_recorded_at: null,
  review_triggered_at: null,
  review_triggered_recorded_at: null,
  review_completed_at: null,
  review_completed_recorded_at: null,
  reversed_at: null,
  reversed_recorded_at: null,
  obligations_open: 0,
  missing: ["notice"],
  pending: [],
};

const CASE_EXAMPLE = {
  data: {
    correlation_id: "case-17",
    state: "closed",
    started_at: "2026-11-20T10:00:00Z",
    last_at: "2026-11-20T10:00:00Z",
    asset_ids: ["credit_model"],
    events: 1,
    notice_shown: false,
    explanation_given: false,
    human_review_triggered: false,
    human_review_completed: false,
    objection_received: false,
    objection_resolved: false,
    decision_reversed: false,
    decisions: [{ ...DECISION_ENTRY_EXAMPLE, objections: 0 }],
    objections: [],
    human_reviews: [],
    incidents: [],
    obligations: [],
    unlinked: [],
    timeline: TIMELINE_EXAMPLE,
  },
  request_id: EXAMPLE_REQUEST_ID,
};

export const DECISION_EXAMPLE = {
  data: {
    ...DECISION_ENTRY_EXAMPLE,
    objections: [],
    human_reviews: [],
    obligations: [],
    unlinked: [],
    timeline: TIMELINE_EXAMPLE,
  },
  request_id: EXAMPLE_REQUEST_ID,
};

const CASE: Operation = {
  id: "readCase",
  tag: "Reading",
  summary: "One case",
  description:
    "All events with this correlation_id, and all that are linked to them by decision, objection or incident: what was decided, and whether notice, explanation, review, objection and resolution are in the log. A case is open while anything is unanswered.",
  access: ONE_CASE,
  parameters: [pathParameter("correlation_id", "case-17"), MIN_SEQUENCE],
  answer: { status: 200, description: "The case.", schema: CaseAnswer, example: CASE_EXAMPLE },
  problems: ["invalid_request", "not_found", "case_shared", "case_expired", "view_behind", "overloaded"],
};

const DECISION: Operation = {
  id: "readDecision",
  tag: "Reading",
  summary: "The dossier of one decision",
  description:
    "Notice, decision, explanation, objection, human review and reversal in one answer, with the missing steps named, the duties and their clocks, and every event as it was sent, with the rule that links it. A step is `missing` once it is due, and `pending` before.",
  access: ONE_CASE,
  parameters: [pathParameter("decision_id", "dec_42"), MIN_SEQUENCE],
  answer: { status: 200, description: "The dossier.", schema: DecisionAnswer, example: DECISION_EXAMPLE },
  problems: ["invalid_request", "not_found", "case_expired", "view_behind", "overloaded"],
};
