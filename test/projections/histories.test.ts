/** Registers, clocks and figures against the answers that the generator of the histories knows. */
import { describe, expect, test } from "bun:test";
import { ACTIVITY, ACTIVITY_OF_ALL, HOURS } from "../../src/projections/activity/tables.ts";
import { ASSETS } from "../../src/projections/assets/tables.ts";
import { COVERAGE } from "../../src/projections/cases/registers/coverage.ts";
import { DECISIONS } from "../../src/projections/cases/registers/decisions.ts";
import { INCIDENTS } from "../../src/projections/cases/registers/incidents.ts";
import { OBJECTIONS } from "../../src/projections/cases/registers/objections.ts";
import { OBLIGATIONS } from "../../src/projections/cases/registers/obligations.ts";
import { PROJECTIONS } from "../../src/projections/registry.ts";
import { SOURCE_GAPS, SOURCES } from "../../src/projections/sources/tables.ts";
import type { Row, Table } from "../../src/views/tables.ts";
import { asTheyArrive, type History, makeHistory } from "../support/histories.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";

const projected = async (history: History, seed: number) => {
  const view = createInMemoryView(...PROJECTIONS);
  const messages = asTheyArrive(history.events, seed).map((event, index) => messageOf(index + 1, { event }));
  for (let start = 0; start < messages.length; start += 500)
    expect(await view.take(messages.slice(start, start + 500))).toEqual([]);
  return view;
};

/** Time columns hold text without the zone. */
const withZone = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith("_at") && typeof value === "string" ? `${value}Z` : value,
    ]),
  );

describe.each([1, 2, 3])("history %i", async (seed) => {
  const history = makeHistory({ seed, assets: 8, cases: 40 });
  const view = await projected(history, seed + 100);
  const rows = (table: Table) => view.rows(table).map(withZone);

  const expectRegister = (table: Table, key: string, known: readonly object[]): void => {
    const byKey = new Map(rows(table).map((row) => [row[key], row]));
    expect(byKey.size).toBe(known.length);
    for (const entry of known) {
      const name: unknown = Object.entries(entry).find(([member]) => member === key)?.[1];
      expect(byKey.get(String(name))).toMatchObject(entry);
    }
  };

  test("happens as told: there is something of everything", () => {
    expect(history.events.length).toBeGreaterThan(800);
    expect(history.objections.length).toBeGreaterThan(50);
    expect(new Set(history.duties.map(({ status }) => status)).size).toBe(3);
    expect(
      new Set(history.duties.map(({ obligation_id }) => obligation_id.split(":")[0])).size,
    ).toBeGreaterThan(6);
  });
  test("decisions", () => expectRegister(DECISIONS, "decision_id", history.decisions));
  test("objections", () => expectRegister(OBJECTIONS, "objection_id", history.objections));
  test("duties and their clocks", () => expectRegister(OBLIGATIONS, "obligation_id", history.duties));
  test("incidents", () => expectRegister(INCIDENTS, "incident_id", history.incidents));
  test("assets", () => expectRegister(ASSETS, "asset_id", history.assets));
  test("coverage", () => {
    const found = rows(COVERAGE).filter(({ required }) => required !== 0);
    const figures = found.map(
      ({ asset_id, law, duty, required, in_time, late }) =>
        [`${asset_id} ${law} ${duty}`, { required, in_time, late }] as const,
    );
    expect(Object.fromEntries(figures)).toEqual(Object.fromEntries(history.coverage));
  });
  test("gaps of numbering senders", () => {
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
  test("activity by day", () => {
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
