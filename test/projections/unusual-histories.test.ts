/** Histories that are rare but not wrong: things without a name, one name for everything, equal times, far times, old versions. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CASE_NEIGHBOURS_MAX, KEPT_LEGAL_BASES_MAX } from "../../src/limits.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { assessmentList } from "../../src/views/assessments/tables.ts";
import { assetEntry, assetList } from "../../src/views/assets/tables.ts";
import { findBiasAudits } from "../../src/views/audits/queries.ts";
import { decisionList } from "../../src/views/cases/registers/decisions.ts";
import { humanReviewList } from "../../src/views/cases/registers/human-reviews.ts";
import { incidentList } from "../../src/views/cases/registers/incidents.ts";
import { noticeList } from "../../src/views/cases/registers/notices.ts";
import { objectionList } from "../../src/views/cases/registers/objections.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { COVERAGE, REGISTERS } from "../../src/views/cases/registers/registers.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { applyBatch } from "../../src/views/kit/apply-batch.ts";
import type { List } from "../../src/views/kit/list.ts";
import { MODEL_VERSIONS, MODELS, modelList } from "../../src/views/models/tables.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { SOURCES } from "../../src/views/sources/tables.ts";
import { CASES } from "../suites/expiry.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";
import { entriesAfter, messagesOf, type Order, type Sent, viewAfter } from "./told.ts";

describe("an event that names nothing is in its register", () => {
  test.each<[List, string, string]>([
    [humanReviewList, "decision.human_review_triggered", "open"],
    [humanReviewList, "decision.human_review_completed", "orphan"],
    [humanReviewList, "human_review", "orphan"],
    [objectionList, "objection.acknowledged", "orphan"],
    [objectionList, "objection.resolved", "orphan"],
    [noticeList, "transparency.notice_shown", "shown"],
    [noticeList, "transparency.notice_dismissed", "orphan"],
    [incidentList, "incident.mitigated", "orphan"],
    [incidentList, "incident.reported_to_authority", "orphan"],
  ])("%#: %s", async (list, type, state) => {
    expect(await entriesAfter(list, [[type, "2027-01-02T00:00:00Z"]])).toMatchObject([{ state }]);
  });
});

test.each<[List, string, string, string]>([
  [objectionList, "objection.received", "objection.resolved", "objection_id"],
  [incidentList, "incident.detected", "incident.mitigated", "incident_id"],
])(
  "%#: a name that a register takes from the opening event refers to the entry, also beside its decision",
  async (list, opens, closes, name) => {
    const named = (id: string, decision: number) => ({ [name]: id, decision_id: `d${decision}` });
    const many = Array.from(
      { length: CASE_NEIGHBOURS_MAX + 2 },
      (_, index): Sent => [opens, "2027-01-01T00:00:00Z", named("none", index)],
    );
    const closed: readonly Sent[] = [
      [closes, "2027-01-02T00:00:00Z", named("event:evt_5", 5)],
      [closes, "2027-01-02T00:00:00Z", named("evt_6", 6)],
      // One more with its own name, and one without a name.
      [opens, "2027-01-01T00:00:00Z", named("o1", 7)],
      [closes, "2027-01-02T00:00:00Z", named("o1", 7)],
      [opens, "2027-01-01T00:00:00Z", { decision_id: "d8" }],
      [closes, "2027-01-02T00:00:00Z", named("event:evt_70", 8)],
    ];
    const done = async (order: Order) => {
      const entries = await entriesAfter(list, [...many, ...closed], order);
      expect(entries).toHaveLength(many.length + 2);
      return entries.flatMap(({ state, [name]: id }) =>
        ["resolved", "mitigated"].includes(`${state}`) ? [id] : [],
      );
    };
    const expected = ["event:evt_5", "event:evt_6", "evt_70", "o1"];
    expect((await done((messages) => messages)).toSorted()).toEqual(expected);
    expect((await done((messages) => messages.toReversed())).toSorted()).toEqual(expected);
  },
);

test("whatever kind of name everything shares, registers depend only on the set of events, and no event is left out", async () => {
  const kinds = ["decision_id", "objection_id", "incident_id", "correlation_id"] as const;
  const types = [
    ...["objection.received", "objection.acknowledged", "objection.resolved"],
    ...["incident.detected", "incident.mitigated"],
    ...["decision.automated_decision_made", "decision.human_review_triggered", "transparency.notice_shown"],
  ];
  const said = fc.record({
    type: fc.constantFrom(...types),
    second: fc.nat(5_000_000),
    isOfAll: fc.boolean(),
    names: fc.tuple(fc.nat(120), fc.nat(120), fc.nat(120), fc.nat(120)),
  });
  const histories = fc.tuple(
    fc.constantFrom(...kinds),
    fc.array(said, { minLength: 150, maxLength: 150 }),
    fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
  );
  const property = fc.asyncProperty(histories, async ([hub, history, sizes]) => {
    const messages = history.map(({ type, second, isOfAll, names }, index) => {
      const named = kinds.flatMap((kind, at): (readonly [string, string])[] => {
        if (kind === hub && isOfAll) return [[kind, "none"]];
        const name = names[at] ?? 0;
        if (name >= 50) return [];
        // An opening event is also referred to by its id, and by the name that a register then gives it.
        const events = [`evt_${name * 3}`, `event:evt_${name * 3}`];
        return [[kind, events[name % 5] ?? `${kind}-${name}`]];
      });
      const { correlation_id, ...metadata } = Object.fromEntries(named);
      const timestamp = new Date(Date.UTC(2027, 0, 1) + second * 1000).toISOString();
      const members = { event_type: type, timestamp, metadata, ...(correlation_id && { correlation_id }) };
      return messageOf(index + 1, { event: simpleEvent(`evt_${index}`, members) });
    });
    const rowsAfter = async (order: readonly StoredMessage[]) => {
      const view = createInMemoryView(eventsProjection, CASES);
      for (let at = 0; at < order.length; ) {
        const size = sizes.next().value ?? 1;
        expect(await view.take(order.slice(at, at + size))).toEqual([]);
        at += size;
      }
      return REGISTERS.map(({ table }) => {
        // A row whose counts are all zero again is equivalent to no row.
        const rows = view
          .rows(table)
          .filter((row) =>
            Object.entries(row).some(([name, value]) => value !== 0 && !table.primaryKey.includes(name)),
          );
        return [table.name, rows];
      });
    };
    expect(await rowsAfter(messages.toReversed())).toEqual(await rowsAfter(messages));
  });
  await fc.assert(property, { numRuns: 4 });
});

describe("references to an event's id lead to one entry, in any order of arrival", () => {
  const orders: readonly Order[] = [
    (messages) => messages,
    (messages) => messages.toReversed(),
    ([first, ...others]) => [...others, ...(first ? [first] : [])],
  ];

  test.each<[List, string, string, string]>([
    [objectionList, "objection.acknowledged", "objection.resolved", "objection_id"],
    [incidentList, "incident.reported_to_authority", "incident.mitigated", "incident_id"],
  ])("%#: the id of %s, which opens nothing", async (list, type, next, name) => {
    for (const about of [{}, { correlation_id: "c" }, { decision_id: "d" }])
      for (const order of orders) {
        const found = await entriesAfter(
          list,
          [
            [type, "2027-01-01T00:00:00Z", {}, about],
            [next, "2027-01-02T00:00:00Z", { [name]: "evt_0" }],
          ],
          order,
        );
        expect(found).toMatchObject([{ [name]: "evt_0" }]);
        expect(JSON.stringify(found[0])).toContain("2027-01-01T00:00:00Z");
        expect(JSON.stringify(found[0])).toContain("2027-01-02T00:00:00Z");
      }
  });

  test("the id in any letter case, if it is a UUID", async () => {
    const id = "0198C0DE-AAAA-7000-8000-00000000000A";
    const events: readonly Sent[] = [
      ["decision.automated_decision_made", "2027-01-01T00:00:00Z", {}, { event_id: id }],
      ["decision.explanation_provided", "2027-01-02T00:00:00Z", { decision_id: id }],
    ];
    expect(await entriesAfter(decisionList, events)).toMatchObject([
      {
        decision_id: id.toLowerCase(),
        made_at: "2027-01-01T00:00:00Z",
        explanation_at: "2027-01-02T00:00:00Z",
      },
    ]);
  });
});

test.each(["pipa_37_2_kr", "gdpr_art_22", "eu_ai_act_art_86"])(
  "an explanation that a person asked for and did not get is missing once it is due, under %s as under any law",
  async (law) => {
    const about = { decision_id: "d", objection_id: "o" };
    const missingAfter = async (type: string, said: object) => {
      const [entry] = await entriesAfter(decisionList, [
        ["decision.automated_decision_made", "2027-01-01T00:00:00Z", about, { legal_bases: [law] }],
        ["objection.received", "2027-01-02T00:00:00Z", { ...about, objection_type: "explanation_request" }],
        [type, "2027-01-03T00:00:00Z", { ...about, ...said }],
      ]);
      // A law without a limit leaves it pending until the objection is resolved.
      const isPending = JSON.stringify(entry?.pending).includes('"explanation"');
      return isPending ? "pending" : JSON.stringify(entry?.missing).includes('"explanation"');
    };
    const hasLimit = law !== "eu_ai_act_art_86";
    expect(await missingAfter("objection.acknowledged", {})).toBe(hasLimit ? true : "pending");
    expect(await missingAfter("objection.resolved", { resolution: "upheld" })).toBe(true);
    expect(await missingAfter("objection.resolved", { resolution: "denied" })).toBe(true);
    expect(await missingAfter("objection.resolved", { resolution: "denied", reason: "no" })).toBe(false);
    expect(await missingAfter("decision.explanation_provided", {})).toBe(false);
  },
);

test("a customer's word that is also a member of every object is treated like any other word", async () => {
  for (const word of ["constructor", "__proto__", "toString"]) {
    const said = (name: string) => JSON.parse(`{"${name}":"${word}"}`);
    const view = await viewAfter([
      ["objection.received", "2027-01-01T00:00:00Z", said("objection_type")],
      ["incident.detected", "2027-01-01T00:00:00Z", said("incident_class")],
    ]);
    const rules = view.rows(OBLIGATIONS).map(({ rule }) => String(rule));
    expect(rules.sort()).toEqual(["EU73-GEN", "OBJ-ACK", "PIPA-REVIEW"]);
  }
});

test("if no decision is named, a review is that of the objection, which may stand under several correlations", async () => {
  const c1 = { correlation_id: "c1" };
  const c2 = { correlation_id: "c2" };
  const objection = { objection_id: "o" };
  const review = "decision.human_review_";
  const found = await entriesAfter(humanReviewList, [
    ["objection.received", "2027-01-01T00:00:00Z", objection, c1],
    ["objection.escalated", "2027-01-02T00:00:00Z", objection, c2],
    [`${review}triggered`, "2027-01-03T00:00:00Z", {}, c1],
    [`${review}triggered`, "2027-01-04T00:00:00Z", {}, c2],
    [`${review}completed`, "2027-01-05T00:00:00Z", {}, c2],
  ]);
  expect(found.map(({ review_id, state }) => [review_id, state])).toEqual([["evt_2", "completed"]]);
  const alone = await entriesAfter(humanReviewList, [
    ["objection.received", "2027-01-01T00:00:00Z", objection, c1],
    [`${review}triggered`, "2027-01-03T00:00:00Z", {}, c1],
    [`${review}completed`, "2027-01-05T00:00:00Z", objection],
  ]);
  expect(alone).toMatchObject([{ review_id: "evt_1", state: "completed" }]);
});

test("a review that is triggered twice is one review, and one that is triggered after its completion is another", async () => {
  const about = { decision_id: "d" };
  const states = async (...days: readonly (readonly [string, number])[]) => {
    const events = days.map(
      ([step, day]): Sent => [`decision.human_review_${step}`, `2027-01-0${day}T00:00:00Z`, about],
    );
    return (await entriesAfter(humanReviewList, events)).map(({ state }) => state).sort();
  };
  expect(await states(["triggered", 1], ["triggered", 2], ["completed", 3])).toEqual(["completed"]);
  expect(await states(["triggered", 1], ["completed", 2], ["triggered", 3])).toEqual(["completed", "open"]);
});

describe("assets", () => {
  const assetAfter = async (...events: readonly Sent[]) => {
    const [row] = (await viewAfter(events)).rows(assetList.table);
    return row && assetEntry(row, "2027-06-01T00:00:00");
  };
  const of = (asset_version: string) => ({ asset_version });

  test("an asset stays active when an old version of its model is retired after the next one was deployed", async () => {
    const deployed: readonly Sent[] = [
      ["model.model_deployed", "2027-01-01T00:00:00Z", {}, of("1")],
      ["model.model_deployed", "2027-02-01T00:00:00Z", {}, of("2")],
    ];
    const retired = (version: string, day: number): Sent => [
      "model.model_retired",
      `2027-02-0${day}T00:00:00Z`,
      { model_version: version },
    ];
    expect(await assetAfter(...deployed, retired("1", 2))).toMatchObject({ status: "active", version: "2" });
    expect(await assetAfter(...deployed, retired("1", 2), retired("2", 3))).toMatchObject({
      status: "retired",
      version: "2",
    });
    expect(await assetAfter(...deployed, retired("2", 2), retired("1", 3))).toMatchObject({
      status: "retired",
    });
    const stamped: Sent = ["model.model_retired", "2027-02-03T00:00:00Z", { model_version: "1" }, of("2")];
    expect(await assetAfter(...deployed, stamped)).toMatchObject({ status: "active", version: "2" });
    const again: Sent = ["model.model_deployed", "2027-02-04T00:00:00Z", {}, of("2")];
    expect(await assetAfter(...deployed, retired("2", 2), again, retired("1", 5))).toMatchObject({
      status: "active",
    });
    const unnamed: Sent = ["model.model_retired", "2027-02-04T00:00:00Z"];
    expect(await assetAfter(...deployed, retired("1", 2), unnamed)).toMatchObject({ status: "retired" });
    const archived: Sent = ["asset.archived", "2027-02-05T00:00:00Z"];
    expect(await assetAfter(...deployed, retired("1", 2), archived)).toMatchObject({ status: "archived" });
  });

  test("an archived asset stays archived when an old version of its model is retired", async () => {
    const events: readonly Sent[] = [
      ["asset.created", "2027-01-01T00:00:00Z"],
      ["model.model_deployed", "2027-01-02T00:00:00Z", {}, of("1")],
      ["model.model_deployed", "2027-02-01T00:00:00Z", {}, of("2")],
      ["asset.archived", "2027-03-01T00:00:00Z"],
      ["model.model_retired", "2027-03-02T00:00:00Z", {}, of("1")],
    ];
    expect(await assetAfter(...events)).toMatchObject({ status: "archived" });
    const again: Sent = ["model.model_deployed", "2027-03-01T12:00:00Z", {}, of("3")];
    expect(await assetAfter(...events, again)).toMatchObject({ status: "active" });
    const anew: Sent = ["asset.created", "2027-03-01T12:00:00Z"];
    expect(await assetAfter(...events, anew)).toMatchObject({ status: "active" });
  });

  test("an asset has one creation time, even if it was created several times and archived in between", async () => {
    const events: readonly Sent[] = [
      ["asset.created", "2027-01-01T00:00:00Z", { name: "Credit scoring" }],
      ["asset.archived", "2027-02-01T00:00:00Z"],
      ["asset.created", "2027-03-01T00:00:00Z", { name: "Credit scoring 2" }],
    ];
    for (const arriving of [events, events.toReversed()])
      expect(await assetAfter(...arriving)).toMatchObject({
        created_at: "2027-01-01T00:00:00Z",
        name: "Credit scoring 2",
        status: "active",
      });
  });

  test("a retired asset stays retired, however many versions were retired earlier", async () => {
    const found = await assetAfter(
      ...Array.from({ length: 140 }, (_, index): Sent => {
        return ["model.model_retired", `2027-01-01T00:00:00.${100 + index}Z`, {}, of(`v${index}`)];
      }),
      ["model.model_deployed", "2027-02-01T00:00:00Z", {}, of("20")],
      ["model.model_retired", "2027-03-01T00:00:00Z", {}, of("20")],
      ["model.model_retired", "2027-03-02T00:00:00Z", {}, of("19")],
    );
    expect(found).toMatchObject({ status: "retired", version: "20" });
  });

  test("an asset is described by events about it and its models, and not by those about an assessment", async () => {
    const found = await assetAfter(
      ["asset.created", "2027-01-01T00:00:00Z", { owner: "credit", version: "2" }],
      [
        "assessment.impact_assessment_completed",
        "2027-01-02T00:00:00Z",
        { owner: "an auditor", version: "1.0" },
      ],
    );
    expect(found).toMatchObject({ owner: "credit", version: "2", assessed_at: "2027-01-02T00:00:00Z" });
  });

  test("an asset with very many legal bases keeps the first by name, in any order of arrival", async () => {
    const bases = Array.from({ length: KEPT_LEGAL_BASES_MAX + 6 }, (_, index) => `law_${100 + index}`);
    const events = Array.from({ length: 7 }, (_, part): Sent => {
      const legal_bases = bases.filter((_, index) => index % 7 === part);
      return ["ai_inference", `2027-01-01T00:00:0${part}Z`, {}, { legal_bases }];
    });
    for (const arriving of [events, events.toReversed()])
      expect(await assetAfter(...arriving)).toMatchObject({
        legal_bases: bases.slice(0, KEPT_LEGAL_BASES_MAX),
      });
  });

  test("an asset and its models have the same versions, wherever events name them", async () => {
    const named = { asset_version: "2" };
    const view = await viewAfter([["model.model_deployed", "2027-01-01T00:00:00Z", named]]);
    expect(view.rows(modelList.table)).toMatchObject([{ version: "2" }]);
    expect(view.rows(assetList.table)).toMatchObject([{ version: "2" }]);
  });

  test("an asset has no risk tier that no question could name", async () => {
    const changed = (to: string): Sent => [
      "assessment.risk_classification_changed",
      "2027-01-02T00:00:00Z",
      { to },
      { risk_tier: "high" },
    ];
    expect(await assetAfter(changed("HIGH (Annex III)"))).toMatchObject({ risk_tier: "high" });
    expect(await assetAfter(changed("Prohibited"))).toMatchObject({ risk_tier: "prohibited" });
  });

  test("an asset has the tier of its last classification, whatever tier events have, and else the tier sent last", async () => {
    const sent = (timestamp: string, risk_tier: string): Sent => [
      "ai_inference",
      timestamp,
      {},
      { risk_tier },
    ];
    const changed = (timestamp: string, to: string): Sent => [
      "assessment.risk_classification_changed",
      timestamp,
      { to, clauses: [`Annex III of ${to}`] },
    ];
    const [low, limited] = [sent("2027-01-01T00:00:00Z", "low"), sent("2027-01-04T00:00:00Z", "limited")];
    const [high, prohibited] = [
      changed("2027-01-02T00:00:00Z", "high"),
      changed("2027-01-03T00:00:00Z", "prohibited"),
    ];
    expect(await assetAfter(low, limited)).toMatchObject({ risk_tier: "limited" });
    const classified = { risk_tier: "high", clauses: ["Annex III of high"] };
    expect(await assetAfter(low, high, limited)).toMatchObject(classified);
    expect(await assetAfter(low, prohibited, high, limited)).toMatchObject({ risk_tier: "prohibited" });
  });

  test("an asset keeps its name when a model gives its own name", async () => {
    const found = await assetAfter(
      ["asset.created", "2027-01-01T00:00:00Z", { name: "Credit scoring" }],
      ["model.model_deployed", "2027-01-02T00:00:00Z", { name: "xgboost-7" }],
    );
    expect(found).toMatchObject({ name: "Credit scoring" });
  });
});

test("an assessment whose name is a UUID is one assessment in any letter case", async () => {
  const id = "0198c0de-0000-7000-8000-00000000abcd";
  const found = await entriesAfter(assessmentList, [
    ["assessment.impact_assessment_started", "2026-01-01T00:00:00Z", { assessment_id: id.toUpperCase() }],
    ["assessment.impact_assessment_completed", "2026-02-01T00:00:00Z", { assessment_id: id }],
  ]);
  expect(found).toMatchObject([{ assessment_id: id, state: "completed" }]);
});

describe("assessments that are named by their asset", () => {
  test("an assessment that is started again after its completion is in progress", async () => {
    const found = await entriesAfter(assessmentList, [
      ["assessment.impact_assessment_started", "2026-01-01T00:00:00Z"],
      ["assessment.impact_assessment_completed", "2026-02-01T00:00:00Z"],
      ["assessment.impact_assessment_started", "2027-01-01T00:00:00Z"],
    ]);
    expect(found).toMatchObject([{ state: "started" }]);
  });

  test("an assessment completed on a leap day is valid for a year, until the 28th", async () => {
    const found = await entriesAfter(assessmentList, [
      ["assessment.impact_assessment_completed", "2028-02-29T10:00:00Z", { assessment_type: "bias_audit" }],
    ]);
    expect(found).toMatchObject([{ valid_until: "2029-02-28" }]);
  });

  test("an assessment that was started and completed at the same time is completed", async () => {
    const found = await entriesAfter(assessmentList, [
      ["assessment.impact_assessment_completed", "2026-02-01T00:00:00Z"],
      ["assessment.impact_assessment_started", "2026-02-01T00:00:00Z"],
    ]);
    expect(found).toMatchObject([{ state: "completed" }]);
  });

  test("an assessment that is renewed before it ends is valid from the renewal on", async () => {
    const of = { assessment_type: "bias_audit" };
    const completed = "assessment.impact_assessment_completed";
    const first: Sent = [completed, "2026-02-01T00:00:00Z", { ...of, valid_until: "2027-02-01" }];
    const next: Sent = [completed, "2027-01-15T00:00:00Z", of];
    const validUntil = async (...events: readonly Sent[]) =>
      (await entriesAfter(assessmentList, events)).map(({ valid_until }) => valid_until);
    expect(await validUntil(first, next)).toEqual(["2028-01-14"]);
    const ends = { valid_until: "2027-11-30" };
    const updated: Sent = ["assessment.impact_assessment_updated", "2027-01-10T00:00:00Z", ends];
    expect(await validUntil(first, updated, next)).toEqual(["2027-11-30"]);
    // An end that was given before the first completion belongs to that completion, though it lies behind the next one.
    const before: Sent = ["assessment.impact_assessment_updated", "2026-01-10T00:00:00Z", ends];
    const plain: Sent = [completed, "2026-02-01T00:00:00Z", of];
    expect(await validUntil(before, plain)).toEqual(["2027-11-30"]);
    for (const events of [
      [before, plain, next],
      [next, plain, before],
    ])
      expect(await validUntil(...events)).toEqual(["2028-01-14"]);
  });

  test.each(["completed", "updated"])(
    "an assessment never ends before its completion, whatever an older event gives as its end (%s)",
    async (said) => {
      const of = { assessment_type: "bias_audit" };
      const found = await entriesAfter(assessmentList, [
        [
          `assessment.impact_assessment_${said}`,
          "2026-02-01T00:00:00Z",
          { ...of, valid_until: "2026-12-31" },
        ],
        ["assessment.impact_assessment_completed", "2027-02-01T00:00:00Z", of],
      ]);
      expect(found).toMatchObject([{ completed_at: "2027-02-01T00:00:00Z", valid_until: "2028-01-31" }]);
    },
  );
});

const auditsAfter = async (...events: readonly Sent[]) => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const audits = PROJECTIONS.filter(({ name }) => name === "audits");
  for (const view of audits) await views.open(view);
  const { writes } = await applyBatch({
    projections: [eventsProjection, ...audits],
    messages: messagesOf(events),
    load: async () => [],
    now: "",
  });
  const own = writes.filter(
    (write) => "table" in write && audits.some(({ tables }) => tables.includes(write.table)),
  );
  await views.commit({ views: audits, from: 0, to: events.length, writes: own, deadLetters: [] });
  return await findBiasAudits(views, "acme", "credit_model");
};

test("an audit stays an audit when another assessment of the asset begins, and a later start makes no audit", async () => {
  const began = (type: string, at: string): Sent => [
    "assessment.impact_assessment_started",
    at,
    { assessment_type: type },
  ];
  const completed: Sent = ["assessment.impact_assessment_completed", "2026-02-01T00:00:00Z"];
  const audit = began("bias_audit", "2026-01-01T00:00:00Z");
  expect(await auditsAfter(audit, completed)).toHaveLength(1);
  expect(await auditsAfter(audit, completed, began("fria", "2026-03-01T00:00:00Z"))).toHaveLength(1);
  expect(await auditsAfter(completed, audit, began("fria", "2026-01-15T00:00:00Z"))).toHaveLength(0);
  expect(await auditsAfter(completed, began("bias_audit", "2026-03-01T00:00:00Z"))).toHaveLength(0);
  expect(await auditsAfter(completed, began("bias_audit", "2026-02-01T00:00:00Z"))).toHaveLength(1);
});

test("a completion that only a later update calls an audit is an audit, as in the register, unless another assessment has begun", async () => {
  const of = (what: string, day: string, metadata: object = {}): Sent => [
    `assessment.impact_assessment_${what}`,
    `2026-0${day}T00:00:00Z`,
    metadata,
  ];
  const audit = { assessment_type: "bias_audit" };
  const completed = of("completed", "2-01");
  const updated = of("updated", "3-01", { ...audit, valid_until: "2026-12-31" });
  for (const events of [
    [completed, updated],
    [updated, completed],
  ]) {
    expect(await auditsAfter(...events)).toMatchObject([
      { at: "2026-02-01T00:00:00", validUntil: "2026-12-31" },
    ]);
    expect(await entriesAfter(assessmentList, events)).toMatchObject([{ valid_until: "2026-12-31" }]);
  }
  // Begun again, said to be something else, or about the completion that followed.
  expect(await auditsAfter(completed, of("started", "2-15"), updated)).toEqual([]);
  expect(await auditsAfter(completed, of("updated", "2-15", { assessment_type: "fria" }), updated)).toEqual(
    [],
  );
  expect(await auditsAfter(of("started", "1-01", { assessment_type: "fria" }), completed, updated)).toEqual(
    [],
  );
  expect(await auditsAfter(completed, of("completed", "2-15"), updated)).toMatchObject([
    { at: "2026-02-15T00:00:00" },
  ]);
});

test("an update of a named assessment corrects its type, in coverage as in the register, but not if the assessment was begun again", async () => {
  const of = (what: string, day: string, said: object): Sent => [
    `assessment.impact_assessment_${what}`,
    `2026-0${day}T00:00:00Z`,
    { assessment_id: "aedt-2026", ...said },
  ];
  const completed = of("completed", "2-01", { assessment_type: "bias-audit", valid_until: "2026-12-31" });
  const corrected = of("updated", "3-01", { assessment_type: "bias_audit" });
  const taken = of("updated", "4-01", { assessment_type: "dpia" });
  for (const events of [
    [completed, corrected],
    [corrected, completed],
  ]) {
    expect(await auditsAfter(...events)).toMatchObject([
      { at: "2026-02-01T00:00:00", validUntil: "2026-12-31" },
    ]);
    expect(await entriesAfter(assessmentList, events)).toMatchObject([
      { assessment_type: "bias_audit", valid_until: "2026-12-31" },
    ]);
  }
  expect(await auditsAfter(completed, corrected, taken)).toEqual([]);
  expect(await auditsAfter(completed, of("started", "2-15", {}), corrected)).toEqual([]);
  expect(await auditsAfter(completed, corrected, of("started", "3-15", {}), taken)).toHaveLength(1);
});

test("a bias audit is recognised in any letter case, and the register has the type as it was sent", async () => {
  const completed: Sent = [
    "assessment.impact_assessment_completed",
    "2026-02-01T00:00:00Z",
    { assessment_type: "Bias_Audit" },
  ];
  const begun: Sent = [
    "assessment.impact_assessment_started",
    "2026-01-01T00:00:00Z",
    { type: "BIAS_AUDIT" },
  ];
  expect(await auditsAfter(completed)).toHaveLength(1);
  expect(
    await auditsAfter(begun, ["assessment.impact_assessment_completed", "2026-02-01T00:00:00Z"]),
  ).toHaveLength(1);
  expect(await entriesAfter(assessmentList, [completed])).toMatchObject([
    { assessment_type: "Bias_Audit", valid_until: "2027-01-31" },
  ]);
});

test.each(["2026-11-19", "01/02/2028"])(
  "the end of validity that the completion itself gives (%s) is kept",
  async (valid_until) => {
    const said = { assessment_type: "bias_audit", valid_until };
    const found = await entriesAfter(assessmentList, [
      ["assessment.impact_assessment_completed", "2026-11-20T10:00:00Z", said],
    ]);
    expect(found).toMatchObject([{ valid_until }]);
  },
);

test.each(["model", "model_name", "gen_ai.response.model", "gen_ai.request.model"])(
  "%s names a model",
  async (name) => {
    const deployed: Sent = ["model.model_deployed", "2027-01-01T00:00:00Z", { version: "1", [name]: "m-1" }];
    expect(await entriesAfter(modelList, [deployed])).toMatchObject([{ version: "1", model: "m-1" }]);
  },
);

test("a model that is deployed and retired at the same time is retired, in any order of arrival", async () => {
  const moment = "2027-01-01T00:00:00Z";
  const events = ["deployed", "retired"].map(
    (done): Sent => [`model.model_${done}`, moment, { version: "1" }],
  );
  for (const arriving of [events, events.toReversed()])
    expect(await entriesAfter(modelList, arriving)).toMatchObject([{ version: "1", state: "retired" }]);
});

test("the duty to show a notice belongs to the asset that decides, whichever asset showed it", async () => {
  const about = { legal_bases: ["nyc_ll144"], correlation_id: "c" };
  const view = await viewAfter([
    ["transparency.notice_shown", "2027-01-01T10:00:00Z", {}, { ...about, asset_id: "portal" }],
    ["decision.automated_decision_made", "2027-03-01T10:00:00Z", {}, { ...about, asset_id: "scorer" }],
  ]);
  // Until the decision it is an obligation of the asset that showed it, of which nothing is left.
  const counted = view
    .rows(COVERAGE)
    .filter(({ law, duty, required }) => law === "nyc_ll144" && duty === "notice" && required !== 0);
  expect(counted.map(({ asset_id }) => asset_id)).toEqual(["scorer"]);
});

test("an event with any valid time is in the registers", async () => {
  const far = "9999-12-31T23:59:59Z";
  const found = await entriesAfter(incidentList, [
    ["incident.detected", "2026-09-01T10:00:00Z", { incident_id: "aware", aware_at: far }],
    ["incident.detected", far, { incident_id: "far" }],
    ["incident.detected", "0000-01-01T00:00:00Z", { incident_id: "early" }],
  ]);
  expect(found).toHaveLength(3);
  const about = { legal_bases: ["nyc_ll144"], correlation_id: "c" };
  const decided = await entriesAfter(decisionList, [
    ["transparency.notice_shown", "9999-12-20T10:00:00Z", {}, about],
    ["decision.automated_decision_made", far, {}, about],
  ]);
  expect(decided).toHaveLength(1);
});

describe("two models of one asset with the same version", () => {
  const told = (done: string, day: number, metadata: object = {}): Sent => [
    `model.${done}`,
    `2027-01-0${day}T00:00:00Z`,
    { version: "1.0", ...metadata },
  ];
  const both = [
    told("model_deployed", 1, { model: "ranker" }),
    told("model_deployed", 2, { model: "embedder" }),
  ];
  const modelsAfter = async (events: readonly Sent[]) =>
    (await entriesAfter(modelList, events)).toSorted((one, other) =>
      String(one.model ?? "") < String(other.model ?? "") ? -1 : 1,
    );
  const arrivals = (events: readonly Sent[]) => [events, events.toReversed()];

  test("both models are listed, and retiring one retires neither the other nor the asset", async () => {
    const events = [...both, told("model_retired", 3, { model: "ranker" })];
    for (const arriving of arrivals(events)) {
      expect(await modelsAfter(arriving)).toMatchObject([
        { version: "1.0", model: "embedder", state: "deployed", retired_at: null },
        { version: "1.0", model: "ranker", state: "retired", deployed_at: "2027-01-01T00:00:00Z" },
      ]);
      expect((await viewAfter(arriving)).rows(assetList.table)).toMatchObject([{ status: "active" }]);
    }
    for (const arriving of arrivals([...events, told("model_retired", 4, { model: "embedder" })]))
      expect((await viewAfter(arriving)).rows(assetList.table)).toMatchObject([{ status: "retired" }]);
  });
});

/** All orders of arrival. */
const ordersOf = (messages: readonly StoredMessage[]): readonly (readonly StoredMessage[])[] =>
  messages.length < 2
    ? [messages]
    : messages.flatMap((first, place) =>
        ordersOf(messages.toSpliced(place, 1)).map((others) => [first, ...others]),
      );

