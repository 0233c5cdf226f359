/** One case and one decision with something missing, with too many events, or with another name. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  CASE_FACTS_MAX,
  CASE_NEIGHBOURS_MAX,
  KEPT_TEXT_CHARACTERS_MAX,
  OUTCOME_CHARACTERS_MAX,
} from "../../src/limits.ts";
import { event, fact, MADE, startTestService, type TestService } from "../support/service.ts";

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
    fact(`evt_shared_${index}`, MADE, { decision_id: `s${index}` }, { correlation_id: "session" }),
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
    fact(
      `evt_${decision_id}_${step}`,
      `decision.human_review_${step}`,
      { decision_id },
      { correlation_id: "two reviews" },
    );
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
  const never = fact("evt_never", "decision.decision_reversed", { decision_id: "x9" });
  expect((await readAfter("/v1/decisions/x9", [never])).json.data).toMatchObject({ made_again: 0 });
});

const notice = (event_id: string, members: object) =>
  fact(event_id, "transparency.notice_shown", undefined, { timestamp: "2026-11-19T09:00:00Z", ...members });

interface TimelineEntry {
  readonly linked_by: string | null;
  readonly received_at: string;
  readonly event: { readonly event_id: string };
}

const linkedBy = (timeline: readonly TimelineEntry[]) =>
  Object.fromEntries(timeline.map(({ linked_by, event: { event_id } }) => [event_id, linked_by]));

test("each event of a decision says by which rule it is linked", async () => {
  const about = { asset_id: "lender", subject_hash: hashOf("e") };
  const under = (event_id: string, event_type: string, members: object = {}) =>
    event({ ...about, event_id, event_type, correlation_id: "loan-1", ...members });
  const { json } = await readAfter("/v1/decisions/loan", [
    notice("evt_loan_notice", about),
    under("evt_loan", "decision.automated_decision_made", { metadata: { decision_id: "loan" } }),
    under("evt_loan_explained", "decision.explanation_provided"),
    under("evt_loan_objected", "objection.received", { metadata: { objection_id: "loan_objection" } }),
    fact("evt_loan_acknowledged", "objection.acknowledged", { objection_id: "loan_objection" }, about),
    fact("evt_loan_reversed", "decision.decision_reversed", { original_decision_id: "loan" }, about),
  ]);
  const links = {
    evt_loan_notice: "subject",
    evt_loan: "decision_id",
    evt_loan_explained: "correlation_id",
    evt_loan_objected: "correlation_id",
    evt_loan_acknowledged: "objection_id",
    evt_loan_reversed: "original_decision_id",
  };
  expect(linkedBy(json.data.timeline)).toEqual(links);
  expect(json.data).toMatchObject({
    notice_at: "2026-11-19T09:00:00Z",
    notice_linked_by: "subject",
    unlinked: [],
    objections: [{ objection_id: "loan_objection", linked_by: "correlation_id" }],
  });
  for (const { received_at } of json.data.timeline) expect(received_at).toBeString();
  const found = await service.call("/v1/cases/loan-1");
  const { evt_loan_notice: _, ...inCase } = links;
  expect(linkedBy(found.json.data.timeline)).toMatchObject(inCase);
});

test("under a correlation with several decisions an event that names none is unlinked, with the candidates", async () => {
  const about = { asset_id: "batch", subject_hash: hashOf("f"), correlation_id: "run-1" };
  const events = [
    event({ ...about, event_id: "evt_run_1", metadata: { decision_id: "run_1" } }),
    event({ ...about, event_id: "evt_run_2", metadata: { decision_id: "run_2" } }),
    event({ ...about, event_id: "evt_run_explained", event_type: "decision.explanation_provided" }),
    event({ ...about, event_id: "evt_run_objected", event_type: "objection.received" }),
  ];
  const { json } = await readAfter("/v1/decisions/run_1", events);
  const candidates = ["run_1", "run_2"].map((id) => ({ kind: "decision", id }));
  const unlinked = ["evt_run_explained", "evt_run_objected"].map((event_id) => ({ event_id, candidates }));
  expect(json.data).toMatchObject({ explanation_at: null, objections: [], unlinked });
  const found = (await service.call("/v1/cases/run-1")).json.data;
  expect(found.unlinked).toMatchObject(unlinked);
  expect(linkedBy(found.timeline)).toMatchObject({ evt_run_1: "decision_id", evt_run_explained: null });
  // The objection keeps its own obligations.
  expect(found.objections).toMatchObject([{ decision_id: null, linked_by: null, state: "received" }]);
  expect(found.obligations.length).toBeGreaterThan(0);
  // It is fixed by sending an event that names the decision.
  const { json: fixed } = await readAfter("/v1/decisions/run_1", [
    fact("evt_run_named", "decision.explanation_provided", { decision_id: "run_1" }, about),
  ]);
  expect(fixed.data.explanation_at).not.toBeNull();
});

test("what names nothing stands as unlinked beside the decisions of its asset and person", async () => {
  const about = { asset_id: "clinic", subject_hash: hashOf("1") };
  const { json } = await readAfter("/v1/decisions/clinic", [
    event({ ...about, event_id: "evt_clinic", metadata: { decision_id: "clinic" } }),
    event({ ...about, event_id: "evt_clinic_told", event_type: "decision.explanation_provided" }),
    fact("evt_clinic_ticket", "decision.human_review_triggered", undefined, {
      ...about,
      correlation_id: "ticket-9",
    }),
    event({ ...about, subject_hash: hashOf("2"), event_id: "evt_clinic_else", event_type: "human_review" }),
  ]);
  expect(json.data).toMatchObject({
    explanation_at: null,
    unlinked: [
      { event_id: "evt_clinic_ticket", candidates: [] },
      { event_id: "evt_clinic_told", candidates: [] },
    ],
  });
});

test("a nameless notice counts in the register and in coverage, in any order of arrival, but not after the decision", async () => {
  const about = { asset_id: "desk", subject_hash: hashOf("d") };
  const decision = event({ ...about, event_id: "evt_desk", metadata: { decision_id: "desk" } });
  const late = notice("evt_late", { ...about, timestamp: "2026-11-21T09:00:00Z" });
  const before = await readAfter("/v1/decisions/desk", [decision, late]);
  expect(before.json.data).toMatchObject({ notice_at: null, missing: ["notice"] });
  const after = await readAfter("/v1/decisions/desk", [
    notice("evt_desk_second", {
      ...about,
      event_type: "disclosure_shown",
      timestamp: "2026-11-19T10:00:00Z",
    }),
    notice("evt_desk_first", about),
  ]);
  expect(after.json.data).toMatchObject({ notice_at: "2026-11-19T09:00:00Z", missing: [] });
  expect(linkedBy(after.json.data.timeline)).toEqual({
    evt_desk_first: "subject",
    evt_desk_second: "subject",
    evt_desk: "decision_id",
  });
  const [row] = (await service.call("/v1/decisions?asset_id=desk")).json.data;
  expect(row).toMatchObject({ notice_at: "2026-11-19T09:00:00Z", notice_linked_by: "subject", missing: [] });
  const coverage = (await service.call("/v1/coverage?asset_id=desk")).json.data;
  const notices = coverage.filter(
    ({ duty, law }: Record<string, string>) => duty === "notice" && law === "any",
  );
  expect(notices).toMatchObject([{ in_time: 1, unmet: 0 }]);
});

test("a case shows a notice once that belongs to several of its decisions", async () => {
  const about = { asset_id: "twice", subject_hash: hashOf("9") };
  const { json } = await readAfter("/v1/cases/twice", [
    notice("evt_twice", about),
    ...["twice_1", "twice_2"].map((decision_id) =>
      event({ ...about, event_id: `evt_${decision_id}`, correlation_id: "twice", metadata: { decision_id } }),
    ),
  ]);
  expect(json.data).toMatchObject({ notice_shown: true, events: 2 });
  expect(json.data.timeline).toHaveLength(3);
  expect(linkedBy(json.data.timeline)).toMatchObject({ evt_twice: "subject" });
});

test("a step is pending until it is due, and missing from then on", async () => {
  const received = (decision_id: string, timestamp: string) => [
    notice(`evt_n_${decision_id}`, { metadata: { decision_id }, timestamp: "2026-01-01T00:00:00Z" }),
    event({ event_id: `evt_${decision_id}`, metadata: { decision_id }, timestamp: "2026-01-02T00:00:00Z" }),
    fact(
      `evt_o_${decision_id}`,
      "objection.received",
      { decision_id, objection_type: "explanation_request" },
      { legal_bases: ["pipa_37_2_kr"], timestamp },
    ),
    fact(`evt_t_${decision_id}`, "decision.human_review_triggered", { decision_id }, { timestamp }),
  ];
  const steps = ["explanation", "objection_resolution", "human_review"];
  const old = await readAfter("/v1/decisions/long_due", received("long_due", "2026-01-03T00:00:00Z"));
  expect(old.json.data).toMatchObject({ missing: steps, pending: [] });
  const now = new Date().toISOString();
  const fresh = await readAfter("/v1/decisions/not_due", received("not_due", now));
  expect(fresh.json.data).toMatchObject({ missing: [], pending: steps });
  const [row] = (await service.call("/v1/decisions?limit=1")).json.data;
  expect(row).toMatchObject({ missing: expect.any(Array), pending: expect.any(Array) });
});

/** Times of recording, times that a law sets, and what no event of the test says. */
const OTHERS = /(?:recorded|due|heartbeat)_at$/;

