/** What a lane does with the batches of records that it reads. */
import { expect, test } from "bun:test";
import { eventsProjection } from "../../src/views/events/evolve.ts";
import { type Advancing, advance, type Progress } from "../../src/views/kit/advance.ts";
import { PROJECTION_RECORDS_PER_COMMIT_MAX } from "../../src/views/kit/limits.ts";
import type { RecordProjection } from "../../src/views/kit/projection.ts";
import type { ViewStore } from "../../src/views/store/view-store.ts";
import { openView } from "../suites/opened-view.ts";
import { type ArrayLog, createArrayLog } from "./array-log.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const setUp = () => openView(createSqliteDatabase, eventsProjection);

/** A full batch and a few more. */
const BATCH = PROJECTION_RECORDS_PER_COMMIT_MAX;
const LAST = BATCH + 5;
const LOG = Array.from({ length: LAST }, (_, index) =>
  messageOf(index + 1, { event: simpleEvent(`evt_${index + 1}`) }),
);

const read = async (
  { log = createArrayLog(LOG), views }: { readonly log?: ArrayLog; readonly views: ViewStore },
  projection: RecordProjection,
  { signal = new AbortController().signal, msMax = Number.POSITIVE_INFINITY } = {},
) => {
  const progress: Pick<Progress, "position" | "records">[] = [];
  const letters: unknown[] = [];
  const advancing: Advancing = {
    log,
    views,
    clock: () => new Date(),
    onProgress: ({ position, records, deadLetters }) => {
      progress.push({ position, records });
      for (const { sequence, code } of deadLetters) letters.push({ sequence, code });
    },
  };
  const bounds = { to: LAST, msMax, signal };
  const stopped = await advance(advancing, { projections: [projection], position: 0 }, bounds);
  return { stopped, progress, letters };
};

test("a projector that is behind takes batch after batch, and each sees the rows of those before it", async () => {
  await using at = await setUp();
  // The last event has the event_id of the first, which is in another batch.
  const repeat = messageOf(LAST, { event: simpleEvent("evt_1", { asset_id: "another" }) });
  const log = createArrayLog([...LOG.slice(0, -1), repeat]);
  const { stopped, progress, letters } = await read({ log, views: at.store }, eventsProjection);
  expect(stopped).toEqual({ kind: "reached" });
  expect(progress).toEqual([
    { position: BATCH, records: BATCH },
    { position: LAST, records: 5 },
  ]);
  expect(letters).toEqual([{ sequence: LAST, code: "event_id_conflict" }]);
  expect(await at.store.position("events")).toBe(LAST);
});

test("a projector whose time is over begins no further batch, so that others get a turn", async () => {
  await using at = await setUp();
  const whole = createArrayLog(LOG);
  const log: ArrayLog = { ...whole, follow: (asked) => whole.follow({ ...asked, messagesMax: 3 }) };
  const { stopped, progress } = await read({ log, views: at.store }, eventsProjection, { msMax: 0 });
  expect([stopped, progress]).toEqual([{ kind: "reached" }, [{ position: 3, records: 3 }]]);
});
