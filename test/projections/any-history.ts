/** Any events of two tenants, as the log would hold them. */
import fc from "fast-check";
import { EVENT_TYPES } from "../../src/event/event-types.ts";
import { messageOf } from "./records.ts";

const few = (prefix: string) => fc.integer({ min: 1, max: 3 }).map((number) => `${prefix}${number}`);
const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const hash = few("").map((digit) => `sha256:${digit.repeat(64)}`);

/** There are few names and few times, so that events are connected. */
const anyMetadata = fc.record({
  decision_id: sometimes(few("dec_")),
  objection_id: sometimes(few("obj_")),
  incident_id: sometimes(few("inc_")),
  assessment_id: sometimes(few("asm_")),
  outcome: sometimes(fc.constantFrom("approved", "denied")),
  final_outcome: sometimes(fc.constantFrom("approved", "denied")),
  objection_type: sometimes(
    fc.constantFrom("automated_decision_refusal", "explanation_request", "appeal", "x"),
  ),
  resolution: sometimes(fc.constantFrom("upheld", "denied")),
  reason: sometimes(fc.constantFrom("because", "therefore")),
  extension_days: sometimes(fc.integer({ min: 1, max: 40 })),
  incident_class: sometimes(fc.constantFrom("death", "property")),
  report_type: sometimes(fc.constantFrom("initial", "complete")),
  role: sometimes(fc.constantFrom("provider", "deployer")),
  notified: sometimes(fc.constantFrom("provider", "public")),
  source_id: sometimes(few("src_")),
  source_sequence: sometimes(fc.integer({ min: 1, max: 12 })),
  last_source_sequence: sometimes(fc.integer({ min: 0, max: 15 })),
  version: sometimes(few("v")),
  model: sometimes(few("model ")),
  queue_depth: sometimes(fc.nat(9)),
  assessment_type: sometimes(fc.constantFrom("bias_audit", "fria")),
  outcome_hash: sometimes(hash),
  to: sometimes(fc.constantFrom("low", "high")),
  owner: sometimes(few("owner")),
  locale: sometimes(fc.constantFrom("ko", "en")),
  clauses: sometimes(fc.subarray(["art. 2(4)", "art. 31"])),
  checklist: sometimes(fc.dictionary(few("item "), fc.oneof(fc.boolean(), few("state ")), { maxKeys: 3 })),
});

const anyEvent = fc.record(
  {
    timestamp: fc
      .integer({ min: 0, max: 80 })
      .map((halfDays) => new Date(Date.UTC(2027, 1, 1, 12 * halfDays)).toISOString()),
    asset_id: few("asset_"),
    // Heartbeats are frequent enough that several concern one source.
    event_type: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...EVENT_TYPES) },
      { weight: 1, arbitrary: fc.constant("sdk.heartbeat") },
    ),
    risk_tier: sometimes(fc.constantFrom("low", "high")),
    legal_bases: sometimes(
      fc.uniqueArray(fc.constantFrom("pipa_37_2_kr", "gdpr_art_22", "nyc_ll144", "colorado_sb26_189")),
    ),
    correlation_id: sometimes(few("case-")),
    subject_hash: sometimes(hash),
    asset_version: sometimes(few("v")),
    output_hash: sometimes(hash),
    metadata: anyMetadata,
  },
  { requiredKeys: ["timestamp", "asset_id", "event_type", "metadata"] },
);

/** Notices without a name and decisions, of few systems about few persons (DOMAIN 2b, rule 3). */
export const anyPersonEvent = fc.record(
  {
    timestamp: fc.nat({ max: 8 }).map((days) => new Date(Date.UTC(2027, 1, 1 + days)).toISOString()),
    asset_id: fc.constantFrom("asset_1", "asset_2"),
    event_type: fc.constantFrom(
      "decision.automated_decision_made",
      "transparency.notice_shown",
      "disclosure_shown",
    ),
    legal_bases: sometimes(fc.constantFrom(["nyc_ll144"], ["gdpr_art_22"])),
    risk_tier: sometimes(fc.constantFrom("low", "high")),
    subject_hash: sometimes(fc.constantFrom("1", "2").map((digit) => `sha256:${digit.repeat(64)}`)),
    correlation_id: fc.option(fc.constant("case-1"), { nil: undefined, freq: 1 }),
    metadata: fc.record({ decision_id: fc.option(few("dec_"), { nil: undefined, freq: 1 }) }),
  },
  { requiredKeys: ["timestamp", "asset_id", "event_type", "metadata"] },
);

export const anyHistory = fc
  .oneof(
    { weight: 1, arbitrary: fc.array(anyEvent, { maxLength: 24 }) },
    { weight: 4, arbitrary: fc.array(anyPersonEvent, { maxLength: 12 }) },
  )
  .map((events: readonly object[]) =>
    events.map((event, index) =>
      messageOf(index + 1, {
        event: { ...event, event_id: `evt_${index}` },
        tenant: index % 7 === 6 ? "b" : "a",
        receivedAt: `2026-11-20T10:00:0${index % 5}.000Z`,
      }),
    ),
  );
