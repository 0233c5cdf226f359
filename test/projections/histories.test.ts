/** Registers, clocks and figures, compared with the answers that the generator of the histories knows. */
import { describe, expect, test } from "bun:test";
import { ACTIVITY, ACTIVITY_OF_ALL, HOURS } from "../../src/views/activity/tables.ts";
import { assessmentList, riskChangeList } from "../../src/views/assessments/queries.ts";
import { assetEntry } from "../../src/views/assets/queries.ts";
import { ASSETS } from "../../src/views/assets/tables.ts";
import { decisionList } from "../../src/views/cases/registers/decisions.ts";
import { humanReviewList } from "../../src/views/cases/registers/human-reviews.ts";
import { incidentList } from "../../src/views/cases/registers/incidents.ts";
import { noticeList } from "../../src/views/cases/registers/notices.ts";
import { objectionList } from "../../src/views/cases/registers/objections.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { entryOf, type List } from "../../src/views/kit/list.ts";
import { modelList } from "../../src/views/models/queries.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { SOURCE_GAPS, SOURCES } from "../../src/views/sources/tables.ts";
import type { Row, Table } from "../../src/views/store/tables.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { coverageAtTime, type History } from "../support/histories/known-history.ts";
import { makeHistory } from "../support/histories.ts";
import { coverageAt, expectedBeside, figuresOf, project } from "./coverage-view.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const messagesOf = (history: History, seed: number) =>
  asTheyArrive(history.events, seed).map((event, index) => messageOf(index + 1, { event }));

const projected = async (history: History, seed: number) => {
  const view = createInMemoryView(...PROJECTIONS);
  const messages = messagesOf(history, seed);
  for (let start = 0; start < messages.length; start += 500)
    expect(await view.take(messages.slice(start, start + 500))).toEqual([]);
  return view;
};

/** The time at which the registers are read. */
const NOW = new Date("2026-12-15T12:00:00Z");
const AT = "2026-12-15T12:00:00";

/** Time columns hold text without the zone. */
const withZone = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith("_at") && typeof value === "string" ? `${value}Z` : value,
    ]),
  );

