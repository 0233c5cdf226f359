import { describe, expect, test } from "bun:test";
import { EVENT_TYPES } from "./event-types.ts";
import { createEventValidator } from "./validate.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const LEGAL_BASES = ["ai_basic_law_kr", "pipa_37_2_kr", "eu_ai_act_art_6", "gdpr_art_22"];
/** A validator at a fixed time. */
const validatorOf = (eventTypes: readonly string[], eventIdPrefixes: readonly string[], now = NOW) => {
  const judge = createEventValidator({ eventTypes, eventIdPrefixes, legalBases: LEGAL_BASES });
  return (value: unknown) => judge(value, now);
};
const validate = validatorOf(EVENT_TYPES, ["evt_"]);

const minimal = {
  event_id: "evt_1",
  timestamp: "2026-11-20T10:00:00Z",
  asset_id: "credit_model",
  event_type: "decision.automated_decision_made",
};
const hash = `sha256:${"0a".repeat(32)}`;
const full = {
  ...minimal,
  legal_bases: ["ai_basic_law_kr", "pipa_37_2_kr"],
  risk_tier: "high",
  subject_hash: hash,
  context_hash: hash,
  outcome_hash: hash,
  correlation_id: "c",
  trace_id: "t",
  span_id: "s",
  asset_version: "1",
  tags: { text: "", number: 1.5, flag: false },
  metadata: { anything: [null, { deep: "\u0000\ud800" }] },
};

/** A name of 200,000 characters that a pointer escapes, and the part of it that is shown. */
const LONG = "/~".repeat(100_000);
const LONG_SHOWN = "~1~0".repeat(32);

const problemsOf = (value: unknown): string[] => {
  const result = validate(value);
  return result.kind === "valid" ? [] : result.problems.map(({ path, code }) => `${path} ${code}`);
};

test("all 32 types of the specification are accepted", () => {
  expect(EVENT_TYPES).toHaveLength(32);
  for (const event_type of EVENT_TYPES) expect(problemsOf({ ...minimal, event_type })).toEqual([]);
});

test("every documented member is accepted without a warning", () => {
  expect(validate(full)).toEqual({ kind: "valid", event: full, warnings: [] } as never);
});

describe("each rule names its member", () => {
  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  const cases: [string, unknown, string[]][] = [
    [
      "nothing sent",
      {},
      ["/event_id required", "/timestamp required", "/asset_id required", "/event_type required"],
    ],
    ["not an object", [], [" invalid_type"]],
    ["null", null, [" invalid_type"]],
    ["number for text", { ...minimal, asset_id: 7 }, ["/asset_id invalid_type"]],
    ["null for an optional member", { ...minimal, risk_tier: null }, ["/risk_tier invalid_type"]],
    ["empty asset", { ...minimal, asset_id: "" }, ["/asset_id invalid_value"]],
    ["257 characters", { ...minimal, correlation_id: "x".repeat(257) }, ["/correlation_id invalid_value"]],
    ["half a surrogate pair in an asset", { ...minimal, asset_id: "a\ud800" }, ["/asset_id invalid_value"]],
    ["unknown type", { ...minimal, event_type: "decision.made" }, ["/event_type unknown_event_type"]],
    ["unknown tier", { ...minimal, risk_tier: "High" }, ["/risk_tier invalid_value"]],
    [
      "11 bases",
      { ...minimal, legal_bases: Array.from({ length: 11 }, (_, i) => `b${i}`) },
      ["/legal_bases too_many"],
    ],
    ["a basis twice", { ...minimal, legal_bases: ["a", "a"] }, ["/legal_bases not_unique"]],
    ["a basis in upper case", { ...minimal, legal_bases: ["a", "B"] }, ["/legal_bases/1 invalid_value"]],
    ["17 tags", { ...minimal, tags: tags(17) }, ["/tags too_many"]],
    ["tag value null", { ...minimal, tags: { a: null } }, ["/tags/a invalid_value"]],
    ["tag value infinite", { ...minimal, tags: { a: Number.POSITIVE_INFINITY } }, ["/tags/a invalid_value"]],
    ["tag value too long", { ...minimal, tags: { a: "x".repeat(257) } }, ["/tags/a invalid_value"]],
    ["tag key empty", { ...minimal, tags: { "": 1 } }, ["/tags/ invalid_value"]],
    ["tag key with a slash", { ...minimal, tags: { "a/~": null } }, ["/tags/a~1~0 invalid_value"]],
    ["tag key with a line break", { ...minimal, tags: { "a\n": null } }, ["/tags/a\n invalid_value"]],
    ["tag key too long", { ...minimal, tags: { [LONG]: 1 } }, [`/tags/${LONG_SHOWN} invalid_value`]],
    [
      "a value under a tag key too long",
      { ...minimal, tags: { [LONG]: null } },
      [`/tags/${LONG_SHOWN} invalid_value`, `/tags/${LONG_SHOWN} invalid_value`],
    ],
    ["tags an array", { ...minimal, tags: [] }, ["/tags invalid_type"]],
    ["metadata an array", { ...minimal, metadata: [1] }, ["/metadata invalid_type"]],
    ["bad hash", { ...minimal, subject_hash: "0a" }, ["/subject_hash invalid_value"]],
    [
      "several at once",
      { ...minimal, event_id: "x", timestamp: "yesterday", tags: { a: null } },
      ["/event_id invalid_value", "/timestamp invalid_value", "/tags/a invalid_value"],
    ],
  ];
  test.each(cases)("%s", (_, value, expected) => expect(problemsOf(value)).toEqual(expected));

  test("16 tags, 10 legal bases and 256 characters of any plane are within the limits", () => {
    const bases = Array.from({ length: 10 }, (_, index) => `b${index}`);
    expect(
      problemsOf({ ...minimal, tags: tags(16), legal_bases: bases, asset_id: "😀".repeat(256) }),
    ).toEqual([]);
  });
});