test("registers and dossiers show beside each time of an event when the log received it", async () => {
  const about = { asset_id: "recorded", subject_hash: hashOf("7") };
  const named = { decision_id: "recorded", objection_id: "recorded", incident_id: "recorded" };
  const types = [
    "transparency.notice_shown",
    "transparency.notice_dismissed",
    "disclosure_acknowledged",
    "decision.automated_decision_made",
    "decision.explanation_provided",
    "decision.human_review_triggered",
    "decision.human_review_completed",
    "decision.decision_reversed",
    "objection.received",
    "objection.acknowledged",
    "objection.escalated",
    "objection.resolved",
    "incident.detected",
    "incident.reported_to_authority",
    "incident.mitigated",
    "asset.created",
    "asset.archived",
    "model.model_deployed",
    "model.performance_degraded",
    "model.model_retired",
    "assessment.impact_assessment_started",
    "assessment.impact_assessment_updated",
    "assessment.impact_assessment_completed",
    "assessment.risk_classification_changed",
  ];
  const began = new Date().toISOString();
  const { json } = await readAfter(
    "/v1/decisions/recorded",
    types.map((event_type, index) =>
      fact(
        `evt_recorded_${index}`,
        event_type,
        {
          ...named,
          aware_at: "2026-01-01T00:00:00Z",
          source_id: "recorded",
          source_sequence: index + 1,
        },
        { ...about, timestamp: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString() },
      ),
    ),
  );
  const rows = [json.data, ...json.data.objections, ...json.data.human_reviews];
  const registers = ["transparency", "objections", "human-reviews", "incidents"];
  for (const register of [...registers, "models", "assessments", "risk-changes"])
    rows.push(...(await service.call(`/v1/registers/${register}?asset_id=recorded`)).json.data);
  const { coverage: _, ...asset } = (await service.call("/v1/assets/recorded")).json.data;
  rows.push(asset, ...(await service.call("/v1/sources")).json.data);
  expect(rows).toHaveLength(12);
  for (const row of rows)
    for (const name of Object.keys(row).filter((each) => /(?:^|_)at$/.test(each) && !OTHERS.test(each))) {
      const recorded = `${name.slice(0, -"at".length)}recorded_at`;
      expect([name, row[name], row[recorded]]).toEqual([name, expect.any(String), expect.any(String)]);
      expect([name, row[recorded] >= began]).toEqual([name, true]);
    }
});