describe.each([1, 2, 3])("history %i", async (seed) => {
  const history = makeHistory({ seed, assets: 8, cases: 40, now: NOW });
  const view = await projected(history, seed + 100);
  const rows = (table: Table) => view.rows(table).map(withZone);
  const entriesOf = (list: List) => view.rows(list.table).map((row) => entryOf(list, row, AT));

  const expectSame = (
    found: readonly Readonly<Record<string, unknown>>[],
    key: string,
    known: readonly object[],
  ): void => {
    const byKey = new Map(found.map((row) => [row[key], row]));
    expect(byKey.size).toBe(known.length);
    for (const entry of known) {
      const name: unknown = Object.entries(entry).find(([member]) => member === key)?.[1];
      expect(byKey.get(String(name))).toMatchObject(entry);
    }
  };

  test("the history contains every kind of event", () => {
    expect(history.events.length).toBeGreaterThan(800);
    expect(history.objections.length).toBeGreaterThan(50);
    expect(new Set(history.duties.map(({ status }) => status)).size).toBe(4);
    expect(
      new Set(history.duties.map(({ obligation_id }) => obligation_id.split(":")[0])).size,
    ).toBeGreaterThan(6);
  });
  test("the register of decisions holds each decision with its outcome", () =>
    expectSame(entriesOf(decisionList), "decision_id", history.decisions));
  test("the register of objections holds each objection with its state, its times and its extensions", () => {
    expectSame(entriesOf(objectionList), "objection_id", history.objections);
    for (const late of [true, false])
      for (const isResolved of [true, false])
        expect(history.objections).toContainEqual(
          expect.objectContaining({ late, days: isResolved ? expect.any(Number) : null }),
        );
  });
  test("the register of notices holds each notice with its answer", () => {
    expectSame(entriesOf(noticeList), "notice_id", history.notices);
    expect(new Set(history.notices.map(({ state }) => state)).size).toBe(4);
    expect(
      history.notices.filter(({ decision_id }) => decision_id?.startsWith("dec_")).length,
    ).toBeGreaterThan(5);
  });
  test("the register of human reviews holds each review with its outcome and its hours", () =>
    expectSame(entriesOf(humanReviewList), "review_id", history.reviews));
  test("every obligation falls due when its law says, and is met, met late, breached or open as the history says", () =>
    expectSame(rows(OBLIGATIONS), "obligation_id", history.duties));
  test("the register of incidents holds each incident with its reports", () =>
    expectSame(entriesOf(incidentList), "incident_id", history.incidents));
  test("the history of risk holds every change of tier with its reasons", () =>
    expectSame(entriesOf(riskChangeList), "event_id", history.riskChanges));
  test("the register of assessments holds each assessment with its checklist and its validity", () =>
    expectSame(entriesOf(assessmentList), "assessment_id", history.assessments));
  test("the register of models holds each version, the end of its use and the number of its degradations", () => {
    const named = (model: { readonly asset_id?: unknown; readonly version?: unknown }) => ({
      ...model,
      name: `${model.asset_id} ${model.version}`,
    });
    expectSame(entriesOf(modelList).map(named), "name", history.models.map(named));
    expect(new Set(history.models.map(({ state }) => state)).size).toBe(2);
  });
  test("the register of assets holds the last statement about each asset", () => {
    const entries = view.rows(ASSETS).map((row) => assetEntry(row, AT));
    expectSame(entries, "asset_id", history.assets);
    for (const { asset_id, assessed_at, retired_at, archived_at } of history.assets) {
      const entry = entries.find((each) => each.asset_id === asset_id);
      expect([entry?.assessed_at, entry?.retired_at, entry?.archived_at]).toEqual([
        assessed_at,
        retired_at,
        archived_at,
      ]);
    }
  });
  test("coverage counts what was done in time, late or not at all, at any time of asking", async () => {
    await using database = createSqliteDatabase();
    await using store = database.connect();
    await project(store, messagesOf(history, seed + 100), 500);
    for (const now of ["2026-12-31T12:00:00Z", "2027-03-31T12:00:00Z", "2028-06-01T12:00:00Z"]) {
      const entries = await coverageAt(store, "acme", now);
      expect(figuresOf(entries)).toEqual(Object.fromEntries(coverageAtTime(history.coverage, now)));
      for (const entry of entries) expect(entry).toMatchObject(expectedBeside(entry, history, now));
      const examples = entries.map(({ example_event_ids }) => example_event_ids);
      expect(examples.map((ids) => [...new Set(ids)])).toEqual(examples.map((ids) => [...ids]));
    }
    expect(history.audits.length).toBeGreaterThan(2);
    const labeling = [...history.coverage].filter(([name]) => name.endsWith("labeling"));
    expect(labeling.some(([, { required, in_time }]) => in_time > 0 && in_time < required)).toBe(true);
  });
  test("for senders that number their events, exactly the numbers that never arrived are missing", () => {
    const found = rows(SOURCE_GAPS).map(({ source_id, first_number, last_number, since }) => ({
      source_id,
      first: first_number,
      last: last_number,
      since: `${since}Z`,
    }));
    const order = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
    expect(found.toSorted(order)).toEqual([...history.gaps].toSorted(order));
    expect(history.gaps.some(({ first }) => first > 12)).toBe(true);
    for (const { source_id, missing } of rows(SOURCES)) {
      const gaps = history.gaps.filter((gap) => gap.source_id === source_id);
      expect(missing).toBe(gaps.reduce((sum, { first, last }) => sum + last - first + 1, 0));
    }
  });
  test("all tables of activity count every event of a day, and agree", () => {
    const totals = (table: Table) => {
      const events = new Map<string, number>();
      for (const row of rows(table)) {
        const hours = HOURS.map((hour) => Number(row[hour]));
        expect(hours.reduce((sum, hour) => sum + hour)).toBe(Number(row.events));
        for (const [hour, count] of hours.entries()) {
          const kind = `${row.start} ${hour} ${row.event_group} ${row.event_type} ${row.risk_tier}`;
          events.set(kind, (events.get(kind) ?? 0) + count);
        }
      }
      return Object.fromEntries([...events].sort());
    };
    expect(totals(ACTIVITY_OF_ALL)).toEqual(totals(ACTIVITY));
    const counts = new Map<string, number>();
    for (const { start, asset_id, event_type, events } of rows(ACTIVITY)) {
      const name = `${start} ${asset_id} ${event_type}`;
      counts.set(name, (counts.get(name) ?? 0) + Number(events));
    }
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(history.activity));
  });
});