test.each<[string, readonly (readonly [hour: string, done: string, name?: string])[], readonly object[]]>([
  [
    "the only model",
    [
      ["08", "model_retired", "m"],
      ["09", "model_deployed"],
      ["10", "performance_degraded", "m"],
      ["11", "performance_degraded"],
    ],
    [{ name: "m", state: "deployed", degradations: 2, at: "2026-11-20T08:00:00" }],
  ],
  [
    "the only model, even if its name comes later",
    [
      ["07", "performance_degraded"],
      ["08", "model_deployed", "m"],
      ["09", "model_deployed"],
      ["10", "model_deployed", "m"],
    ],
    [{ name: "m", deployed_at: "2026-11-20T10:00:00", degradations: 1, at: "2026-11-20T07:00:00" }],
  ],
  [
    "none of several",
    [
      ["08", "model_deployed", "m"],
      ["09", "model_deployed", "n"],
      ["10", "model_retired", "m"],
      ["11", "performance_degraded"],
    ],
    [
      { name: "", state: "seen", degradations: 1 },
      { name: "m", state: "retired", degradations: 0 },
      { name: "n", state: "deployed", degradations: 0 },
    ],
  ],
])("an event that names no model is about %s, in any order", async (_, said, expected) => {
  const events = said.map(
    ([hour, done, model_name]): Sent => [
      `model.${done}`,
      `2026-11-20T${hour}`,
      { model_name },
      { asset_version: "1.0" },
    ],
  );
  const versions = (await viewAfter(events)).rows(MODEL_VERSIONS);
  for (const order of ordersOf(messagesOf(events))) {
    const view = await viewAfter(events, () => order);
    expect(view.rows(MODELS)).toMatchObject([...expected]);
    expect(view.rows(MODEL_VERSIONS)).toEqual(versions);
  }
});

