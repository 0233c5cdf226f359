import { expect, test } from "bun:test";
import { createInMemoryView } from "../../../test/projections/in-memory-view.ts";
import { messageOf } from "../../../test/projections/records.ts";
import { eventsProjection } from "../events/evolve.ts";
import { sourcesProjection } from "./evolve.ts";
import { SOURCES } from "./tables.ts";

type Said = readonly [hour: string, event_type: string, metadata: object];

const MADE = "decision.automated_decision_made";

const sourcesAfter = async (...said: readonly Said[]) => {
  const view = createInMemoryView(eventsProjection, sourcesProjection);
  for (const [index, [hour, event_type, metadata]] of said.entries()) {
    const letters = await view.take([
      messageOf(index + 1, {
        event: {
          event_id: `evt_${index}`,
          event_type,
          timestamp: `2026-11-20T${hour}:00:00Z`,
          asset_id: "a",
          metadata: { source_id: "s", ...metadata },
        },
      }),
    ]);
    expect(letters).toEqual([]);
  }
  return view.rows(SOURCES);
};

test("a source was last heard of at its latest time, and only heartbeats give its state", async () => {
  const rows = await sourcesAfter(
    ["10", "sdk.heartbeat", { queue_depth: 3, sdk_version: "0.1.0", sdk_language: "go" }],
    ["12", MADE, { queue_depth: 9, last_source_sequence: 5 }],
    ["11", MADE, {}],
  );
  expect(rows).toMatchObject([
    {
      last_at: "2026-11-20T12:00:00",
      heartbeat_at: "2026-11-20T10:00:00",
      heartbeat: '{"queue_depth":3,"sdk_version":"0.1.0","sdk_language":"go"}',
      missing: 0,
    },
  ]);
});

test("a heartbeat shows texts and numbers, but no other values and no numbers too large for a double", async () => {
  const view = createInMemoryView(eventsProjection, sourcesProjection);
  const metadata = `{"source_id":"s","queue_depth":1e400,"outbox_depth":"none","dropped":true,"circuit_state":2}`;
  const event = `{"event_id":"evt_1","event_type":"sdk.heartbeat","timestamp":"2026-11-20T10:00:00Z","asset_id":"a","metadata":${metadata}}`;
  expect(await view.take([messageOf(1, { event })])).toEqual([]);
  expect(view.rows(SOURCES)).toMatchObject([{ heartbeat: '{"outbox_depth":"none","circuit_state":2}' }]);
});

test("a value that cannot be an event's number is ignored", async () => {
  const wrong = [0, -1, 1.5, 2 ** 53, "1", null].map(
    (source_sequence): Said => ["10", MADE, { source_sequence }],
  );
  expect(await sourcesAfter(...wrong)).toMatchObject([{ last_number: 0, received: 0, missing: 0 }]);
});

test("an announced number that has arrived says nothing about the numbers after it", async () => {
  const rows = await sourcesAfter(
    ["10", "sdk.heartbeat", { last_source_sequence: 5 }],
    ["11", MADE, { source_sequence: 5 }],
    ["12", MADE, { source_sequence: 7 }],
  );
  expect(rows).toMatchObject([{ last_number: 7, received: 2, missing: 5, announced: "[]" }]);
});
