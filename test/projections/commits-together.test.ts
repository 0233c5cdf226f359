/** Several groups of records in one transaction, as SQLite supports it. */
import { expect, test } from "bun:test";
import { eventsProjection } from "../../src/projections/events/evolve.ts";
import { EVENTS } from "../../src/projections/events/tables.ts";
import { createLaneReading } from "../../src/projections/lane.ts";
import type { Progress } from "../../src/projections/lane-mover.ts";
import {
  PROJECTION_RECORDS_BEFORE_COMMIT_MAX,
  PROJECTION_RECORDS_PER_GROUP_MAX,
} from "../../src/projections/limits.ts";
import type { RecordProjection } from "../../src/projections/projection.ts";
import { rowInteger } from "../../src/views/tables.ts";
import type { CommitResult, ViewCommit, ViewStore, Write } from "../../src/views/view-store.ts";
import { openView } from "../suites/opened-view.ts";
import { type ArrayLog, createArrayLog } from "./array-log.ts";
import { messageOf, simpleEvent } from "./records.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";

const setUp = () => openView(createSqliteDatabase, eventsProjection);

const rowOf = (sequence: number) => ({
  tenant: "acme",
  event_id: `evt_${sequence}`,
  sequence,
  received_at: "2026-11-20T10:00:00.000Z",
  request_id: "0",
  received: "2026",
  occurred: "2026",
  retention_class: "",
  counted_from: "2026",
  expired_at: null,
  event: "{}",
});

const commitOf = (from: number, ...sequences: readonly number[]): ViewCommit => ({
  views: [eventsProjection],
  from,
  to: from + sequences.length,
  writes: sequences.map((sequence): Write => ({ kind: "insert", table: EVENTS, row: rowOf(sequence) })),
  deadLetters: [],
});

const keyOf = (sequence: number) => ({ tenant: "acme", event_id: `evt_${sequence}` });

const sequencesIn = async ({ load }: Pick<ViewStore, "load">, ...sequences: readonly number[]) =>
  (await load(EVENTS, sequences.map(keyOf))).map((row) => rowInteger(row, "sequence"));

test("of commits in one transaction each sees those before it, and others see them only when all have succeeded", async () => {
  await using at = await setUp();
  const { store } = at;
  const seen: unknown[] = [];
  const result = await store.together?.(async (inside) => {
    await inside.commit(commitOf(0, 1, 2));
    seen.push(await sequencesIn(inside, 1, 2, 3), await sequencesIn(store, 1, 2, 3));
    seen.push(await store.position("events"));
    return inside.commit(commitOf(2, 3));
  });
  expect(result).toEqual({ kind: "committed" });
  expect(seen).toEqual([[1, 2], [], 0]);
  expect(await sequencesIn(store, 1, 2, 3)).toEqual([1, 2, 3]);
  expect(await store.position("events")).toBe(3);
});

test("if one of several commits in one transaction fails, or an action between them throws, none is kept", async () => {
  await using at = await setUp();
  const { store } = at;
  const together = (last: (commit: ViewStore["commit"]) => Promise<CommitResult>) =>
    store.together?.(async ({ commit }) => {
      await commit(commitOf(0, 1));
      return last(commit);
    });
  expect(await together((commit) => commit(commitOf(0, 2)))).toMatchObject({ kind: "superseded" });
  const outdated = { ...commitOf(1, 2), expected: [{ table: EVENTS, key: keyOf(1), row: undefined }] };
  expect(await together((commit) => commit(outdated))).toEqual({ kind: "outdated" });
  expect(await together((commit) => commit(commitOf(1, 1)))).toMatchObject({ kind: "unwritable" });
  const thrown = together(() => Promise.reject(new Error("no more")));
  await expect(thrown).rejects.toThrow("no more");
  expect(await sequencesIn(store, 1, 2)).toEqual([]);
  expect(await store.position("events")).toBe(0);
  expect(await store.commit(commitOf(0, 1))).toEqual({ kind: "committed" });
});

test("another writer waits until the whole transaction has ended, and is then too late", async () => {
  await using at = await setUp();
  await using other = at.another();
  let late: Promise<CommitResult> | undefined;
  await at.store.together?.(async ({ commit }) => {
    await commit(commitOf(0, 1));
    late = other.commit(commitOf(0, 2));
    return commit(commitOf(1, 3));
  });
  expect(await late).toEqual({ kind: "superseded", view: "events", position: 2 });
  expect(await sequencesIn(other, 1, 2, 3)).toEqual([1, 3]);
});

