/** Which events of a request the log holds already. Each database runs it (test/projections/events-search.test.ts). */
import { describe, expect, test } from "bun:test";
import { findEarlier } from "../../src/views/events/earlier.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { tombstoneWrites } from "../../src/views/events/expiry.ts";
import { EVENTS } from "../../src/views/events/tables.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { base, eventsView } from "./events-search.ts";
import type { ViewDatabase } from "./view-store.ts";

/** Some of them are texts that SQL or a database text could misread. */
const IDS = [
  "evt_plain",
  "evt_' OR 1=1 --",
  "evt_%_?$1",
  "evt_\u00e9\ud83d\ude00",
  "0198c0de-0000-7000-8000-0000000000ab",
];

const recordsOf = (ids: readonly string[], tenant = "acme") =>
  ids.map((event_id) => ({ tenant, event: { ...base, event_id } }));

const expire = async (views: ViewStore, eventId: string): Promise<void> => {
  const [row] = await views.load(EVENTS, [{ tenant: "acme", event_id: eventId }]);
  if (!row) throw new Error("there is no such event");
  const writes = tombstoneWrites(row, "2027-01-01T00:00:00Z");
  expect(await views.revise({ views: [eventsProjection], expected: [], writes })).toEqual({
    kind: "revised",
  });
};

export const earlierEventsSuite = (
  name: string,
  create: () => Promise<ViewDatabase> | ViewDatabase,
): void => {
  describe(`events that were sent before, in ${name}`, () => {
    test("each event is found under its sequence, expired or not, and none of another tenant", async () => {
      const records = [...recordsOf(IDS), ...recordsOf(["evt_theirs"], "globex")];
      await using at = await eventsView(create, records);
      await expire(at.views, "evt_plain");
      const search = { views: at.views, upTo: records.length, timeoutMs: 0 };
      const find = (tenant: string, eventIds: readonly string[]) =>
        findEarlier({ ...search, tenant, eventIds });
      const sequences = IDS.map((id, index) => [id, index + 1] as const);
      expect(await find("acme", [...IDS, "evt_theirs", "evt_new", "evt_plain"])).toEqual(new Map(sequences));
      expect(await find("globex", ["evt_theirs", "evt_plain"])).toEqual(new Map([["evt_theirs", 6]]));
      expect(await find("acme", [])).toEqual(new Map());
    });

    test("a view that is behind, or that replaced another one meanwhile, gives no answer", async () => {
      await using at = await eventsView(create, recordsOf(["evt_there"]));
      const search = { tenant: "acme", eventIds: ["evt_missing"], timeoutMs: 0 };
      expect(await findEarlier({ ...search, views: at.views, upTo: 2 })).toBeUndefined();
      /** The view stands at 2, then one that stands at 1 replaces it, without the event at 2, and catches up with it. */
      const positions = [2, 1, 1];
      const views: Pick<ViewStore, "select" | "position"> = {
        position: async () => positions.shift() ?? 2,
        select: async (query) => (positions.length > 0 ? [] : at.views.select(query)),
      };
      const eventIds = ["evt_there"];
      const found = await findEarlier({ ...search, eventIds, views, upTo: 2, timeoutMs: 10_000 });
      expect(found).toEqual(new Map([["evt_there", 1]]));
    });
  });
};
