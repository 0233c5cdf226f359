import { expect, test } from "bun:test";
import { statusOf } from "../../src/service/view-care.ts";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { ledgerProjection } from "../../src/views/ledger/evolve.ts";
import { createArrayLog } from "./array-log.ts";
import { messageOf } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

test("no view is ahead of a log that grows while it is read", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const projections = [eventsProjection, ledgerProjection] as const;
  for (const projection of projections) await views.open(projection);
  const log = createArrayLog();
  let end = 0;
  const come = (): number => {
    end++;
    log.append(messageOf(end, { event: { event_id: `evt_${end}` } }));
    return end;
  };
  // Projected at once, whenever somebody asks for a position.
  const status = await statusOf({ log, views: { ...views, position: async () => come() }, projections });
  expect(status).toEqual({
    last_sequence: 2,
    views: [
      { name: "events", position: 1, behind: 1, dead_letters: 0 },
      { name: "ledger", position: 2, behind: 0, dead_letters: 0 },
    ],
  });
});
