/** What coverage says about single events. Each database runs it (test/projections/coverage.test.ts). */
import { describe, expect, test } from "bun:test";
import { DEADLINES } from "../../src/law/obligations/deadline-table.ts";
import { type CoverageEntry, readCoverage } from "../../src/views/coverage/coverage.ts";
import { LEGAL_BASES } from "../../src/views/coverage/legal-bases.ts";
import { OUTCOME_ASSETS_MAX } from "../../src/views/kit/limits.ts";
import { writeCursor } from "../../src/views/store/cursor.ts";
import { COVERAGE_VIEWS, coverageAt, figuresOf, project } from "../projections/coverage-view.ts";
import { messageOf } from "../projections/records.ts";
import type { CreateDatabase } from "./view-store.ts";

type Event = Readonly<Record<string, unknown>>;

const event = (id: string, event_type: string, timestamp: string, members: Event = {}): Event => ({
  event_id: `evt_${id}`,
  event_type,
  timestamp,
  asset_id: "hiring",
  ...members,
});

const MADE = "decision.automated_decision_made";
const NOTICE = "transparency.notice_shown";
const LABEL = "transparency.result_labeled";
const COMPLETED = "assessment.impact_assessment_completed";
const NEW_YORK = { legal_bases: ["nyc_ll144"] };
const AUDIT = { metadata: { assessment_type: "bias_audit" } };
const NOW = "2026-11-20T12:00:00Z";
const hash = (digit: string): string => `sha256:${digit.repeat(64)}`;