/** Two full groups and a few more. */
const LAST = PROJECTION_RECORDS_BEFORE_COMMIT_MAX + PROJECTION_RECORDS_PER_GROUP_MAX + 5;
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
  const reading = createLaneReading({
    log,
    views,
    clock: () => new Date(),
    onProgress: ({ position, records, deadLetters }) => {
      progress.push({ position, records });
      for (const { sequence, code } of deadLetters) letters.push({ sequence, code });
    },
  });
  const bounds = { to: LAST, msMax, signal };
  const stopped = await reading({ projections: [projection], position: 0 }, bounds);
  return { stopped, progress, letters };
};

test("a projector that is behind takes several groups at once, and each sees the writes of those before it", async () => {
  await using at = await setUp();
  // The last event has the event_id of the first, which is two groups earlier.
  const repeat = messageOf(LAST, { event: simpleEvent("evt_1", { asset_id: "another" }) });
  const log = createArrayLog([...LOG.slice(0, -1), repeat]);
  const { stopped, progress, letters } = await read({ log, views: at.store }, eventsProjection);
  expect(stopped).toEqual({ kind: "reached" });
  expect(progress).toEqual([{ position: LAST, records: LAST }]);
  expect(letters).toEqual([{ sequence: LAST, code: "event_id_conflict" }]);
  expect(await at.store.position("events")).toBe(LAST);
});

test("a projector that is behind takes only as much at once as the database has room for, and takes everything when it can", async () => {
  await using at = await setUp();
  const few = 5000;
  let isTight = true;
  const views: ViewStore = {
    ...at.store,
    commit: async (commit) => {
      const result = await at.store.commit(commit);
      if (commit.to >= 2 * few) isTight = false;
      return result;
    },
    recordsMax: () => (isTight ? few : Number.POSITIVE_INFINITY),
  };
  const { progress } = await read({ views }, eventsProjection);
  const whole = PROJECTION_RECORDS_PER_GROUP_MAX;
  expect(progress.map(({ records }) => records)).toEqual([few, few, whole, LAST - 2 * few - whole]);
});

test("a row that no table accepts costs one record, even if several groups are committed at once", async () => {
  await using at = await setUp();
  const bad = PROJECTION_RECORDS_BEFORE_COMMIT_MAX + 3;
  // The database refuses the row of the first event, which is not among the rows that were requested.
  const clash = (write: Write): Write =>
    write.kind === "insert" && write.row.sequence === bad
      ? { ...write, row: { ...write.row, event_id: "evt_1" } }
      : write;
  const faulty: RecordProjection = {
    ...eventsProjection,
    evolve: (states, records) => {
      const { writes, ...rest } = eventsProjection.evolve(states, records);
      return { ...rest, writes: writes.map(clash) };
    },
  };
  const { stopped, letters } = await read({ views: at.store }, faulty);
  expect(stopped).toEqual({ kind: "reached" });
  expect(letters).toEqual([{ sequence: bad, code: "row_refused" }]);
  expect(await sequencesIn(at.store, bad - 1, bad, bad + 1)).toEqual([bad - 1, bad + 1]);
  expect(await at.store.position("events")).toBe(LAST);
});

test("a projector that is stopped finishes and keeps the current group", async () => {
  await using at = await setUp();
  const stop = new AbortController();
  const stopping: RecordProjection = {
    ...eventsProjection,
    evolve: (states, records) => {
      if (records.some(({ sequence }) => sequence === 600)) stop.abort();
      return eventsProjection.evolve(states, records);
    },
  };
  const { progress } = await read({ views: at.store }, stopping, { signal: stop.signal });
  const group = PROJECTION_RECORDS_BEFORE_COMMIT_MAX;
  expect(progress).toEqual([{ position: group, records: group }]);
  expect(await at.store.position("events")).toBe(group);
});

test("a projector whose time is over begins no further group, so that others get a turn", async () => {
  await using at = await setUp();
  const whole = createArrayLog(LOG);
  const log: ArrayLog = { ...whole, follow: (asked) => whole.follow({ ...asked, messagesMax: 3 }) };
  const { stopped, progress } = await read({ log, views: at.store }, eventsProjection, { msMax: 0 });
  expect([stopped, progress]).toEqual([{ kind: "reached" }, [{ position: 3, records: 3 }]]);
});

test("a projector that is superseded does not compute its records again", async () => {
  await using at = await setUp();
  await at.store.commit(commitOf(0, LAST));
  let workedOut = 0;
  const counting: RecordProjection = {
    ...eventsProjection,
    evolve: (states, records) => {
      workedOut += records.length;
      return eventsProjection.evolve(states, records);
    },
  };
  const { stopped, progress } = await read({ views: at.store }, counting);
  expect(stopped).toEqual({ kind: "superseded", projection: "events" });
  expect(progress).toEqual([]);
  expect(workedOut).toBe(PROJECTION_RECORDS_BEFORE_COMMIT_MAX);
});
