/** One case and one decision with something missing, with too many events, or with another name. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  CASE_FACTS_MAX,
  CASE_NEIGHBOURS_MAX,
  KEPT_TEXT_CHARACTERS_MAX,
  OUTCOME_CHARACTERS_MAX,
} from "../../src/limits.ts";
import { NOTICES_PER_PAGE } from "../../src/projections/limits.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service[Symbol.asyncDispose]());

/** Sends events, and reads a path once the views have seen them. */
const readAfter = async (path: string, events: readonly object[]) => {
  const sent = await service.call("/v1/events/batch", { body: { events } });
  expect(sent.json.data).toMatchObject({ accepted: events.length });
  return service.call(`${path}?min_sequence=${sent.json.data.sequence}`);
};

const hashOf = (digit: string): string => `sha256:${digit.repeat(64)}`;

test("a correlation_id with more decisions than a case may have is refused, not shown as an empty case", async () => {
  const decisions = Array.from({ length: CASE_NEIGHBOURS_MAX + 1 }, (_, index) =>
    event({
      event_id: `evt_shared_${index}`,
      correlation_id: "session",
      metadata: { decision_id: `s${index}` },
    }),
  );
  const { status, json } = await readAfter("/v1/cases/session", decisions);
  expect(status).toBe(409);
  expect(json).toMatchObject({ code: "case_shared" });
  const evidence = await service.call("/v1/evidence?correlation_id=session&wait=10");
  expect(evidence.json).toMatchObject({ code: "case_shared" });
  expect((await service.call("/v1/decisions/s7")).json.data).toMatchObject({ decision_id: "s7" });
});

test.each([
  ["notice_shown", "transparency.notice_shown"],
  ["explanation_given", "decision.explanation_provided"],
  ["decision_reversed", "decision.decision_reversed"],
])("a case without a decision still sets %s", async (member, event_type) => {
  const said = event({ event_id: `evt_${member}`, event_type, correlation_id: member });
  expect((await readAfter(`/v1/cases/${member}`, [said])).json.data).toMatchObject({ [member]: true });
});

test("the human review of a case is completed only when the review of each decision is", async () => {
  const review = (step: string, decision_id: string) =>
    event({
      event_id: `evt_${decision_id}_${step}`,
      event_type: `decision.human_review_${step}`,
      correlation_id: "two reviews",
      metadata: { decision_id },
    });
  const path = "/v1/cases/two%20reviews";
  const first = [review("triggered", "r1"), review("completed", "r1"), review("triggered", "r2")];
  const { json } = await readAfter(path, first);
  expect(json.data).toMatchObject({ human_review_triggered: true, human_review_completed: false });
  const completed = await readAfter(path, [review("completed", "r2")]);
  expect(completed.json.data).toMatchObject({ human_review_completed: true });
});

test("if several events report the same decision or incident, the first is used and the others are counted", async () => {
  const other = { asset_id: "other", timestamp: "2026-11-21T10:00:00Z" };
  const named = { decision_id: "of two systems", incident_id: "of two systems" };
  const detected = { event_type: "incident.detected", metadata: { incident_id: named.incident_id } };
  const { json } = await readAfter("/v1/decisions/of%20two%20systems", [
    event({ ...other, event_id: "evt_made_other", metadata: { ...named, outcome: "denied" } }),
    event({ ...other, ...detected, event_id: "evt_detected_other" }),
    event({ event_id: "evt_made", metadata: { ...named, outcome: "approved" } }),
    event({ ...detected, event_id: "evt_detected", timestamp: "2026-11-20T11:00:00Z" }),
  ]);
  expect(json.data).toMatchObject({ asset_id: "credit_model", outcome: "approved", made_again: 1 });
  const incidents = await service.call("/v1/registers/incidents?asset_id=credit_model");
  expect(incidents.json.data).toMatchObject([{ incident_id: "of two systems", detected_again: 1 }]);
  const never = event({
    event_id: "evt_never",
    event_type: "decision.decision_reversed",
    metadata: { decision_id: "x9" },
  });
  expect((await readAfter("/v1/decisions/x9", [never])).json.data).toMatchObject({ made_again: 0 });
});

test("a notice about another decision does not count for the person of this decision", async () => {
  const about = { asset_id: "shop", subject_hash: hashOf("b") };
  const { json } = await readAfter("/v1/decisions/second", [
    event({
      ...about,
      event_id: "evt_notice",
      event_type: "transparency.notice_shown",
      timestamp: "2026-11-19T09:00:00Z",
      metadata: { decision_id: "first" },
    }),
    event({ ...about, event_id: "evt_second", metadata: { decision_id: "second" } }),
  ]);
  expect(json.data).toMatchObject({ notice_to_person: null, missing: ["notice"] });
});

