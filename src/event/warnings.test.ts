import { describe, expect, test } from "bun:test";
import { NAMES_COMPARED_MAX, WARNINGS_MAX } from "../limits.ts";
import type { AuditEvent } from "./audit-event.ts";
import { createWarner, type Warning } from "./warnings.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const warnerOf = createWarner([
  "ai_basic_law_kr",
  "pipa_37_2_kr",
  "gdpr_art_22",
  "eu_ai_act_art_6",
  "nyc_ll144",
  "colorado_sb26_189",
]);

const minimal: AuditEvent = {
  event_id: "evt_1",
  timestamp: "2026-11-20T10:00:00Z",
  asset_id: "credit_model",
  event_type: "decision.automated_decision_made",
};
const warningsOf = (members: Readonly<Record<string, unknown>>): readonly Warning[] =>
  warnerOf({ ...minimal, ...members }, NOW);
const codesOf = (members: Readonly<Record<string, unknown>>): readonly string[] =>
  warningsOf(members).map(({ path, code }) => `${path} ${code}`);

describe("a legal basis that no rule names", () => {
  test.each([
    ["gdpr_art22", "gdpr_art_22"],
    ["nyc_ll_144", "nyc_ll144"],
    ["pipa_37_2", "pipa_37_2_kr"],
    ["colorado_sb_26_189", "colorado_sb26_189"],
  ])("%s is answered with %s", (sent, meant) =>
    expect(warningsOf({ legal_bases: ["ai_basic_law_kr", sent] })).toEqual([
      {
        path: "/legal_bases/1",
        code: "unknown_legal_basis",
        message: `Kept as sent, but no rule here names this legal basis: did you mean "${meant}"?`,
      },
    ]),
  );

  test.each(["eu_ai_act_art_86", "gdpr_art_21", "some_law_of_tomorrow", "policy"])(
    "%s is answered without a guess",
    (sent) =>
      expect(warningsOf({ legal_bases: [sent] })).toEqual([
        {
          path: "/legal_bases/0",
          code: "unknown_legal_basis",
          message: "Kept as sent, but no rule here names this legal basis.",
        },
      ]),
  );

  test("counts in metadata where the event has none of its own", () => {
    const metadata = { legal_bases: ["gdpr_art22"] };
    expect(codesOf({ metadata })).toEqual(["/metadata/legal_bases/0 unknown_legal_basis"]);
    expect(codesOf({ legal_bases: [], metadata })).toEqual(["/metadata/legal_bases/0 unknown_legal_basis"]);
    expect(codesOf({ legal_bases: ["gdpr_art_22"], metadata })).toEqual([]);
  });
});

describe("a key of metadata", () => {
  test.each([
    ["decisionId", "decision_id"],
    ["DecisionID", "decision_id"],
    ["decision-id", "decision_id"],
    ["desicion_id", "decision_id"],
    ["outcom", "outcome"],
    ["Outcome", "outcome"],
    ["resolutoin", "resolution"],
    ["objectionType", "objection_type"],
    ["objection_typ", "objection_type"],
    ["userIdHash", "user_id_hash"],
    ["incident_clas", "incident_class"],
    ["reveiwer_id", "reviewer_id"],
    ["source_sequense", "source_sequence"],
    ["gen_ai_conversation_id", "gen_ai.conversation.id"],
    ["legalBases", "legal_bases"],
    ["legal_basis", "legal_bases"],
    ["originalDecisoinId", "original_decision_id"],
  ])("%s is answered with %s", (sent, meant) =>
    expect(warningsOf({ metadata: { [sent]: "x" } })).toEqual([
      {
        path: `/metadata/${sent}`,
        code: "unknown_metadata_key",
        message: `Kept as sent, but it has no meaning here: did you mean "${meant}"?`,
      },
    ]),
  );

  test("is named as a JSON Pointer names it", () =>
    expect(codesOf({ metadata: { "out~come/": "x" } })).toEqual([]));

  test.each([
    ["region", "session_id", "revision_id", "notes", "score", "roles", "features", "new_outcome"],
    ["notified_at", "notified_by", "triggered_at", "decision_at", "decided_at", "assessment", "checklist_id"],
    ["reason_summary", "policy_url", "label_type", "error", "error_type", "error_message_hash"],
    ["queue_depth", "outbox_depth", "circuit_state", "sdk_version", "environment", "agent_version"],
    ["duration_ms", "tokens_in", "tokens_out", "operation", "provider", "temperature", "seed", "top_p"],
    ["request_model", "conversation_id", "workflow_name", "tool_name", "output_type", "response_id"],
  ])("that is its sender's own has no warning: %s, %s…", (...keys) =>
    expect(codesOf({ metadata: Object.fromEntries(keys.map((key) => [key, "x"])) })).toEqual([]),
  );

  test("is not taken for one that stands beside it", () =>
    expect(codesOf({ metadata: { outcome: "denied", outcomes: ["denied"] } })).toEqual([]));

  test("is compared only as far as time allows, and a long one never", () => {
    const own = Object.fromEntries(
      Array.from({ length: NAMES_COMPARED_MAX }, (_, index) => [`x${index}`, 1]),
    );
    expect(codesOf({ metadata: { ...own, outcom: "x" } })).toEqual([]);
    expect(codesOf({ metadata: { ["decision_id".repeat(100)]: 1 } })).toEqual([]);
  });
});