test.each([
  [20, 20],
  [0.5, 0.5],
  ["20", "20"],
  ["about 20", "about 20"],
  [9007199254740993n, "9007199254740993"],
])("affected_count and severity %p of an incident come back as %p", async (sent, shown) => {
  const id = `evt_affected_${typeof sent}_${String(sent).replaceAll(/[ .]/g, "_")}`;
  const body = JSON.stringify(
    fact(id, "incident.detected", { affected_count: "HERE", severity: "HERE" }, { asset_id: id }),
  ).replaceAll('"HERE"', typeof sent === "bigint" ? String(sent) : JSON.stringify(sent));
  const { json } = await service.call("/v1/events", { body });
  const path = `/v1/registers/incidents?asset_id=${encodeURIComponent(id)}`;
  const register = await service.call(`${path}&min_sequence=${json.data.sequence}`);
  expect(register.json.data).toMatchObject([{ affected_count: shown, severity: shown }]);
});

test.each(["upheld", "Confirmed", "AFFIRMED", "unchanged"])(
  "a review of outcome %s leaves the decision as it was, whatever text that has",
  async (final_outcome) => {
    const decision_id = `review_${final_outcome}`;
    const { json } = await readAfter(`/v1/decisions/${decision_id}`, [
      event({ event_id: `evt_${decision_id}`, metadata: { decision_id, outcome: "denied" } }),
      fact(`evt_r_${decision_id}`, "decision.human_review_completed", { decision_id, final_outcome }),
    ]);
    expect(json.data.human_reviews).toMatchObject([{ final_outcome, changed: false }]);
  },
);

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
    const other = fact(`evt_other ${kind}`, MADE, { decision_id: "short", outcome: "denied" });
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
    fact(`evt_turn_${index}`, "ai_inference", undefined, {
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
        fact(
          "evt_changed",
          "assessment.risk_classification_changed",
          { to: "high", clauses: named(50, "art. ") },
          about,
        ),
        fact(
          "evt_assessed",
          "assessment.impact_assessment_started",
          { assessment_id: "as", checklist: named(50, "item ") },
          about,
        ),
        fact(
          "evt_resolved",
          "objection.resolved",
          { objection_id: "ob", reason: "r".repeat(KEPT_TEXT_CHARACTERS_MAX + 1) },
          about,
        ),
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
    fact("evt_risk", "assessment.risk_classification_changed", changed, about),
    fact("evt_done", "assessment.impact_assessment_completed", assessed, about),
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
