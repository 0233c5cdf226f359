/**
 * What the client library in the field sends, which goes beyond the specification: every kind of event of its version 1.2.1, and its question to the
 * classification.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { answerSchema } from "../../src/api/http/openapi.ts";
import { CLASSIFYING } from "../../src/api/routes/vocabulary.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

/** As README names them. */
const SETTINGS = {
  EXTRA_EVENT_TYPES: "sdk.heartbeat",
  EXTRA_EVENT_ID_PREFIXES: "obj_,rev_",
  API_KEY_PREFIX: "JUN_live_",
};

let service: TestService;
let key = "";
beforeAll(async () => {
  service = await startTestService(SETTINGS);
  key = await service.makeKey("field");
});
afterAll(() => service[Symbol.asyncDispose]());

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;
/** Nine fraction digits, as Go prints a time. */
const timestamp = new Date().toISOString().replace("Z", "456789Z");
const ULID = "01JD3Z5V8K9M2N4P6Q8R0S1";
const enriched = { sdk_version: "1.2.1", sdk_language: "go", environment: "production", region: "kr" };
const host = { runtime: "go", os: "" };

const kinds: readonly (readonly [idPrefix: string, eventType: string, metadata: object, more?: object])[] = [
  ["evt_", "ai_inference", { duration_ms: 12 }, { output_hash: hash("1"), host }],
  [
    "evt_",
    "ai_inference",
    { duration_ms: 1, error: true, error_type: "*errors.errorString", error_message_hash: hash("2") },
    { host },
  ],
  [
    "evt_",
    "ai_inference",
    { duration_ms: 1, error: true, panic: true, panic_type: "string", panic_message_hash: hash("3") },
    { host },
  ],
  [
    "evt_",
    "sdk.heartbeat",
    { queue_depth: 0, outbox_depth: 3, circuit_state: "closed", ...enriched },
    { host },
  ],
  ["obj_", "objection", { decision_id: "d1", reason: "wrong income", user_id_hash: hash("4") }],
  ["rev_", "human_review", { decision_id: "d1", reviewer_id: "p7", outcome: "upheld" }],
  [
    "evt_",
    "decision.automated_decision_made",
    {
      decision_id: "d1",
      outcome: "denied",
      user_id_hash: hash("4"),
      explanation: "debt ratio",
      legal_bases: ["pipa_37_2_kr", "ai_basic_law_kr"],
      features: null,
    },
  ],
  [
    "evt_",
    "decision.explanation_provided",
    {
      decision_id: "d1",
      delivery_method: "email",
      recipient_hash: hash("4"),
      legal_bases: ["pipa_37_2_kr", "credit_info_36_2_kr"],
    },
  ],
  ["evt_", "decision.human_review_triggered", { decision_id: "d1", reason: "objection" }],
  [
    "evt_",
    "decision.human_review_completed",
    { decision_id: "d1", reviewer_id: "p7", final_outcome: "approved" },
  ],
  [
    "evt_",
    "decision.decision_reversed",
    { original_decision_id: "d1", new_outcome: "approved", triggered_by: "human_review" },
  ],
  ...["automated_decision_refusal", "explanation_request", "appeal"].map(
    (objection_type) =>
      [
        "evt_",
        "objection.received",
        {
          decision_id: "d1",
          objection_type,
          reason_summary: "income",
          user_id_hash: hash("4"),
          legal_bases: ["pipa_37_2_kr"],
        },
      ] as const,
  ),
  ["evt_", "objection.resolved", { objection_id: `evt_${ULID}11`, resolution: "upheld" }],
  [
    "evt_",
    "transparency.notice_shown",
    { legal_bases: ["ai_basic_law_kr", "eu_ai_act_art_50"], notice_channel: "in_app", locale: "ko-KR" },
  ],
  ["evt_", "transparency.policy_disclosed", { policy_url: "https://example.com/ai", policy_version: "3" }],
  [
    "evt_",
    "transparency.result_labeled",
    { label_type: "watermark", legal_bases: ["eu_ai_act_art_50", "ai_basic_law_kr"] },
    { output_hash: hash("1") },
  ],
];
const sent = kinds.map(([prefix, event_type, metadata, more], index) =>
  event({
    event_id: `${prefix}${ULID}${String(index).padStart(2, "0")}`,
    timestamp,
    asset_id: "gpt_chatbot_v1",
    event_type,
    ...more,
    metadata,
    ...enriched,
  }),
);
/** It sends no other headers. */
const headers = { "user-agent": "junyul-go/1.2.1" };