test("the last notice to a person is the one with the latest time, whatever its type and the order of arrival", async () => {
  const about = { asset_id: "desk", subject_hash: hashOf("d") };
  const notice = (event_id: string, event_type: string, timestamp: string) =>
    event({ ...about, event_id, event_type, timestamp });
  const older = Array.from({ length: NOTICES_PER_PAGE + 1 }, (_, index) =>
    notice(
      `evt_older_${index}`,
      "transparency.notice_shown",
      `2026-11-01T10:00:${String(index % 60).padStart(2, "0")}Z`,
    ),
  );
  const last = notice("evt_last", "transparency.notice_shown", "2026-11-19T08:00:00Z");
  const decision = event({ ...about, event_id: "evt_desk", metadata: { decision_id: "desk" } });
  const first = await readAfter("/v1/decisions/desk", [last, ...older, decision]);
  expect(first.json.data).toMatchObject({ missing: [], notice_to_person: { event_id: "evt_last" } });
  const legacy = notice("evt_legacy", "disclosure_shown", "2026-11-19T09:00:00Z");
  const second = await readAfter("/v1/decisions/desk", [legacy]);
  expect(second.json.data).toMatchObject({ notice_to_person: { event_id: "evt_legacy" } });
});

test("a case with more events than it keeps shows the times of the first and the last of all", async () => {
  const events = Array.from({ length: CASE_FACTS_MAX + 2 }, (_, index) =>
    event({
      event_id: `evt_long_${index}`,
      correlation_id: "long",
      // The least informative goes first, and of the rest the last one.
      event_type: index === 0 ? "ai_inference" : "decision.explanation_provided",
      timestamp: new Date(Date.UTC(2026, 10, 1, 0, 0, index)).toISOString(),
    }),
  );
  const { json } = await readAfter("/v1/cases/long", events);
  expect(json.data.timeline).toHaveLength(CASE_FACTS_MAX);
  const { started_at, last_at, events: count } = json.data;
  expect({ started_at, last_at, count }).toEqual({
    started_at: "2026-11-01T00:00:00Z",
    last_at: "2026-11-01T00:04:17Z",
    count: CASE_FACTS_MAX + 2,
  });
});

test("activity in the first days of the calendar is not an error", async () => {
  expect((await service.call("/v1/activity?to=0000-01-15T00:00:00Z")).status).toBe(200);
});

test.each([
  ["letters", "denied ".padEnd(OUTCOME_CHARACTERS_MAX + 9, "because ")],
  ["a pair of surrogates where it is cut", `${"d".repeat(OUTCOME_CHARACTERS_MAX - 1)}${"😀".repeat(3)}`],
])(
  "a decision with an outcome longer than the register keeps is found by the outcome as sent and as shown: %s",
  async (kind, outcome) => {
    const decision_id = `long ${kind}`;
    const made = event({ event_id: `evt_${decision_id}`, metadata: { decision_id, outcome } });
    const other = event({
      event_id: `evt_other ${kind}`,
      metadata: { decision_id: "short", outcome: "denied" },
    });
    const read = await readAfter(`/v1/decisions/${encodeURIComponent(decision_id)}`, [made, other]);
    const shown = read.json.data.outcome;
    expect(shown.isWellFormed()).toBe(true);
    expect(shown.length).toBeLessThanOrEqual(OUTCOME_CHARACTERS_MAX + 1);
    expect([shown.at(-1), outcome.startsWith(shown.slice(0, -1))]).toEqual(["…", true]);
    for (const asked of [outcome, shown]) {
      const { json } = await service.call(`/v1/decisions?outcome=${encodeURIComponent(asked)}`);
      expect(json.data).toMatchObject([{ decision_id, outcome: shown }]);
    }
  },
);

interface Described {
  readonly description?: string;
  readonly maxItems?: number;
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
}

/** What the document says about `data` in the answer of this path. */
const documented = async (path: string): Promise<Described | undefined> => {
  const { json } = await service.call("/docs/json");
  const { schema } = json.paths[path].get.responses["200"].content["application/json"];
  return schema.properties.data;
};

test("a case with more events than it keeps shows the times of all, and the document says which events the assets come from", async () => {
  const at = (second: number): string => new Date(Date.UTC(2026, 10, 20) + second * 1000).toISOString();
  const events = Array.from({ length: CASE_FACTS_MAX + 9 }, (_, index) =>
    event({
      event_id: `evt_turn_${index}`,
      event_type: "ai_inference",
      correlation_id: "conversation",
      timestamp: at(index),
    }),
  );
  const { data } = (await readAfter("/v1/cases/conversation", events)).json;
  expect([data.events, data.timeline.length]).toEqual([CASE_FACTS_MAX + 9, CASE_FACTS_MAX]);
  expect([data.started_at, data.last_at]).toEqual(["2026-11-20T00:00:00Z", "2026-11-20T00:04:24Z"]);
  const members = (await documented("/v1/cases/{correlation_id}"))?.properties;
  expect(members?.asset_ids?.description).toBe("Of the events in the timeline.");
  for (const name of ["started_at", "last_at"])
    expect(members?.[name]?.description).toStartWith("Of all events of the case;");
});

