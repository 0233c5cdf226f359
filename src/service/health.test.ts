import { expect, test } from "bun:test";
import { createMemoryKeyStore } from "../../test/access/memory-key-store.ts";
import { createArrayLog } from "../../test/projections/array-log.ts";
import { createSqliteDatabase } from "../../test/projections/sqlite-database.ts";
import { KEYS_GONE, type KeyReadiness } from "../access/key-store.ts";
import type { Readiness } from "../api/http/dependencies.ts";
import {
  DISK_FREE_BYTES_LOW,
  MONITOR_FAILING_MS_MAX,
  MONITOR_ROUND_MS_MAX,
  OTHER_STALL_MS_MAX,
  UNSEALED_MS_MAX,
} from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { createViewReadiness } from "../views/kit/view-readiness.ts";
import { VIEWS_MISSING, ViewsMissingError } from "../views/store/unavailable.ts";
import { createReadiness, type Work, workTroubles } from "./health.ts";
import { blocking, type HealthReasonId, type Trouble, warning } from "./health-reasons.ts";

const connection = { isConnected: () => true };

const IDLE = {
  countsStall: () => undefined,
  copyProblem: async () => undefined,
  diskFree: async () => 2 ** 40,
  now: () => new Date(),
};

test("readiness names every reason why the log cannot be written, even if views do not matter", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  let keys: KeyReadiness = { kind: "stale", ageMs: 61_400 };
  let troubles: readonly Trouble[] = [];
  let looks = 0;
  let isReadable = true;
  const readiness = createReadiness({
    connection,
    watches: [{ troubles: () => troubles.slice(0, 2) }, { troubles: () => troubles.slice(2) }],
    keyBucket: { ...createMemoryKeyStore(), readiness: () => keys },
    log: {
      ...createArrayLog(),
      lastSequence: async () => {
        looks++;
        if (!isReadable) throw new LogUnavailableError("The event log could not be read.");
        return 0;
      },
    },
    views,
    projections: [],
    viewReadiness: { look: async () => new Map(), forget: () => {}, older: new Map() },
    work: IDLE,
  });
  const blockingOf = async (found: ReturnType<Readiness["reasons"]>): Promise<readonly string[]> =>
    (await found).filter(({ isBlocking }) => isBlocking).map(({ detail }) => detail);
  const reasons = () => blockingOf(readiness.reasons());
  const stale = "The keys were last confirmed 61 s ago.";
  expect(await reasons()).toEqual([stale, KEYS_GONE]);
  keys = { kind: "ready" };
  isReadable = false;
  troubles = [
    blocking("no_quorum", "1 of 3 answers.", "Start the others."),
    warning("stream_short", "two copies"),
    blocking("log_misconfigured", "could lose events"),
    blocking("streams_wrong", "another"),
    blocking("log_stalled", "stores nothing"),
  ];
  const all = [
    "1 of 3 answers. Start the others.",
    "could lose events",
    "another",
    "stores nothing",
    KEYS_GONE,
    "The event log could not be read.",
  ];
  looks = 0;
  // Simultaneous requests share one look, so that questions do not pile up while a database is away.
  expect([await Promise.all([reasons(), reasons()]), looks]).toEqual([[all, all], 1]);
  expect((await readiness.reasons()).map(({ id }) => id)).toEqual([
    "no_quorum",
    "stream_short",
    "log_misconfigured",
    "streams_wrong",
    "log_stalled",
    "keys_incomplete",
    "log_silent",
  ]);
  expect((await blockingOf(readiness.reasonsWithoutViews())).toSorted()).toEqual(
    [...all.slice(0, -1), "The log did not report its end in time."].toSorted(),
  );
});

