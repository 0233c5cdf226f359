import { expect, test } from "bun:test";
import { createMemoryKeyStore } from "../../test/access/memory-key-store.ts";
import { createArrayLog } from "../../test/projections/array-log.ts";
import { createSqliteDatabase } from "../../test/projections/sqlite-database.ts";
import { KEYS_GONE, type KeyReadiness } from "../access/key-store.ts";
import type { Readiness } from "../api/routes/operation.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { createMadeViews } from "../views/kit/made-views.ts";
import { VIEWS_MISSING, ViewsMissingError } from "../views/store/unavailable.ts";
import { createReadiness } from "./health.ts";
import type { Trouble } from "./health-reasons.ts";

/** Connected, and never asked directly. */
const connection: BrokerConnection = {
  get nats(): never {
    throw new Error("readiness asks the broker by the reader alone");
  },
  isConnected: () => true,
  describe: () => "",
  onChange: () => ({ [Symbol.dispose]: () => {} }),
  untilLost: (ask) => ask(),
  closeIfSilent: async () => {},
  close: async () => {},
  [Symbol.asyncDispose]: async () => {},
};

const IDLE = {
  countsStall: () => undefined,
  copyProblem: async () => undefined,
  diskFree: async () => 2 ** 40,
  now: () => new Date(),
};

test("readiness names every reason why the log cannot be written, even if views do not matter", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  let problems: { readonly streams?: string; readonly logKeeper?: string; readonly logGuard?: string } = {};
  let keys: KeyReadiness = { kind: "stale", ageMs: 61_400 };
  let troubles: readonly Trouble[] = [];
  let looks = 0;
  let isReadable = true;
  const readiness = createReadiness({
    connection,
    brokers: { state: () => ({ streams: [], usage: undefined, troubles }) },
    streams: { problem: () => problems.streams, watch: () => ({ [Symbol.dispose]: () => {} }) },
    logKeeper: { problem: () => problems.logKeeper, [Symbol.dispose]: () => {} },
    logGuard: { problem: () => problems.logGuard },
    logEnd: { reasons: () => ({ ofViews: [], ofCopy: undefined }), isKnown: () => true },
    keyBucket: { ...createMemoryKeyStore(), readiness: () => keys },
    reader: {
      ...createArrayLog(),
      lastSequence: async () => {
        looks++;
        if (!isReadable) throw new LogUnavailableError("The event log could not be read.");
        return 0;
      },
    },
    views,
    projections: [],
    madeViews: { look: async () => new Map(), forget: () => {} },
    work: IDLE,
  });
  const blockingOf = async (found: ReturnType<Readiness["reasons"]>): Promise<readonly string[]> =>
    (await found).filter(({ isBlocking }) => isBlocking).map(({ detail }) => detail);
  const reasons = () => blockingOf(readiness.reasons());
  const stale = "The keys were last known to be complete 61 s ago.";
  expect(await reasons()).toEqual([stale, KEYS_GONE]);
  keys = { kind: "ready" };
  problems = { streams: "another", logKeeper: "stores nothing", logGuard: "could lose events" };
  isReadable = false;
  const trouble = { id: "no_quorum", detail: "1 of 3 answers.", advice: "Start the others." } as const;
  troubles = [
    { ...trouble, isBlocking: true },
    { ...trouble, id: "stream_short", isBlocking: false },
  ];
  const all = [
    "1 of 3 answers. Start the others.",
    "another",
    "stores nothing",
    "could lose events",
    KEYS_GONE,
    "The event log could not be read.",
  ];
  looks = 0;
  // Simultaneous requests share one look, so that questions do not pile up while a database is away.
  expect([await Promise.all([reasons(), reasons()]), looks]).toEqual([[all, all], 1]);
  expect((await readiness.reasons()).map(({ id }) => id)).toEqual([
    "no_quorum",
    "stream_short",
    "streams_wrong",
    "log_stalled",
    "log_misconfigured",
    "keys_incomplete",
    "log_silent",
  ]);
  expect((await blockingOf(readiness.reasonsWithoutViews())).toSorted()).toEqual(
    [...all, "The event log does not say in time where it ends."].toSorted(),
  );
});

test("a view that is being built must reach the end that the log had, but a view that is only behind need not", async () => {
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
    brokers: { state: () => ({ streams: [], usage: undefined, troubles: [] }) },
    streams: { problem: () => undefined, watch: () => ({ [Symbol.dispose]: () => {} }) },
    logKeeper: { problem: () => undefined, [Symbol.dispose]: () => {} },
    logGuard: { problem: () => undefined },
    logEnd: { reasons: () => ({ ofViews: [], ofCopy: undefined }), isKnown: () => true },
    keyBucket,
    reader: log,
    views: {
      ...views,
      load: (...asked) =>
        isEmptied
          ? Promise.reject(new ViewsMissingError('relation "views" does not exist'))
          : views.load(...asked),
    },
    projections: [made, behind],
    madeViews: createMadeViews({ views, log }),
    work: IDLE,
  });
  const reasons = async () => (await readiness.reasons()).map(({ detail }) => detail);
  for (const each of [made, behind]) await views.open(each);
  await move(made, 1499);
  await move(behind, 1500);
  const isMade = (at: number) => [
    `The view made is at record ${at} of 3000, and is read when it has the last of them.`,
  ];
  expect(await reasons()).toEqual(isMade(1499));
  last = 40_000;
  await move(made, 2999);
  expect(await reasons()).toEqual(isMade(2999));
  await move(made, 3000);
  expect(await reasons()).toEqual([]);
  const again = (name: string) =>
    `The view ${name} is at record 0 of 40000, and is read when it has the last of them.`;
  await move(behind, 30_000);
  // The database was emptied, and another process makes the views.
  isEmptied = true;
  expect(await reasons()).toEqual([VIEWS_MISSING]);
  await views.drop(made.name);
  await views.open(made);
  isEmptied = false;
  expect(await reasons()).toEqual([again("made")]);
  await views.drop(behind.name);
  expect(await reasons()).toEqual([expect.stringContaining("Not there: behind. "), again("made")]);
  await views.open(behind);
  expect(await reasons()).toEqual([again("made"), again("behind")]);
});