test("registers show as much of long lists and texts as the document says", async () => {
  const named = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `${name}${index}`);
  const bases = named(100, "basis_");
  const about = { asset_id: "much" };
  const sent = await service.call("/v1/events/batch", {
    body: {
      events: [
        ...named(10, "evt_bases_").map((event_id, index) =>
          event({ ...about, event_id, legal_bases: bases.slice(index * 10, index * 10 + 10) }),
        ),
        event({
          ...about,
          event_id: "evt_changed",
          event_type: "assessment.risk_classification_changed",
          metadata: { to: "high", clauses: named(50, "art. ") },
        }),
        event({
          ...about,
          event_id: "evt_assessed",
          event_type: "assessment.impact_assessment_started",
          metadata: { assessment_id: "as", checklist: named(50, "item ") },
        }),
        event({
          ...about,
          event_id: "evt_resolved",
          event_type: "objection.resolved",
          metadata: { objection_id: "ob", reason: "r".repeat(KEPT_TEXT_CHARACTERS_MAX + 1) },
        }),
      ],
    },
  });
  const read = async (path: string) => {
    const separator = path.includes("?") ? "&" : "?";
    const { json } = await service.call(`${path}${separator}min_sequence=${sent.json.data.sequence}`);
    return json.data;
  };
  const asset = await read("/v1/assets/much");
  const ofAsset = (await documented("/v1/assets/{asset_id}"))?.properties;
  expect(asset.legal_bases).toHaveLength(ofAsset?.legal_bases?.maxItems ?? 0);
  expect(asset.legal_bases).toEqual([...bases].sort().slice(0, asset.legal_bases.length));
  expect(asset.clauses).toHaveLength(ofAsset?.clauses?.maxItems ?? 0);
  for (const [path, member] of [
    ["/v1/registers/risk-changes", "clauses"],
    ["/v1/registers/assessments", "checklist"],
  ] as const) {
    const [entry] = await read(`${path}?asset_id=much`);
    const ofEntry = (await documented(path))?.items?.properties;
    expect([path, entry[member].length]).toEqual([path, ofEntry?.[member]?.maxItems ?? 0]);
  }
  const [objection] = await read("/v1/registers/objections?asset_id=much");
  expect(objection.reason).toBe(`${"r".repeat(KEPT_TEXT_CHARACTERS_MAX)}…`);
  const { tags } = (await service.call("/docs/json")).json;
  expect(JSON.stringify(tags)).toContain(`the first ${KEPT_TEXT_CHARACTERS_MAX} characters`);
});

test("no event makes a page of a register large: each of its texts is shortened as the document says", async () => {
  const long = "t".repeat(20_000);
  const metadata = Object.fromEntries(
    [
      ...["name", "owner", "role", "ai_type", "domain", "decision_autonomy", "user_impact", "retention"],
      ...["version", "oversight_person", "oversight_contact"],
    ].map((name) => [name, long]),
  );
  const about = { asset_id: "wordy" };
  const changed = { from: long, to: long, reason: long, ruleset_version: long, actor: long };
  const assessed = {
    assessment_id: "wordy",
    assessment_type: long,
    assessment_version: long,
    valid_until: long,
  };
  const beating = { source_id: "wordy", circuit_state: long };
  await using other = await startTestService({ EXTRA_EVENT_TYPES: "sdk.heartbeat" });
  const events = [
    event({ ...about, event_id: "evt_made", event_type: "asset.created", metadata }),
    event({ ...about, event_id: "evt_run", event_type: "model.model_deployed", metadata: { model: long } }),
    event({
      ...about,
      event_id: "evt_risk",
      event_type: "assessment.risk_classification_changed",
      metadata: changed,
    }),
    event({
      ...about,
      event_id: "evt_done",
      event_type: "assessment.impact_assessment_completed",
      metadata: assessed,
    }),
    event({ ...about, event_id: "evt_beat", event_type: "sdk.heartbeat", metadata: beating }),
  ];
  const sent = await other.call("/v1/events/batch", { body: { events } });
  expect(sent.json.data).toMatchObject({ accepted: events.length });
  const kept = `${"t".repeat(KEPT_TEXT_CHARACTERS_MAX)}…`;
  for (const [path, texts] of [
    ["/v1/assets", 11],
    ["/v1/registers/models", 1],
    ["/v1/registers/risk-changes", 5],
    ["/v1/registers/assessments", 3],
    ["/v1/sources", 1],
  ] as const) {
    const { text } = await other.call(`${path}?min_sequence=${sent.json.data.sequence}`);
    expect([path, text.split(kept).length - 1, text.length < 10_000]).toEqual([path, texts, true]);
  }
});
