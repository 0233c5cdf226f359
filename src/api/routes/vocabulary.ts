/** The names in events and answers, with labels for people. */
import { type TSchema, Type } from "@sinclair/typebox";
import { classify } from "../../law/classification/classify.ts";
import { Classification, ClassificationRequest } from "../../law/classification/request.ts";
import { DEADLINE_IDS, deadlineOf, dutyOf } from "../../law/obligations/deadline-table.ts";
import { ANYBODY } from "../http/access.ts";
import { type Answer, give } from "../http/answers.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { bodyOf, type KeyedRoute, type Route } from "../http/route.ts";
import { nullable, str } from "../http/schemas.ts";
import { LABELS, type Label } from "../vocabulary/labels.ts";

export const vocabularyRoutes = (dependencies: Dependencies): readonly Route[] => {
  const answer = give(vocabularyOf(dependencies));
  return [
    dependencies.route({
      on: "GET /v1/vocabulary",
      access: ANYBODY,
      id: "readVocabulary",
      tag: "Reading",
      summary: "Labels for the names in answers",
      description:
        "Labels in English and Korean for event types, risk tiers, laws, rules, states and steps, by their names. A name that only events define, such as another legal basis, has none: show it as is.",
      gives: Type.Object(DESCRIBED),
      answer: () => answer,
    }),
  ];
};

const vocabularyOf = ({ vocabulary, rules: { deadlines } }: Dependencies) => ({
  ...LABELS,
  event_types: Object.fromEntries(
    [...Object.entries<Label>(LABELS.event_types), ...extraTypes(vocabulary)].map(([name, label]) => [
      name,
      { ...label, group: groupOf(name) },
    ]),
  ),
  rules: Object.fromEntries(
    DEADLINE_IDS.map((id) => {
      const { clause = null, zone = null } = deadlineOf(deadlines, id) ?? {};
      return [id, { ...LABELS.rules[id], ...dutyOf(deadlines, id), clause, zone }];
    }),
  ),
});

/** Types from EXTRA_EVENT_TYPES have no label. */
const extraTypes = ({ eventTypes }: Dependencies["vocabulary"]): readonly (readonly [string, Label])[] =>
  eventTypes
    .filter((name) => !Object.hasOwn(LABELS.event_types, name))
    .map((name) => [name, { en: name, ko: name }]);

const groupOf = (type: string): string => (type.includes(".") ? (type.split(".")[0] ?? "") : "legacy");

const LabelSchema = Type.Object({ en: Type.String(), ko: Type.String() });
const byName = (entry: TSchema, description: string) => Type.Record(Type.String(), entry, { description });
const Labelled = (description: string) => byName(LabelSchema, description);

const DESCRIBED = {
  event_groups: Labelled("Groups of event types, for filters such as `event_type=decision.*`."),
  event_types: byName(
    Type.Object({ ...LabelSchema.properties, group: Type.String() }),
    "Every type that an event may have, including the operator's (EXTRA_EVENT_TYPES), whose label is their name.",
  ),
  risk_tiers: Labelled("`risk_tier`."),
  laws: Labelled("Legal bases that this program knows, and `any` and `policy`, as `law` in answers."),
  rules: byName(
    Type.Object({
      ...LabelSchema.properties,
      law: Type.String(),
      duty: Type.String(),
      clause: nullable(Type.String()),
      zone: nullable(str("The time zone in which its days end.")),
    }),
    "`rule` of an obligation; `law` and `duty` are those under which coverage counts it.",
  ),
  duties: Labelled("`duty` in coverage."),
  obligation_states: Labelled("`state` of an obligation."),
  coverage_states: Labelled("`state` in coverage."),
  objection_states: Labelled("`state` of an objection."),
  human_review_states: Labelled("`state` of a human review."),
  incident_states: Labelled("`state` of an incident."),
  notice_states: Labelled("`state` of a notice."),
  assessment_states: Labelled("`state` of an assessment."),
  asset_statuses: Labelled("`status` of an asset."),
  model_states: Labelled("`state` of a model."),
  steps: Labelled("Steps in `missing` and `pending` of a decision."),
  linked_by: Labelled("`linked_by`: the rule that links an event to its decision."),
  objection_types: Labelled("`metadata.objection_type`. Events may name others."),
  incident_classes: Labelled("`metadata.incident_class`. Events may name others."),
} as const satisfies Readonly<Record<keyof typeof LABELS, TSchema>>;

const EXAMPLE: ClassificationRequest = {
  ai_type: "llm",
  domain: "finance_credit_evaluation",
  decision_autonomy: "full_auto",
  user_impact: "high",
  processes_personal_data: true,
};

/** The sandbox gives the same answer, with its watermark. */
export const CLASSIFYING = {
  summary: "Which risk tier does a system have?",
  description:
    "From a description of the system to its tier, the laws behind it and what they require. It uses rules, not a model; it is a heuristic and not legal advice. Unknown values are treated with caution and listed in `warnings`.",
  body: bodyOf(ClassificationRequest, EXAMPLE),
  gives: Classification,
  example: classify(EXAMPLE),

  answer: ({ body }: { readonly body: ClassificationRequest }): Answer => give(classify(body)),
};

export const classificationRoutes = ({ route }: { readonly route: KeyedRoute }): readonly Route[] => [
  route({
    ...CLASSIFYING,
    on: "POST /v1/classify",
    access: ANYBODY,
    whileBehind: true,
    id: "classifySystem",
    tag: "Classification",
  }),
];
