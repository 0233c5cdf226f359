/** The questions of an auditor, asked over HTTP about a history whose answers are known. Each database runs it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { exampleOf } from "../../src/api/http/example.ts";
import { obligationSchema } from "../../src/api/routes/obligations.ts";
import { LISTS } from "../../src/api/routes/registers.ts";
import { DEADLINES_VERSION } from "../../src/law/obligations/deadline-table.ts";
import { entryMembers } from "../../src/views/kit/list.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { coverageAtTime } from "../support/histories/known-history.ts";
import { HEARTBEAT } from "../support/histories/source-life.ts";
import { makeHistory } from "../support/histories.ts";
import { allPages } from "../support/pages.ts";
import { event, startTestService, type TestService } from "../support/service.ts";

type Environment = Readonly<Record<string, string>>;

export const registersSuite = (environment: () => Promise<Environment>): void => {
  let service: TestService;
  let sequence = 0;
  const history = makeHistory({ seed: 7, assets: 4, cases: 25 });

  beforeAll(async () => {
    service = await startTestService({ EXTRA_EVENT_TYPES: HEARTBEAT, ...(await environment()) });
    const events = asTheyArrive(history.events, 7);
    for (let start = 0; start < events.length; start += 200) {
      const answer = await service.call("/v1/events/batch", {
        body: { events: events.slice(start, start + 200) },
      });
      expect(answer.json.data).toMatchObject({ rejected: 0 });
      sequence = answer.json.data.sequence;
    }
  });
  afterAll(() => service[Symbol.asyncDispose]());

  type Entry = Readonly<Record<string, unknown>>;

  const answerTo = (path: string) =>
    callUntilSeen(service.call, `${path}${path.includes("?") ? "&" : "?"}min_sequence=${sequence}`);
  const ask = async (path: string) => (await answerTo(path)).json;

  /** Every page of a list. */
  const all = (path: string, limit = 37): Promise<readonly Entry[]> =>
    allPages(async (cursor) => {
      const page = await answerTo(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}${cursor}`);
      expect(page.json.data.length).toBeLessThanOrEqual(limit);
      return page;
    });

  const expectSame = (rows: readonly Entry[], known: readonly object[], key: string): void => {
    const byKey = new Map(rows.map((row) => [row[key], row]));
    expect([rows.length, byKey.size]).toEqual([known.length, known.length]);
    for (const entry of known) {
      const name: unknown = Object.entries(entry).find(([member]) => member === key)?.[1];
      expect(byKey.get(name)).toMatchObject(entry);
    }
  };

  describe("registers", () => {
    test.each(["asc", "desc"])("decisions are listed page by page, %s", async (order) => {
      const rows = await all(`/v1/decisions?order=${order}`);
      expectSame(rows, history.decisions, "decision_id");
      const times = rows.map(({ made_at }) => Date.parse(String(made_at)));
      expect(times).toEqual([...times].sort((one, other) => (order === "asc" ? one - other : other - one)));
    });
    test.each([
      ["objections", history.objections, "objection_id"],
      ["incidents", history.incidents, "incident_id"],
      ["transparency", history.notices, "notice_id"],
      ["human-reviews", history.reviews, "review_id"],
      ["assessments", history.assessments, "assessment_id"],
      ["risk-changes", history.riskChanges, "event_id"],
    ] as const)(
      "each entry of the register %s is listed once, as it happened",
      async (register, known, key) => {
        expect(known.length).toBeGreaterThan(0);
        expectSame(await all(`/v1/registers/${register}`), known, key);
      },
    );
    test("every version of a model is listed once", async () => {
      const named = (model: { readonly asset_id?: unknown; readonly version?: unknown }) => ({
        ...model,
        name: `${model.asset_id} ${model.version}`,
      });
      const models = await all("/v1/registers/models");
      expectSame(models.map(named), history.models.map(named), "name");
    });
    test("sources are listed with their missing numbers and their last heartbeat", async () => {
      const sources = await all("/v1/sources");
      expect(sources).toHaveLength(4);
      for (const { source_id, missing, heartbeat, last_number, heartbeat_at } of sources) {
        const gaps = history.gaps.filter((gap) => gap.source_id === source_id);
        expect(missing).toBe(gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0));
        const ends = gaps.map(({ last }) => last);
        const last_source_sequence = Math.max(Number(last_number), ...ends);
        expect([heartbeat, heartbeat_at]).toEqual([
          { queue_depth: 0, last_source_sequence },
          expect.any(String),
        ]);
      }
    });
    test("gaps of sources are listed until they are filled", async () => {
      const gaps = await all("/v1/sources/gaps");
      expect(gaps).toHaveLength(history.gaps.length);
      const [gap] = gaps;
      const filling = { source_id: gap?.source_id, source_sequence: gap?.first_number };
      const sent = await service.call("/v1/events", {
        body: event({ event_id: "evt_late", event_type: "ai_inference", metadata: filling }),
      });
      sequence = sent.json.data.sequence;
      const after = await all("/v1/sources/gaps");
      const isOneLong = gap?.first_number === gap?.last_number;
      expect(after).toHaveLength(history.gaps.length - Number(isOneLong));
      expect(after).not.toContainEqual(gap);
    });
  });

  test.each([...LISTS])(
    "the answer of $path matches its schema, and so does the example in the documentation",
    async (route) => {
      const { path, list } = route;
      const example = exampleOf(Type.Object(entryMembers(list)));
      const schema = TypeCompiler.Compile(Type.Object(entryMembers(list), { additionalProperties: false }));
      const rows = await all(`/v1${path}`, 100);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of [example, ...rows]) expect([...schema.Errors(row)]).toEqual([]);
    },
  );

  describe("duties", () => {
    test("all duties are listed in the order in which they fall due, with law and clause", async () => {
      const rows = await all("/v1/obligations?order=asc");
      expect(new Set(rows.map(({ ruleset_version }) => ruleset_version))).toEqual(
        new Set([DEADLINES_VERSION]),
      );
      expectSame(
        rows,
        history.duties.map(({ status: _, ...duty }) => duty),
        "obligation_id",
      );
      for (const status of ["met_late", "breached"] as const)
        expect(rows.filter(({ state }) => state === status)).toHaveLength(
          history.duties.filter((duty) => duty.status === status).length,
        );
      const dues = rows.map(({ due_at }) => String(due_at));
      expect(dues).toEqual([...dues].sort());
      const schema = TypeCompiler.Compile({ ...obligationSchema, additionalProperties: false });
      for (const row of [exampleOf(obligationSchema), ...rows]) expect([...schema.Errors(row)]).toEqual([]);
      // Bun's toMatchObject writes its matchers into the object that it gets.
      for (const row of rows)
        expect(row).toMatchObject({ duty: expect.any(String), clause: expect.any(String) });
    });
  });

  describe("one decision", () => {
    test("a decision shows all its parts in order, and names what is missing", async () => {
      for (const known of history.decisions.slice(0, 20)) {
        const { data } = await ask(`/v1/decisions/${known.decision_id}`);
        const { objections, ...decision } = known;
        expect(data).toMatchObject(decision);
        expect(data.objections).toHaveLength(objections);
        const times = data.timeline.map(({ at }: { at: string }) => Date.parse(at));
        expect(times).toEqual([...times].sort((one, other) => one - other));
        const sent = history.events.filter((each) => JSON.stringify(each).includes(`"${known.decision_id}"`));
        const ids = data.timeline.map(({ event: { event_id } }: { event: { event_id: string } }) => event_id);
        expect(ids).toEqual(expect.arrayContaining(sent.map(({ event_id }) => event_id)));
      }
    });

    test("a decision contains its events byte for byte", async () => {
      const body =
        '{ "event_id":"evt_exact", "timestamp":"2026-11-20T10:00:00Z","asset_id":"exact","event_type":"decision.automated_decision_made","metadata":{"decision_id":"dec_exact","score":0.10000000000000000555} }';
      const sent = await service.call("/v1/events", { body });
      const answer = await service.call(`/v1/decisions/dec_exact?min_sequence=${sent.json.data.sequence}`);
      expect(answer.text).toContain(`"event":${body}}`);
    });

    test("a decision that only other events refer to is listed, as missing", async () => {
      const sent = await service.call("/v1/events", {
        body: event({
          event_id: "evt_orphan",
          event_type: "decision.explanation_provided",
          metadata: { decision_id: "dec_never" },
        }),
      });
      const answer = await service.call(`/v1/decisions/dec_never?min_sequence=${sent.json.data.sequence}`);
      expect(answer.json.data).toMatchObject({ made_at: null, missing: ["decision"] });
    });

    test("neither a decision nor its case is found in another tenant", async () => {
      const key = await service.makeKey("other");
      const [known] = history.decisions;
      for (const path of [
        `/v1/decisions/${known?.decision_id}`,
        "/v1/cases/case_asset_7_0_0",
        "/v1/assets/asset_7_0",
      ]) {
        expect((await service.call(path, { key })).status).toBe(404);
        expect((await service.call(path)).status).toBe(200);
      }
      for (const path of [
        "/v1/decisions",
        "/v1/obligations",
        "/v1/registers/objections",
        "/v1/registers/transparency",
        "/v1/assets",
        "/v1/coverage",
      ])
        expect((await service.call(path, { key })).json.data).toEqual([]);
    });
  });

  test("a case holds the events of its correlation and everything that is connected with them", async () => {
    for (const [index, known] of history.decisions.slice(0, 10).entries()) {
      const { data } = await ask(`/v1/cases/case_asset_7_0_${index}`);
      expect(data.decisions).toHaveLength(1);
      expect(data).toMatchObject({
        notice_shown: known.notice_at !== null,
        explanation_given: known.explanation_at !== null,
        human_review_triggered: known.review_triggered_at !== null,
        human_review_completed: known.review_completed_at !== null,
        decision_reversed: known.reversed_at !== null,
        objection_received: known.objections > 0,
      });
      const isAnswered =
        data.objections.every((objection: Entry) => objection.state === "resolved") &&
        data.human_reviews.every((review: Entry) => review.state === "completed") &&
        data.obligations.every(({ state }: Entry) => state === "met" || state === "met_late");
      expect(data.state).toBe(isAnswered ? "closed" : "open");
    }
  });

  describe("assets", () => {
    test("the register of assets holds the last statements, by the time of the events", async () => {
      const rows = (await all("/v1/assets", 2)).filter(({ asset_id }) =>
        String(asset_id).startsWith("asset_7_"),
      );
      expectSame(rows, history.assets, "asset_id");
      expect(rows[0]).toMatchObject({ owner: "Risk team", domain: "finance_credit_evaluation" });
    });
    test("an asset has its models, its history of risk and its coverage", async () => {
      for (const { asset_id, risk_tier } of history.assets) {
        const { data } = await ask(`/v1/assets/${asset_id}`);
        expect(data).toMatchObject({ asset_id, risk_tier });
        expect(data.models.length).toBeGreaterThan(0);
        const changes = history.riskChanges.filter((change) => change.asset_id === asset_id);
        expect(changes).toHaveLength(risk_tier === "high" ? 1 : 0);
        expectSame(data.risk_changes, changes, "event_id");
        expect(data.coverage.length).toBeGreaterThan(0);
      }
    });
    test("a timeline has the asset's events, and refuses a filter for another asset", async () => {
      const [asset] = history.assets;
      const events = await all(`/v1/assets/${asset?.asset_id}/timeline`);
      expect(events).toHaveLength(asset?.events ?? 0);
      const incidents = await all(`/v1/assets/${asset?.asset_id}/timeline?event_type=incident.*&order=asc`);
      expect(incidents.length).toBeGreaterThan(0);
      const answer = await service.call(`/v1/assets/${asset?.asset_id}/timeline?asset_id=other`);
      expect(answer.json.errors[0].path).toBe("query:asset_id");
    });
    test("coverage of every asset has the figures that follow from the history", async () => {
      const rows = (await all("/v1/coverage")).filter(({ asset_id }) =>
        String(asset_id).startsWith("asset_7_"),
      );
      const figures = rows.map(({ asset_id, law, duty, due, in_time, late, pending }) => [
        `${asset_id} ${law} ${duty}`,
        { due, in_time, late, pending },
      ]);
      const known = coverageAtTime(history.coverage, new Date().toISOString());
      expect(Object.fromEntries(figures)).toEqual(Object.fromEntries(known));
    });
    test("coverage has a state, a clause and examples, and says beside it what no log can show", async () => {
      const hires = (asset: string): boolean => history.coverage.has(`${asset} nyc_ll144 bias_audit`);
      const { asset_id } = history.audits.find((audit) => hires(audit.asset_id)) ?? {};
      const { data, cannot_show } = await ask(`/v1/coverage?asset_id=${asset_id}&law=nyc_ll144&order=asc`);
      expect(cannot_show).toEqual([
        {
          law: "nyc_ll144",
          duty: "information_request",
          clause: expect.stringContaining("20-871(b)"),
          why: expect.stringContaining("written request"),
        },
        {
          law: "nyc_ll144",
          duty: "policy_disclosure",
          clause: expect.stringContaining("20-871(a)(2)"),
          why: expect.stringContaining("a policy was disclosed"),
        },
      ]);
      expect(data).toEqual([
        expect.objectContaining({ duty: "bias_audit", clause: expect.stringContaining("20-871(a)") }),
        expect.objectContaining({ duty: "notice", clause: expect.stringContaining("20-871(b)") }),
      ]);
      const audits = history.audits.filter((audit) => audit.asset_id === asset_id);
      const newestFirst = audits.toSorted((one, other) => (one.first < other.first ? 1 : -1));
      const ids = newestFirst.map(({ event_id }) => event_id);
      expect(data[0].example_event_ids).toEqual(ids);
      const sent = history.events.find(({ event_id }) => event_id === ids[0]);
      expect(data[0].last_evidence_at).toBe(sent?.timestamp ?? "");
      const one = await ask(`/v1/assets/${asset_id}`);
      expect(one.data.coverage).toEqual(expect.arrayContaining(data));
      const all = await ask("/v1/coverage");
      expect(all.cannot_show.map(({ law, duty }: Entry) => `${law} ${duty}`)).toEqual([
        "nyc_ll144 information_request",
        "ai_basic_law_kr high_impact_confirmation",
        "ai_basic_law_kr policy_disclosure",
        "pipa_37_2_kr policy_disclosure",
        "nyc_ll144 policy_disclosure",
        "ai_basic_law_kr impact_assessment",
        "eu_ai_act_art_6 impact_assessment",
        "ai_basic_law_kr risk_review",
        "eu_ai_act_art_6 risk_review",
      ]);
      const assessed = await ask("/v1/coverage?law=eu_ai_act_art_6&duty=impact_assessment");
      expect(assessed.cannot_show).toMatchObject([{ clause: "EU AI Act art. 27" }]);
    });
  });

  describe("activity", () => {
    test("events are counted by day, asset and type", async () => {
      const { data } = await ask(
        "/v1/activity?group_by=start,asset_id,event_type&from=2026-01-01T00:00:00Z&to=2028-01-01T00:00:00Z",
      );
      const counts = data
        .filter(({ asset_id }: Entry) => String(asset_id).startsWith("asset_7_"))
        .map(({ start, asset_id, event_type, events }: Entry) => [
          `${String(start).slice(0, 10)} ${asset_id} ${event_type}`,
          events,
        ]);
      expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(history.activity));
    });
    test("a bucket that the range cuts is counted whole, and one that the range only touches is not counted", async () => {
      const asset = history.assets[0]?.asset_id;
      const sum = async (range: string) => {
        const { data } = await ask(`/v1/activity?bucket=hour&asset_id=${asset}&${range}`);
        return data.map(({ start }: Entry) => start);
      };
      expect(await sum("from=2026-08-10T00:30:00Z&to=2026-08-10T01:00:00Z")).toEqual([
        "2026-08-10T00:00:00Z",
      ]);
      expect(await sum("from=2026-08-10T00:30:00Z&to=2026-08-10T01:00:01Z")).toEqual([
        "2026-08-10T00:00:00Z",
        "2026-08-10T01:00:00Z",
      ]);
    });
    test("an unknown group is refused", async () => {
      expect((await service.call("/v1/activity?group_by=person")).status).toBe(400);
    });
  });
};