test("unknown members are kept, and the warning names the member that was probably meant", () => {
  const result = validate({
    ...minimal,
    risk_teir: "high",
    sdk_version: "1.2.1",
    output_hash: hash,
    decision_id: 7,
    original_decision_id: "d",
  });
  expect(result.kind === "valid" && result.warnings).toEqual([
    {
      path: "/risk_teir",
      code: "unknown_field",
      message: 'Kept as sent, but it has no meaning here: did you mean "risk_tier"?',
    },
    {
      path: "/output_hash",
      code: "unknown_field",
      message: "Kept as sent, and read as outcome_hash where that is absent.",
    },
    {
      path: "/decision_id",
      code: "unknown_field",
      message: "Kept as sent, and read as metadata.decision_id: send it there.",
    },
    {
      path: "/original_decision_id",
      code: "unknown_field",
      message: "Kept as sent, and read as metadata.original_decision_id: send it there.",
    },
    { path: "/sdk_version", code: "unknown_field", message: "Kept as sent, but it has no meaning here." },
  ]);
});

test("the warning about a member that is read as another is different if its value cannot be read", () => {
  const textOf = (member: string, value: unknown) => {
    const result = validate({ ...minimal, [member]: value });
    return result.kind === "valid" ? result.warnings.map(({ message }) => message) : result;
  };
  for (const value of ["0a".repeat(32), "", 7, null])
    expect([value, textOf("output_hash", value)]).toEqual([
      value,
      [
        'Kept as sent, but it has no meaning here: send outcome_hash, as "sha256:" and 64 hexadecimal digits.',
      ],
    ]);
  for (const value of ["x".repeat(257), "", true, { id: 7 }, null])
    expect([value, textOf("decision_id", value)]).toEqual([
      value,
      ["Kept as sent, but it names nothing: send metadata.decision_id, a text of 1 to 256 characters."],
    ]);
  for (const value of ["d", 7, 2 ** 64])
    expect([value, textOf("decision_id", value)]).toEqual([
      value,
      ["Kept as sent, and read as metadata.decision_id: send it there."],
    ]);
});