describe("a source", () => {
  const MADE = "decision.automated_decision_made";
  const of = (hour: string, type: string, said: object): Sent => [
    type,
    `2026-11-20T${hour}`,
    { source_id: "s", ...said },
  ];

  test("was last heard of at its latest time, and only heartbeats give its state", async () => {
    const view = await viewAfter([
      of("10", "sdk.heartbeat", { queue_depth: 3, sdk_version: "0.1.0", sdk_language: "go" }),
      of("12", MADE, { queue_depth: 9, last_source_sequence: 5 }),
      of("11", MADE, {}),
    ]);
    expect(view.rows(SOURCES)).toMatchObject([
      {
        last_at: "2026-11-20T12:00:00",
        heartbeat_at: "2026-11-20T10:00:00",
        heartbeat: '{"queue_depth":3,"sdk_version":"0.1.0","sdk_language":"go"}',
        missing: 0,
      },
    ]);
  });

  test("shows texts and numbers of its heartbeat, but no other values and no numbers too large for a double", async () => {
    const view = createInMemoryView(...PROJECTIONS);
    const said = `{"source_id":"s","queue_depth":1e400,"outbox_depth":"none","dropped":true,"circuit_state":2}`;
    const event = JSON.stringify(simpleEvent("evt_1", { event_type: "sdk.heartbeat", metadata: 0 }));
    await view.take([messageOf(1, { event: event.replace('"metadata":0', `"metadata":${said}`) })]);
    expect(view.rows(SOURCES)).toMatchObject([{ heartbeat: '{"outbox_depth":"none","circuit_state":2}' }]);
  });

  test("ignores what cannot be an event's number", async () => {
    const wrong = [0, -1, 1.5, 2 ** 53, "1", null].map((source_sequence) =>
      of("10", MADE, { source_sequence }),
    );
    expect((await viewAfter(wrong)).rows(SOURCES)).toMatchObject([
      { last_number: 0, received: 0, missing: 0 },
    ]);
  });
});