describe("the time of an event", () => {
  const at = (timestamp: string): readonly string[] => codesOf({ timestamp });

  test.each([
    ["2026-11-20T10:05:00Z", []],
    ["2026-11-20T10:05:00.999999999Z", []],
    ["2026-11-20T10:05:01Z", ["/timestamp timestamp_in_future"]],
    ["9999-12-31T23:59:60Z", ["/timestamp timestamp_in_future"]],
    ["2026-10-21T10:00:00Z", []],
    ["2026-10-21t09:59:59z", ["/timestamp timestamp_long_ago"]],
    ["2026-10-21T09:59:59+00:00", ["/timestamp timestamp_long_ago"]],
    ["0001-01-01T00:00:00Z", ["/timestamp timestamp_long_ago"]],
  ])("%s", (timestamp, expected) => expect(at(timestamp)).toEqual([...expected]));
});

describe("the asset", () => {
  test.each([
    ["credit_model", []],
    ["신용평가", []],
    ["a b", []],
    ["신용평가".normalize("NFD"), ["/asset_id asset_id_not_normalised"]],
    ["Cafe\u0301", ["/asset_id asset_id_not_normalised"]],
    [" credit_model", ["/asset_id asset_id_not_normalised"]],
    ["credit_model\n", ["/asset_id asset_id_not_normalised"]],
    ["credit_model\u0000", ["/asset_id asset_id_not_normalised"]],
    ["credit_model\u00a0", ["/asset_id asset_id_not_normalised"]],
    ["\ufeffcredit_model", ["/asset_id asset_id_not_normalised"]],
    ["credit_model\u200b", ["/asset_id asset_id_not_normalised"]],
  ])("%j", (asset_id, expected) => expect(codesOf({ asset_id })).toEqual([...expected]));
});

test("several warnings come together, and what only its sender knows comes last", () => {
  expect(
    codesOf({
      sdk_version: "1",
      risk_teir: "high",
      timestamp: "2026-01-01T00:00:00Z",
      asset_id: "a ",
      legal_bases: ["gdpr_art22"],
      metadata: { decisionId: "d", legal_bases: "no list" },
    }),
  ).toEqual([
    "/timestamp timestamp_long_ago",
    "/asset_id asset_id_not_normalised",
    "/legal_bases/0 unknown_legal_basis",
    "/metadata/decisionId unknown_metadata_key",
    "/risk_teir unknown_field",
    "/sdk_version unknown_field",
  ]);
});

test("nothing is cut in silence: a misspelt member behind many others is named, and the last warning counts the rest", () => {
  const own = Object.fromEntries(Array.from({ length: WARNINGS_MAX + 9 }, (_, index) => [`x_${index}`, 1]));
  const warned = warningsOf({ ...own, risk_teir: "high" });
  expect(warned).toHaveLength(WARNINGS_MAX);
  expect(warned[0]).toMatchObject({ path: "/risk_teir" });
  expect(warned.at(-1)).toEqual({ path: "", code: "unknown_field", message: "There are 11 more warnings." });
});