test("a view that is being built is not ready, but a view that is only behind is", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  const view = (name: string) => ({
    name,
    version: 1,
    tables: [],
    stateKeys: () => [],
    evolve: () => ({ writes: [] }),
  });
  const [made, behind] = [view("made"), view("behind")];
  const move = async ({ name, version }: typeof made, to: number): Promise<void> => {
    const from = await views.position(name);
    const moved = { views: [{ name, version, tables: [] }], from, to, writes: [], deadLetters: [] };
    expect(await views.commit(moved)).toEqual({ kind: "committed" });
  };
  const keyBucket = createMemoryKeyStore();
  await keyBucket.createAdmin({ secret_hash: "", created_at: "2026-11-26T00:00:00Z" });
  let last = 3000;
  let isEmptied = false;
  const log = { ...createArrayLog(), lastSequence: async () => last };
  const readiness = createReadiness({
    connection,
    watches: [],
    keyBucket,
    log,
    views: {
      ...views,
      load: (...asked) =>
        isEmptied
          ? Promise.reject(new ViewsMissingError('relation "views" does not exist'))
          : views.load(...asked),
    },
    projections: [made, behind],
    viewReadiness: createViewReadiness({ views, log, projections: [made, behind] }),
    work: IDLE,
  });
  const reasons = async () => (await readiness.reasons()).map(({ detail }) => detail);
  for (const each of [made, behind]) await views.open(each);
  await move(behind, 1);
  const notMade = (name: string, last: number) =>
    `The view ${name} is at record 0 of ${last}, and is read once it reaches the last.`;
  expect(await reasons()).toEqual([notMade("made", 3000)]);
  last = 40_000;
  await move(made, 3000);
  expect(await reasons()).toEqual([]);
  // The database was emptied, and another process makes the views.
  isEmptied = true;
  expect(await reasons()).toEqual([VIEWS_MISSING]);
  await views.drop(made.name);
  await views.open(made);
  isEmptied = false;
  expect(await reasons()).toEqual([notMade("made", last)]);
  await views.drop(behind.name);
  expect(await reasons()).toEqual([expect.stringContaining("Missing: behind. "), notMade("made", last)]);
  await views.open(behind);
  expect(await reasons()).toEqual([notMade("made", last), notMade("behind", last)]);
});

const NOW = new Date("2026-11-29T10:00:00Z");
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);

/** Everything at its bound, which is still well. */
const work = (changes: {
  readonly unsealedMs?: number;
  readonly roundAt?: Date;
  readonly failingMs?: number;
  readonly free?: number;
  readonly stalledMs?: number;
  readonly copy?: string;
}): Work => {
  const { unsealedMs = UNSEALED_MS_MAX, roundAt, failingMs = MONITOR_FAILING_MS_MAX } = changes;
  return {
    sealer: {
      unsealedMs: async () => unsealedMs,
      unsealedMsMax: UNSEALED_MS_MAX,
      monitor: () => ({
        startedAt: ago(MONITOR_ROUND_MS_MAX),
        roundAt,
        failing: { since: ago(failingMs), detail: "TIMEOUT" },
      }),
    },
    countsStall: () => ({ lastedMs: changes.stalledMs ?? OTHER_STALL_MS_MAX - 1, agoMs: 0 }),
    copyProblem: async () => changes.copy,
    diskFree: async () => changes.free ?? DISK_FREE_BYTES_LOW,
    now: () => NOW,
  };
};

const CASES: readonly (readonly [HealthReasonId, Parameters<typeof work>[0]])[] = [
  ["sealer_behind", { unsealedMs: UNSEALED_MS_MAX + 1 }],
  ["monitor_late", { roundAt: ago(MONITOR_ROUND_MS_MAX + 1) }],
  ["monitor_cannot_read", { failingMs: MONITOR_FAILING_MS_MAX + 1 }],
  ["counts_not_kept", { stalledMs: OTHER_STALL_MS_MAX }],
  ["heads_copy_unavailable", { copy: "HEADS_COPY cannot be used: ENOENT." }],
  ["disk_low", { free: DISK_FREE_BYTES_LOW - 1 }],
];

test("work that is as late as it may be is no reason", async () => {
  expect(await workTroubles(work({}))).toEqual([]);
});

test.each(CASES)("%s is a warning: the instance goes on serving", async (id, changes) => {
  const found = await workTroubles(work(changes));
  expect(found).toMatchObject([{ id, detail: expect.stringMatching(/^[A-Z].*[.!]$/), isBlocking: false }]);
});

test("what cannot be asked in time, or is not done here, is no reason", async () => {
  const { countsStall, copyProblem, now } = work({});
  const diskFree = async () => Promise.reject(new Error("no such folder"));
  expect(await workTroubles({ countsStall, copyProblem, diskFree, now })).toEqual([]);
});
