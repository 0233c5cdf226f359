/** Examples for the API documentation, built from the schemas. One story: a person objects to a credit decision. */
import type { TSchema } from "@sinclair/typebox";

export const EXAMPLE_REQUEST_ID = "019dd0a2-5f5e-7b1c-8b7e-2f1f0f6b9a10";
const HASH = `sha256:${"2c".repeat(32)}`;

/** By the name of the member. Others follow from their schemas. */
export const EXAMPLE_VALUES: Readonly<Record<string, string | number | boolean>> = {
  api_key: "ptk_k3Yb0Qz81mNd_…",
  asset_id: "credit_model",
  asset_ids: "credit_model",
  asset_version: "7.1",
  assessment_id: "asm_2026",
  clause: "PIPA Enforcement Decree art. 44-3(2), (5)",
  clauses: "EU AI Act Annex III 5(b)",
  code: "unknown_event_type",
  correlation_id: "case-17",
  created_at: "2026-11-20T10:00:00.000Z",
  created_by: "admin",
  csrf_token: "l9b1Tq0mE3uK7xw2ZyVfXn5a",
  decision_id: "dec_42",
  duty: "explanation",
  en: "Explanation",
  event_id: "evt_sample_001",
  event_type: "decision.automated_decision_made",
  example_event_ids: "evt_explained_1",
  expires_at: "2027-05-23T10:00:00.512Z",
  from: "2026-07-01T00:00:00.000Z",
  grace_until: "2026-11-21T10:00:00.000Z",
  hours: 30.75,
  id: "k3Yb0Qz81mNd",
  incident_id: "inc_3",
  key_id: "k3Yb0Qz81mNd",
  ko: "설명",
  law: "pipa_37_2_kr",
  legal_basis: "pipa_37_2_kr",
  legal_bases: "pipa_37_2_kr",
  locale: "ko",
  made_by: "k3Yb0Qz81mNd",
  manifest_sha256: "3f0a1d9c5b7e2846a1c09d8e7f6b5a4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a",
  message: 'event_type is not a known type: did you mean "incident.detected"?',
  model: "gradient-boosting",
  name: "acme production",
  objection_id: "obj_7",
  objection_type: "automated_decision_refusal",
  obligation_id: "PIPA-REFUSE:evt_objection_001",
  origins: "https://www.example.com",
  outcome: "denied",
  oversight_person: "Kim Ji-woo",
  owner: "Credit risk team",
  path: "/v1/decisions/dec_42",
  person: "j.kim@audit.example",
  reason: "The income was read wrongly",
  released_at: "2027-02-01T09:00:00.000Z",
  replaced_by: "Zt7f2LxW0aPe",
  request_id: EXAMPLE_REQUEST_ID,
  reviewer_id: "reviewer_3",
  revoked_at: "2026-11-21T08:00:00.000Z",
  root: "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=",
  risk_tier: "high",
  route: "/v1/decisions/:decision_id",
  rule: "PIPA-REFUSE",
  ruleset_version: "2026-11-22",
  severity: "serious",
  source_id: "scoring/0198c0de-0000-7000-8000-000000000000",
  subject_hash: HASH,
  tenant: "acme",
  timestamp: "2026-11-20T10:00:00.000Z",
  to: "2026-12-31T23:59:59.000Z",
  updated_at: "2026-11-20T10:00:00.000Z",
  version: "7.1",
};

export const exampleOf = (schema: TSchema, name = ""): unknown => {
  const { const: constant, anyOf, type, examples, properties, patternProperties, items } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(examples)) return examples[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0], name);
  const told = Object.hasOwn(EXAMPLE_VALUES, name) ? EXAMPLE_VALUES[name] : undefined;
  switch (type) {
    case "object":
      if (patternProperties) {
        const [of] = Object.values<TSchema>(patternProperties);
        return of?.type === undefined ? {} : { "…": exampleOf(of) };
      }
      return Object.fromEntries(
        Object.entries<TSchema>(properties ?? {}).map(([member, of]) => [member, exampleOf(of, member)]),
      );
    case "array":
      return [exampleOf(items, name)];
    case "null":
      return null;
    case "boolean":
      return typeof told === "boolean" ? told : false;
    case "integer":
    case "number":
      return typeof told === "number"
        ? told
        : Math.max(schema.minimum ?? 1, Math.min(1, schema.maximum ?? 1));
    case "string":
      if (typeof told === "string") return told;
      return schema.format === "date-time" ? "2026-11-20T10:00:00Z" : name.replaceAll("_", " ") || "text";
    default:
      return {};
  }
};
