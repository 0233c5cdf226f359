import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_TYPES } from "../../event/event-types.ts";
import { createEventValidator } from "../../event/validate.ts";
import { demoHistory } from "./history.ts";
import { DAY_MS, HISTORY_DAYS } from "./journal.ts";

const FIRST = Date.parse("2026-11-29T00:00:00Z");
const dayAfter = (days: number): string => new Date(FIRST + days * DAY_MS).toISOString().slice(0, 10);
const anyDay = fc.integer({ min: 0, max: 5 * 366 }).map(dayAfter);
const validate = createEventValidator({
  eventTypes: [...EVENT_TYPES, "sdk.heartbeat"],
  eventIdPrefixes: ["evt_"],
  legalBases: [],
});

describe("the history of the demo, for any day", () => {
  test("is the same for the same day", () => {
    expect(JSON.stringify(demoHistory("2026-11-29"))).toBe(JSON.stringify(demoHistory("2026-11-29")));
  });

  test("is received in order, within three months whose last hour, before that day's midnight, is not empty, and nothing is received before it happened", () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const end = Date.parse(`${day}T00:00:00Z`);
        let before = end - HISTORY_DAYS * DAY_MS;
        for (const { receivedAt, event } of demoHistory(day).entries) {
          const at = receivedAt.getTime();
          expect(at).toBeGreaterThanOrEqual(before);
          expect(at).toBeGreaterThanOrEqual(Date.parse(event.timestamp));
          before = at;
        }
        expect(end - before).toBeWithin(1, DAY_MS / 24);
      }),
      { numRuns: 25 },
    );
  });

  test("holds valid events with ids of their own, about 2,000 of 5 systems: 600 decisions, 80 objections", () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const events = demoHistory(day).entries.map(({ event }) => event);
        for (const event of events) expect(validate(event, FIRST).kind).toBe("valid");
        expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
        expect(new Set(events.map(({ asset_id }) => asset_id)).size).toBe(5);
        const count = (type: string) => events.filter(({ event_type }) => event_type === type).length;
        for (const [found, about] of [
          [events.length, 2000],
          [count("decision.automated_decision_made"), 600],
          [count("objection.received"), 80],
        ] as const)
          expect(Math.abs(found - about) / about).toBeLessThan(0.1);
      }),
      { numRuns: 25 },
    );
  });
});
