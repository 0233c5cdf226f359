import { expect, test } from "bun:test";
import { createMemoryKeyStore } from "../../test/access/memory-key-store.ts";
import { createArrayLog } from "../../test/projections/array-log.ts";
import { createSqliteDatabase } from "../../test/projections/sqlite-database.ts";
import { KEYS_GONE, type KeyReadiness } from "../access/key-store.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { createReadiness } from "./health.ts";

/** Connected, and never asked itself. */
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

test("whatever keeps the log from being written is told, all of it, also where views do not matter", async () => {
  await using database = createSqliteDatabase();
  await using views = database.connect();
  let problems: { readonly streams?: string; readonly logKeeper?: string; readonly logGuard?: string } = {};
  let keys: KeyReadiness = { kind: "stale", ageMs: 61_400 };
  let looks = 0;
  let isReadable = true;
  const { reasons, reasonsWithoutViews } = createReadiness({
    connection,
    streams: { problem: () => problems.streams, watch: () => ({ [Symbol.dispose]: () => {} }) },
    logKeeper: { problem: () => problems.logKeeper, [Symbol.dispose]: () => {} },
    logGuard: { problem: () => problems.logGuard },
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
  });
  const stale = "The keys were last known to be complete 61 s ago.";
  expect(await reasons()).toEqual([stale, KEYS_GONE]);
  keys = { kind: "ready" };
  problems = { streams: "another", logKeeper: "stores nothing", logGuard: "could lose events" };
  isReadable = false;
  const all = [
    "another",
    "stores nothing",
    "could lose events",
    KEYS_GONE,
    "The event log could not be read.",
  ];
  looks = 0;
  // Who asks meanwhile is told what is asked already: a database that is away must not gather questions.
  expect([await Promise.all([reasons(), reasons()]), looks]).toEqual([[all, all], 1]);
  expect((await reasonsWithoutViews()).toSorted()).toEqual(
    [...all, "The event log does not say in time where it ends."].toSorted(),
  );
});
