import { expect, test } from "bun:test";
import { createInMemoryView } from "../../../test/projections/in-memory-view.ts";
import { messageOf, simpleEvent } from "../../../test/projections/records.ts";
import { eventsProjection } from "../events/evolve.ts";
import { ledgerProjection } from "./evolve.ts";
import { LEDGER } from "./tables.ts";

const at = (hour: string, minutes: string) => `2026-11-20T${hour}:${minutes}:00.000Z`;

/** Records of two tenants and two hours in mixed order: some are repeats, and one has no event_id. */
const MESSAGES = [
  messageOf(1, { event: simpleEvent("evt_1"), receivedAt: at("10", "58") }),
  messageOf(2, { event: simpleEvent("evt_1"), receivedAt: at("10", "58"), tenant: "globex" }),
  messageOf(3, { event: simpleEvent("evt_2"), receivedAt: at("11", "00") }),
  messageOf(4, { event: simpleEvent("evt_1"), receivedAt: at("10", "59") }),
  messageOf(5, { event: {}, receivedAt: at("11", "00") }),
  messageOf(6, { event: simpleEvent("evt_3"), receivedAt: at("11", "01") }),
  messageOf(7, { event: simpleEvent("evt_1"), receivedAt: at("11", "02"), tenant: "globex" }),
  messageOf(8, { event: simpleEvent("evt_3"), receivedAt: at("11", "02") }),
];

const hour = (
  tenant: string,
  of: string,
  [records, repeated, malformed]: readonly [number, number, number],
  [first, last]: readonly [number, number],
) => ({
  tenant,
  hour: `2026-11-20T${of}`,
  ...{ records, repeated, malformed, first_sequence: first, last_sequence: last },
});

test.each([1, 2, 3, 8])("every record counts in its hour, in groups of %d too", async (size) => {
  const view = createInMemoryView(eventsProjection, ledgerProjection);
  for (let start = 0; start < MESSAGES.length; start += size)
    await view.take(MESSAGES.slice(start, start + size));
  expect(view.rows(LEDGER)).toEqual([
    hour("acme", "10", [2, 1, 0], [1, 4]),
    hour("acme", "11", [4, 1, 1], [3, 8]),
    hour("globex", "10", [1, 0, 0], [2, 2]),
    hour("globex", "11", [1, 1, 0], [7, 7]),
  ]);
});
