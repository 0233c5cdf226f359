/** Clocks and figures, compared with the answers that the generator of the histories knows. Its registers: test/suites/registers.ts. */
import { describe, expect, test } from "bun:test";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { coverageAtTime } from "../support/histories/known-history.ts";
import { makeHistory } from "../support/histories.ts";
import { coverageAt, expectedBeside, figuresOf, project } from "./coverage-view.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

/** The time at which the obligations are read. */
const NOW = new Date("2026-12-15T12:00:00Z");

describe.each([1, 2, 3])("history %i", (seed) => {
  const history = makeHistory({ seed, assets: 8, cases: 40, now: NOW });
  const messages = asTheyArrive(history.events, seed + 100).map((event, index) =>
    messageOf(index + 1, { event }),
  );

  test("every obligation falls due when its law says, and is met, met late, breached or open as the history says", async () => {
    const view = createInMemoryView(...PROJECTIONS);
    for (let start = 0; start < messages.length; start += 500)
      expect(await view.take(messages.slice(start, start + 500))).toEqual([]);
    const found = new Map(view.rows(OBLIGATIONS).map((row) => [row.obligation_id, row]));
    expect(found.size).toBe(history.duties.length);
    // The columns hold times without their zone.
    for (const { due_at, ...duty } of history.duties)
      expect(found.get(duty.obligation_id)).toMatchObject({ ...duty, due_at: due_at.replace(/Z$/, "") });
    expect(new Set(history.duties.map(({ status }) => status)).size).toBe(4);
    const rules = new Set(history.duties.map(({ obligation_id }) => obligation_id.split(":")[0]));
    expect(rules.size).toBeGreaterThan(6);
  });

  test("coverage counts what was done in time, late or not at all, at any time of asking", async () => {
    await using database = createSqliteDatabase();
    await using store = database.connect();
    await project(store, messages, 500);
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
});