describe("a member of metadata that the views read", () => {
  const heartbeat = { event_type: "sdk.heartbeat" };
  const incident = { event_type: "incident.detected" };
  const audit = { event_type: "assessment.impact_assessment_completed" };
  const decision = { event_type: "decision.automated_decision_made" };
  const change = { event_type: "assessment.risk_classification_changed" };
  const admitting = validatorOf([...EVENT_TYPES, "sdk.heartbeat"], ["evt_"]);
  const warnedOf = (members: object, metadata: object) => {
    const result = admitting({ ...minimal, ...members, metadata });
    return result.kind === "valid" ? result.warnings : result;
  };

  test.each([
    [{}, { legal_bases: "pipa_37_2_kr" }, "array of names"],
    [{ legal_bases: [] }, { legal_bases: ["pipa_37_2_kr", "PIPA"] }, "array of names"],
    [{}, { legal_bases: ["pipa_37_2_kr", 7] }, "array of names"],
    [{}, { source_sequence: "12" }, "not as a text"],
    [{}, { source_sequence: 0 }, "a whole number from 1"],
    [{}, { source_sequence: 2 ** 53 }, "a whole number from 1"],
    [heartbeat, { last_source_sequence: "12" }, "not as a text"],
    [{}, { user_id_hash: "01012345678" }, '"sha256:"'],
    [{}, { extension_days: "30 days" }, "a number of days"],
    [incident, { aware_at: "2026-02-30T10:00:00Z" }, "a time that exists"],
    [audit, { valid_until: "2026-02-30" }, "a date that exists"],
    [audit, { valid_until: 20270131 }, "a date that exists"],
    [{}, { decision_id: "x".repeat(257) }, "a text of 1 to 256 characters"],
    [{}, { original_decision_id: ["dec_42"] }, "a text of 1 to 256 characters"],
    [{}, { objection_id: { id: "obj_7" } }, "a text of 1 to 256 characters"],
    [incident, { incident_id: true }, "a text of 1 to 256 characters"],
    [audit, { assessment_id: [] }, "a text of 1 to 256 characters"],
    [{}, { source_id: {} }, "a text of 1 to 256 characters"],
    [{}, { "gen_ai.conversation.id": "x".repeat(257) }, "a text of 1 to 256 characters"],
    [decision, { outcome: { label: "denied" } }, "send a text"],
    [{ event_type: "objection" }, { objection_type: ["appeal"] }, "send a text"],
    [{ event_type: "objection.resolved" }, { resolution: false }, "send a text"],
    [incident, { incident_class: ["death"] }, "send a text"],
    [incident, { report_type: [] }, "send a text"],
    [incident, { role: {} }, "send a text"],
    [incident, { notified: true }, "send a text"],
    [change, { to: "high_risk" }, "a risk tier: low, limited, high, prohibited"],
    [change, { to: ["high"] }, "a risk tier"],
  ] as const)("%p: %p has a warning, as its form means nothing here", (members, metadata, says) => {
    const [name] = Object.keys(metadata);
    const message = expect.stringContaining(says);
    expect(warnedOf(members, metadata)).toEqual([
      { path: `/metadata/${name}`, code: "unknown_field", message },
    ]);
  });

  test.each([
    [{}, { legal_bases: [], source_sequence: 1, subject_hash: hash, recipient_hash: null, aware_at: 7 }],
    [{}, { extension_days: "30" }],
    [{}, { extension_days: 0 }],
    // The event's own members take precedence.
    [{ legal_bases: ["pipa_37_2_kr"] }, { legal_bases: "pipa_37_2_kr" }],
    [{ subject_hash: hash }, { user_id_hash: "01012345678" }],
    [{}, { subject_hash: hash, user_id_hash: "01012345678" }],
    [heartbeat, { last_source_sequence: 0 }],
    [incident, { aware_at: "2026-11-20T10:00:00+09:00", valid_until: "soon" }],
    [audit, { valid_until: "2027-01-31, at the latest" }],
    [audit, { valid_until: "", legal_bases: "", source_sequence: null }],
    [{}, { decision_id: "x".repeat(256), original_decision_id: 7, objection_id: "", incident_id: null }],
    [{}, { source_id: 2 ** 64, assessment_id: 0 }],
    [{ correlation_id: "case" }, { "gen_ai.conversation.id": [] }],
    [{ event_type: "ai_inference" }, { outcome: { tokens: 7 }, resolution: [1920, 1080], role: ["user"] }],
    [decision, { outcome: 7 }],
    [change, { to: "High" }],
    [{ event_type: "asset.updated" }, { to: "the new team" }],
  ])("%p: %p has no warning", (members, metadata) => expect(warnedOf(members, metadata)).toEqual([]));
});

test("a refused event is named by its event_id, but never by an invalid one", () => {
  const refused = (event_id: unknown) => validate({ ...minimal, event_id, asset_id: 7 });
  expect(refused("evt_1")).toMatchObject({ kind: "invalid", eventId: "evt_1" });
  for (const wrong of ["hunter2", 7, undefined]) expect(refused(wrong)).not.toHaveProperty("eventId");
});

test("the refusal of a misspelt type suggests the nearest one", () => {
  const result = validate({ ...minimal, event_type: "decision.decision_reverted" });
  const message = result.kind === "invalid" ? result.problems[0]?.message : "";
  expect(message).toBe('event_type is not a known type: did you mean "decision.decision_reversed"?');
});

test("problems never repeat what was sent, and their list is cut at a limit while all are counted", () => {
  const tags = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`k${index}`, { secret: "hunter2" }]),
  );
  const result = validate({ ...minimal, asset_id: ["hunter2"], tags });
  expect(JSON.stringify(result)).not.toContain("hunter2");
  expect(result.kind === "invalid" && [result.problems.length, result.problemCount]).toEqual([50, 62]);
  const legal_bases = new Array<number>(30_000).fill(1);
  expect(validate({ ...minimal, legal_bases })).toMatchObject({ problemCount: 30_001 });
});