export const coverageSuite = (name: "SQLite" | "PostgreSQL", create: CreateDatabase): void => {
  /**
   * The answer is the same for all orders of a few events; here they come first to last, and last to first. The rules, which know no database, ensure that,
   * and making all views again takes PostgreSQL a fifth of a second: so there each is made once.
   */
  const covered = async (events: readonly Event[], now = NOW, limit?: number) => {
    await using database = await create(COVERAGE_VIEWS);
    await using views = database.connect();
    const answers: (readonly CoverageEntry[])[] = [];
    for (const order of name === "SQLite" ? [events, events.toReversed()] : [events]) {
      await project(
        views,
        order.map((each, index) => messageOf(index + 1, { event: each })),
        1,
      );
      answers.push(await coverageAt(views, "acme", now, limit));
    }
    const [answer, ...others] = answers;
    if (!answer) throw new Error("there is an answer");
    for (const other of others) expect(other).toEqual(answer);
    return answer;
  };

  const one = (entries: readonly CoverageEntry[], law: string, duty: string, asset = "hiring") => {
    const found = entries.filter(
      (entry) => entry.law === law && entry.duty === duty && entry.asset_id === asset,
    );
    expect(found).toHaveLength(1);
    return found[0];
  };

  describe(`coverage in ${name}`, () => {
    test("a decision counts once under each law that it names, and an unknown law is marked", async () => {
      const laws = new Set([
        ...DEADLINES.map(({ law }) => law),
        ...LEGAL_BASES.map(({ name }) => name),
        "any",
        "unheard_of",
      ]);
      for (const legal_bases of [["nyc_ll144"], [...laws].slice(0, 10), [...laws].slice(10)]) {
        const entries = await covered([
          event("made", MADE, "2027-02-01T10:00:00Z", { legal_bases, metadata: { outcome: "denied" } }),
        ]);
        const counted = entries.filter(({ duty }) => duty !== "lifecycle");
        expect(counted.filter(({ due }) => due > 1)).toEqual([]);
        expect(one(counted, "any", "notice")).toMatchObject({ due: 1, in_time: 0, unmet: 1 });
        for (const law of legal_bases) {
          const warnings = law === "unheard_of" ? ["unregistered_legal_basis"] : [];
          expect(one(counted, law, "notice")).toMatchObject({ due: 1, in_time: 0, unmet: 1, warnings });
        }
      }
    });

    test.each(["explanation_request", "automated_decision_refusal", "appeal", "something else"])(
      "an objection (%s), a review and an incident count once under each law and duty",
      async (objection_type) => {
        const laws = { legal_bases: [...new Set(DEADLINES.map(({ law }) => law))] };
        const about = { objection_id: "o1", decision_id: "d1" };
        const entries = await covered([
          event("received", "objection.received", "2027-02-02T10:00:00Z", {
            ...laws,
            metadata: { ...about, objection_type },
          }),
          event("resolved", "objection.resolved", "2027-02-03T10:00:00Z", {
            metadata: { ...about, resolution: "denied" },
          }),
          event("review", "decision.human_review_triggered", "2027-02-03T10:00:00Z", { metadata: about }),
          event("incident", "incident.detected", "2028-02-03T10:00:00Z", {
            ...laws,
            metadata: { incident_id: "i1", incident_class: "death", role: "deployer" },
          }),
        ]);
        const counted = entries.filter(({ duty, due, pending }) => duty !== "lifecycle" && due + pending > 0);
        expect(counted.filter(({ due }) => due > 1)).toEqual([]);
        expect(counted).toHaveLength(8);
      },
    );

    test("in New York a notice counts as evidence ten business days before the decision, under other laws any time before", async () => {
      const laws = { legal_bases: ["nyc_ll144", "eu_ai_act_art_50"] };
      const entries = await covered([
        event("n1", NOTICE, "2026-11-02T10:00:00Z", { metadata: { decision_id: "d1" } }),
        event("m1", MADE, "2026-11-17T10:00:00Z", { ...laws, metadata: { decision_id: "d1" } }),
        event("n2", NOTICE, "2026-11-16T10:00:00Z", { metadata: { decision_id: "d2" } }),
        event("m2", MADE, "2026-11-18T10:00:00Z", { ...laws, metadata: { decision_id: "d2" } }),
        event("n3", NOTICE, "2026-11-18T10:00:00Z", { metadata: { decision_id: "d3" } }),
        event("m3", MADE, "2026-11-18T10:00:00Z", { metadata: { decision_id: "d3" } }),
      ]);
      const all = { ratio: 1, state: "covered" };
      expect(one(entries, "any", "notice")).toMatchObject({
        ...all,
        due: 3,
        in_time: 3,
        last_evidence_at: "2026-11-18T10:00:00Z",
        example_event_ids: ["evt_n3", "evt_n2", "evt_n1"],
      });
      expect(one(entries, "eu_ai_act_art_50", "notice")).toMatchObject({
        ...all,
        due: 2,
        in_time: 2,
        clause: "EU AI Act art. 50(1), (3), (5)",
        last_evidence_at: "2026-11-16T10:00:00Z",
        example_event_ids: ["evt_n2", "evt_n1"],
      });
      expect(one(entries, "nyc_ll144", "notice")).toMatchObject({
        due: 2,
        in_time: 1,
        unmet: 1,
        ratio: 0.5,
        state: "partial",
        last_evidence_at: "2026-11-02T10:00:00Z",
        example_event_ids: ["evt_n1"],
      });
    });

    test("a notice about a decision that nobody sent is not evidence: it counts for no decision", async () => {
      const entries = await covered([
        event("n1", NOTICE, "2026-11-02T10:00:00Z", { metadata: { decision_id: "d1" } }),
        event("m1", MADE, "2026-11-17T10:00:00Z", { metadata: { decision_id: "d1" } }),
        event("n2", NOTICE, "2026-11-18T10:00:00Z", { metadata: { decision_id: "d2" } }),
      ]);
      expect(one(entries, "any", "notice")).toMatchObject({
        due: 1,
        in_time: 1,
        last_evidence_at: "2026-11-02T10:00:00Z",
        example_event_ids: ["evt_n1"],
      });
    });

    test("a notice is due, and counts as evidence, under the laws that the decision names and under those that only the notice names", async () => {
      const about = { metadata: { decision_id: "d" } };
      const told = { legal_bases: ["ai_basic_law_kr", "eu_ai_act_art_50"], ...about };
      const decided = { legal_bases: ["pipa_37_2_kr", "ai_basic_law_kr"], ...about };
      const entries = await covered([
        event("notice", NOTICE, "2026-11-02T10:00:00Z", told),
        event("made", MADE, "2026-11-02T10:00:01Z", decided),
      ]);
      for (const law of ["any", "ai_basic_law_kr", "eu_ai_act_art_50", "pipa_37_2_kr"])
        expect(one(entries, law, "notice")).toMatchObject({
          due: 1,
          state: "covered",
          example_event_ids: ["evt_notice"],
        });
    });

    test("a duty met late is partial, one not met is missing, and a law without a known article has no clause", async () => {
      const about = { legal_bases: ["pipa_37_2_kr"], metadata: { objection_id: "o1" } };
      const entries = await covered([
        event("made", MADE, "2026-01-01T10:00:00Z", { legal_bases: ["unheard_of"] }),
        event("received", "objection.received", "2026-01-02T10:00:00Z", about),
        event("resolved", "objection.resolved", "2026-05-02T10:00:00Z", about),
      ]);
      expect(one(entries, "pipa_37_2_kr", "objection")).toMatchObject({
        due: 1,
        late: 1,
        ratio: 0,
        state: "partial",
        clause: "PIPA Enforcement Decree art. 44-3(1), (5); PIPA Enforcement Decree art. 44-3(3), (5)",
        last_evidence_at: "2026-05-02T10:00:00Z",
        example_event_ids: ["evt_resolved"],
      });
      expect(one(entries, "unheard_of", "notice")).toMatchObject({
        ratio: 0,
        state: "missing",
        clause: null,
        last_evidence_at: null,
        example_event_ids: [],
      });
      expect(one(entries, "any", "labeling")).toMatchObject({
        due: 0,
        ratio: null,
        state: "not_applicable",
      });
    });

    test("an asset has a lifecycle from its creation on, and a version", async () => {
      const entries = await covered([
        event("used", "ai_inference", "2026-11-01T10:00:00Z", { asset_id: "unknown" }),
        event("created", "asset.created", "2026-11-01T10:00:00Z", { asset_id: "made" }),
        event("deployed", "model.model_deployed", "2026-11-02T10:00:00Z", {
          asset_id: "whole",
          asset_version: "2",
        }),
        event("whole", "asset.created", "2026-11-01T10:00:00Z", { asset_id: "whole" }),
      ]);
      expect(one(entries, "any", "lifecycle", "unknown")).toMatchObject({
        due: 2,
        in_time: 0,
        unmet: 2,
        state: "missing",
      });
      expect(one(entries, "any", "lifecycle", "made")).toMatchObject({ in_time: 1, state: "partial" });
      expect(one(entries, "any", "lifecycle", "whole")).toMatchObject({
        in_time: 2,
        unmet: 0,
        state: "covered",
        last_evidence_at: "2026-11-02T10:00:00Z",
        example_event_ids: ["evt_deployed", "evt_whole"],
      });
    });

    test("a bias audit is valid for a year in New York time, and stale after it", async () => {
      // In New York these are the 1st of March 2026, its first minute and its last.
      const events = [
        event("audit", COMPLETED, "2025-03-02T04:59:00Z", AUDIT),
        event("last", MADE, "2026-03-02T04:59:59Z", NEW_YORK),
        event("early", MADE, "2025-03-01T05:00:00Z", NEW_YORK),
        event("too_early", MADE, "2025-03-01T04:59:59Z", NEW_YORK),
        event("too_late", MADE, "2026-03-02T05:00:00Z", NEW_YORK),
        event("before_the_law", MADE, "2023-07-04T12:00:00Z", NEW_YORK),
        event("elsewhere", MADE, "2026-03-01T12:00:00Z", { legal_bases: ["gdpr_art_22"] }),
        event("other", COMPLETED, "2026-02-01T12:00:00Z", { metadata: { type: "fria" } }),
      ];
      const evidence = { last_evidence_at: "2025-03-02T04:59:00Z", example_event_ids: ["evt_audit"] };
      const counts = { due: 4, in_time: 2, late: 0, unmet: 2, ratio: 0.5, ...evidence };
      const at = async (now: string) => one(await covered(events, now), "nyc_ll144", "bias_audit");
      expect(await at("2026-03-02T04:59:59Z")).toMatchObject({ ...counts, state: "partial" });
      expect(await at("2026-03-02T05:00:00Z")).toMatchObject({ ...counts, state: "stale" });
    });

    test("audits of several years count each decision once, a kind given at the start counts, and an early end is respected", async () => {
      const named = { assessment_id: "a1" };
      const audits = [
        event("begun", "assessment.impact_assessment_started", "2025-01-01T12:00:00Z", {
          metadata: { ...named, type: "bias_audit" },
        }),
        event("first", COMPLETED, "2025-02-01T12:00:00Z", { metadata: named }),
        event("second", COMPLETED, "2025-10-01T12:00:00Z", AUDIT),
        event("short", COMPLETED, "2026-12-01T12:00:00Z", {
          metadata: { assessment_type: "bias_audit", valid_until: "2026-12-31" },
        }),
      ];
      const decisions = ["2025-11-01", "2026-09-01", "2026-12-31", "2027-01-02"].map((day, index) =>
        event(`made_${index}`, MADE, `${day}T12:00:00Z`, NEW_YORK),
      );
      const entry = one(await covered([...audits, ...decisions], NOW), "nyc_ll144", "bias_audit");
      expect(entry).toMatchObject({ due: 4, in_time: 3 });
      expect(entry?.example_event_ids).toEqual(["evt_short", "evt_second", "evt_first"]);
    });

    test("the end of an audit may be given before its completion or after it, but not by another named assessment", async () => {
      const made = "2026-09-01T12:00:00Z";
      const said = (verb: string, at: string, metadata: Event): Event => ({
        event_type: `assessment.impact_assessment_${verb}`,
        timestamp: `${at}T12:00:00Z`,
        metadata,
      });
      const audit = { assessment_type: "bias_audit" };
      const completed = said("completed", "2026-01-10", audit);
      const ended = { valid_until: "2026-06-30" };
      const histories: Readonly<Record<string, readonly [inTime: number, ...events: readonly Event[]]>> = {
        started: [
          0,
          said("started", "2026-01-05", { ...audit, ...ended }),
          said("completed", "2026-01-10", {}),
        ],
        type_after_end: [0, said("started", "2026-01-05", ended), completed],
        updated: [0, completed, said("updated", "2026-02-10", ended)],
        mended: [
          1,
          completed,
          said("updated", "2026-02-10", ended),
          said("updated", "2026-02-11", { valid_until: "2026-12-31" }),
        ],
        of_another: [1, completed, said("started", "2026-02-10", { type: "fria", ...ended })],
        of_the_next: [
          1,
          completed,
          said("completed", "2026-02-10", { ...audit, ...ended }),
          said("completed", "2026-08-01", audit),
        ],
        renewed: [
          1,
          said("updated", "2025-09-10", { ...audit, valid_until: "2026-07-31" }),
          said("completed", "2025-10-10", audit),
          said("completed", "2026-07-01", audit),
        ],
        of_the_last: [1, said("completed", "2025-01-10", { ...audit, ...ended }), completed],
      };
      const events = Object.entries(histories).flatMap(([asset_id, [, ...all]]) => [
        event(asset_id, MADE, made, { ...NEW_YORK, asset_id }),
        ...all.map((each, index) => ({ ...each, event_id: `evt_${asset_id}_${index}`, asset_id })),
      ]);
      const entries = await covered(events);
      const inTime = Object.keys(histories).map((asset) => [
        asset,
        one(entries, "nyc_ll144", "bias_audit", asset)?.in_time,
      ]);
      expect(inTime).toEqual(Object.entries(histories).map(([asset, [count]]) => [asset, count]));
    });

    test("an outcome is labeled by its hash, in any place and by any asset, and counts once", async () => {
      const upper = hash("a").toUpperCase().replace("SHA256", "sha256");
      const entries = await covered([
        event("a1", MADE, "2026-11-01T10:00:00Z", { outcome_hash: hash("a") }),
        event("a2", "ai_inference", "2026-11-01T11:00:00Z", { output_hash: upper }),
        event("a3", "ai_inference", "2026-11-01T11:00:00Z", {
          asset_id: "b",
          metadata: { output_hash: hash("a") },
        }),
        event("b1", "ai_inference", "2026-11-01T11:00:00Z", { metadata: { outcome_hash: hash("b") } }),
        event("c1", "ai_inference", "2026-11-01T12:00:00Z", { outcome_hash: hash("c") }),
        event("label_a", LABEL, "2026-11-01T12:00:00Z", { asset_id: "b", outcome_hash: hash("a") }),
        event("label_b", "watermark_applied", "2026-10-01T12:00:00Z", { output_hash: hash("b") }),
        event("again_a", LABEL, "2026-11-03T12:00:00Z", { asset_id: "b", outcome_hash: hash("a") }),
        event("label_d", LABEL, "2026-11-02T12:00:00Z", { outcome_hash: hash("d") }),
        event("none", LABEL, "2026-11-02T12:00:00Z"),
      ]);
      expect(one(entries, "any", "labeling")).toMatchObject({
        due: 3,
        in_time: 2,
        unmet: 1,
        state: "partial",
        last_evidence_at: "2026-11-02T12:00:00Z",
        // Its own labels, and the first of those that another asset sent.
        example_event_ids: ["evt_label_d", "evt_label_a", "evt_label_b"],
      });
      expect(one(entries, "any", "labeling", "b")).toMatchObject({
        due: 1,
        in_time: 1,
        state: "covered",
        example_event_ids: ["evt_again_a", "evt_label_a"],
      });
    });

    test("a hash that very many assets label counts for the first asset by name, in any order of arrival", async () => {
      const events = Array.from({ length: OUTCOME_ASSETS_MAX + 3 }, (_, index) =>
        event(`same_${index}`, "ai_inference", "2026-11-01T10:00:00Z", {
          asset_id: `a${String(index).padStart(3, "0")}`,
          outcome_hash: hash("e"),
        }),
      );
      const entries = (await covered(events)).filter(({ duty }) => duty === "labeling");
      expect(entries.filter(({ due }) => due === 1)).toHaveLength(OUTCOME_ASSETS_MAX);
      expect(entries.findLast(({ due }) => due === 1)?.asset_id).toBe("a063");
    });

    test("pages of any size make one list, in the order of the databases, with each row once", async () => {
      // By UTF-16 units the last two would have the other order, and by UTF-8 so would a\0 and a\u0001: U+0000 is stored in another form.
      const assets = ["a", "a\u0001", "a\0", "ä", "\uff5e", "😀"];
      const events = assets.flatMap((asset_id, index) => [
        event(`m${index}`, MADE, "2026-11-01T10:00:00Z", { asset_id, ...NEW_YORK, outcome_hash: hash("f") }),
        event(`c${index}`, "asset.created", "2026-11-01T10:00:00Z", { asset_id }),
      ]);
      const whole = await covered(events);
      expect([...new Set(whole.map(({ asset_id }) => asset_id))]).toEqual(assets);
      expect(whole).toHaveLength(6 * 5);
      expect(Object.keys(figuresOf(whole))).toHaveLength(whole.length);
      for (const limit of [1, 2, 3, 7]) expect(await covered(events, NOW, limit)).toEqual(whole);
    });

    test("a forged cursor is refused, unless it has the three texts of a place", async () => {
      await using database = await create(COVERAGE_VIEWS);
      await using views = database.connect();
      await project(views, [], 1);
      const asked = { anyOf: [[]], order: "asc", limit: 1 } as const;
      const scope = JSON.stringify(["acme", "coverage", asked.anyOf, asked.order]);
      const kindOf = async (...place: readonly (string | number)[]) =>
        (await readCoverage(views, "acme", { ...asked, cursor: writeCursor({ place, scope }) })).kind;
      expect(await kindOf("a", "any", "notice")).toBe("page");
      expect(await kindOf("a", "any", 1)).toBe("invalid_cursor");
      expect(await kindOf("a", "any")).toBe("invalid_cursor");
    });
  });
};