test("a new key has the prefix that the library demands", () => {
  expect(key).toMatch(/^JUN_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
});

test("every kind of event is accepted, kept exactly, and warned of only for members that are the library's own", async () => {
  const answer = await service.call("/v1/events/batch", { body: { events: sent }, headers, key });
  expect(answer.status).toBe(202);
  expect(answer.json.data).toMatchObject({ accepted: sent.length, rejected: 0, duplicates: 0, errors: [] });
  const warned = answer.json.data.warnings.map(
    ({ path, code, count }: { path: string; code: string; count: number }) => `${path} ${code} ${count}`,
  );
  expect(warned.sort()).toEqual([
    "/environment unknown_field 18",
    "/host unknown_field 4",
    "/output_hash unknown_field 2",
    "/region unknown_field 18",
    "/sdk_language unknown_field 18",
    "/sdk_version unknown_field 18",
  ]);

  const list = await service.call(`/v1/events?order=asc&min_sequence=${answer.json.data.sequence}`, { key });
  const texts = list.text.split(/"event":(?=\{)/).slice(1);
  const byTime = sent.map((each) => JSON.stringify(each)).sort();
  expect(texts.map((text) => byTime.find((each) => text.startsWith(each))).sort()).toEqual(byTime);
  const byBasis = await service.call("/v1/events?legal_basis=eu_ai_act_art_50", { key });
  expect(byBasis.json.data).toHaveLength(2);
  const metrics = await service.call("/metrics");
  expect(metrics.text).toContain(`prooftrail_unknown_fields_total ${4 * sent.length + 4 + 2}`);
});

test("its question to the classification is answered in the form that it reads", async () => {
  const body = {
    name: "Loan assistant",
    domain: "finance_credit_evaluation",
    decision_autonomy: "full_auto",
    user_impact: "high",
    processes_personal_data: true,
    ai_type: "llm",
    additional_context: "pre-decides eligibility",
  };
  const answer = await service.call("/v1/classify", { body, headers, key });
  expect(answer.status).toBe(200);
  expect(TypeCompiler.Compile(answerSchema(CLASSIFYING)).Check(answer.json)).toBe(true);
  const { data } = answer.json;
  expect(data).toMatchObject({ primary_category: "high", confidence: 1, llm_used: false });
  expect(data.cited_clauses).toContainEqual({
    type: "gdpr_art_22",
    legal_basis: "gdpr_art_22",
    ref: "22",
    title: "GDPR, automated individual decisions",
    applies_from: "2018-05-25",
  });
  expect(data.recommended_actions).toHaveLength(data.obligations.length);
  expect(data.recommended_actions).toContainEqual({
    code: "explanation",
    priority: "high",
    description: "Explain a decision to the person concerned when they ask.",
    clause: "PIPA 37-2(2); CIA 36-2; KR 3(2), 34(1)2; EU 86; CO SB 26-189",
  });
  expect(answer.text).not.toContain("SANDBOX");
  expect(answer.headers.get("x-sandbox-watermark")).toBeNull();

  // The sandbox says the same, with its watermark.
  const sandbox = await service.call("/v1/sandbox/classify", { body, key: null });
  expect(sandbox.json.data).toEqual(data);
});

test("without the settings the specification applies, and only the events that break it are refused", async () => {
  await using plain = await startTestService();
  const answer = await plain.call("/v1/events/batch", { body: { events: sent } });
  expect(answer.json.data).toMatchObject({
    accepted: sent.length - 3,
    rejected: 3,
    errors: [
      { index: 3, errors: [{ path: "/event_type", code: "unknown_event_type" }] },
      { index: 4, errors: [{ path: "/event_id" }] },
      { index: 5, errors: [{ path: "/event_id" }] },
    ],
  });
});
