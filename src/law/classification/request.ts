/** The request and the answer, declared once: validation, OpenAPI and the SDK use these schemas. */
import { type Static, Type } from "@sinclair/typebox";
import { oneOf } from "../../event/check.ts";
import { RISK_TIERS } from "../../event/risk-tiers.ts";
import { CLASSIFICATION_TEXT_CHARACTERS_MAX } from "../../limits.ts";
import { OBLIGATIONS } from "./obligations.ts";
import { JURISDICTIONS, LAWS } from "./vocabulary.ts";

const text = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: CLASSIFICATION_TEXT_CHARACTERS_MAX,
    description,
    examples: [example],
    "x-expects": `a text of 1 to ${CLASSIFICATION_TEXT_CHARACTERS_MAX} characters`,
  });
const flag = (description: string) => Type.Boolean({ description });

/**
 * Public clients also send a name and more context, which no rule uses. Whether that context is a text or an object is not documented (DOMAIN 2, F2),
 * so both are accepted.
 */
export const UNREAD_MEMBERS = {
  name: Type.Optional(Type.String({ description: "What you call the system. No rule uses it." })),
  additional_context: Type.Optional(
    Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
      description: "What else a person should know about it. No rule uses it.",
      "x-expects": "a text or an object",
    }),
  ),
};

export const ClassificationRequest = Type.Object(
  {
    ...UNREAD_MEMBERS,
    domain: text(
      "What it is used for. Unknown names are taken with caution and a warning.",
      "finance_credit_evaluation",
    ),
    ai_type: Type.Optional(text("What kind of AI it is. Left out: other.", "llm")),
    decision_autonomy: Type.Optional(
      text("How much it decides on its own. Left out: full_auto, with a warning.", "full_auto"),
    ),
    user_impact: Type.Optional(
      text("How much it matters to the person. Left out: medium, with a warning.", "high"),
    ),
    processes_personal_data: Type.Optional(flag("Left out: false.")),
    generates_content: Type.Optional(flag("It generates content, whatever its ai_type. Left out: false.")),
    indistinguishable_output: Type.Optional(flag("Its output can be taken for real. Left out: false.")),
    training_compute_flops: Type.Optional(
      Type.Number({
        minimum: 0,
        description: "Computing spent on training, in floating-point operations.",
        examples: [1e25],
      }),
    ),
    jurisdictions: Type.Optional(
      Type.Array(oneOf(JURISDICTIONS), {
        minItems: 1,
        maxItems: JURISDICTIONS.length,
        description: "Only the laws of these. Left out: all.",
      }),
    ),
  },
  { additionalProperties: true },
);
export type ClassificationRequest = Static<typeof ClassificationRequest>;

const Tier = oneOf(RISK_TIERS, {
  description: "From the mildest to the gravest: low, limited, high, prohibited.",
});
const LegalBasis = oneOf(Object.keys(LAWS), { description: "As in the legal_bases of an event." });

export const Classification = Type.Object({
  risk_tier: Tier,
  primary_category: Tier,
  reasoning: Type.String({ description: "For a person. A product heuristic, not legal advice." }),
  legal_bases: Type.Array(LegalBasis),
  cited_clauses: Type.Array(
    Type.Object({
      legal_basis: LegalBasis,
      type: oneOf(Object.keys(LAWS), {
        description: "The same as `legal_basis`, under the name that client libraries in the field read.",
      }),
      ref: Type.String(),
      title: Type.String(),
      applies_from: Type.String({ format: "date" }),
    }),
  ),
  obligations: Type.Array(
    Type.Object({
      code: oneOf(Object.keys(OBLIGATIONS), { description: "What has to be done." }),
      event_types: Type.Array(Type.String(), { description: "Events that are evidence of it." }),
      cadence: Type.String(),
      deadline: Type.Union([Type.String(), Type.Null()]),
      clause: Type.String({ description: "Of the laws whose rules require it." }),
      force: oneOf(["must", "should"], { description: "should: the law asks for an effort." }),
    }),
  ),
  recommended_actions: Type.Array(
    Type.Object({
      code: oneOf(Object.keys(OBLIGATIONS)),
      priority: oneOf(["high", "medium"], {
        description: "high: a law demands it; medium: it asks for an effort.",
      }),
      description: Type.String(),
      clause: Type.String(),
    }),
    { description: "The obligations as tasks, as client libraries in the field read them." },
  ),
  matched_rules: Type.Array(Type.String()),
  ruleset_version: Type.String(),
  normalized_input: Type.Object({
    domain: Type.String(),
    ai_type: Type.String(),
    decision_autonomy: Type.String(),
    user_impact: Type.String(),
    processes_personal_data: Type.Boolean(),
    generates_content: Type.Boolean(),
    indistinguishable_output: Type.Boolean(),
    jurisdictions: Type.Array(Type.String()),
  }),
  warnings: Type.Array(Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() })),
  confidence: Type.Number({ minimum: 0, maximum: 1, description: "1 where every value was understood." }),
  llm_used: Type.Boolean({ description: "Always false: rules, no model." }),
});
export type Classification = Static<typeof Classification>;
