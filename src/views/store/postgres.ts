/**
 * Views in a PostgreSQL database of their own.
 *
 * One connection writes, others read: each statement sees only whole commits, even while one is being written. The database is contacted when it is
 * needed: while it is away, calls reject, and they work again when it is back.
 */
import { VIEW_QUERY_MS_MAX, VIEW_READ_CONNECTIONS_MAX } from "../../limits.ts";
import type { QueryParameter } from "./conditions.ts";
import { type Connection, createConnection, leastBusy, type RunSql } from "./postgres-connection.ts";
import { constraintMessage, DatabaseError, isLockTimeout } from "./postgres-errors.ts";
import { loadStatement, POSTGRES, writeStatements } from "./postgres-writes.ts";
import { createStoredViews, type Reading, type Writing } from "./stored-views.ts";
import { among, fromStored, sqlName, tableDdl, toStored } from "./tables.ts";
import { postgresMatchText, postgresTextIndexDdl } from "./text-index.ts";
import { ViewsMissingError } from "./unavailable.ts";
import { OWN_TABLES, type ViewStore } from "./view-store.ts";

export const createPostgresViews = ({ url }: { readonly url: string }): ViewStore => {
  const writer = createConnection(url);
  const readers = Array.from({ length: VIEW_READ_CONNECTIONS_MAX }, () => createConnection(url));
  const snapshots = createSnapshots(url);
  let isReady = false;
  const ready = untilDone(async () => {
    await writer.transaction((run) => prepareDatabase(writingWith(run)));
    isReady = true;
  });
  const read: RunSql = (sql, params) => leastBusy(readers).run(sql, params);
  /** A program that only looks may have the wrong database: it must create nothing there, and finds nothing. */
  const readOwn: RunSql = (sql, params) => {
    const wasReady = isReady;
    return read(sql, params).catch((error: unknown) => {
      if (wasReady || !(error instanceof ViewsMissingError)) throw error;
      return { rows: [], command: "SELECT" };
    });
  };
  const views = createStoredViews({
    reading: readingWith(read),
    own: readingWith(readOwn),
    ready,
    transaction: (work) => writer.transaction((run) => work(writingWith(run))),
    snapshot: (tables, visit) => snapshots.take(tables, visit),
    tableDdl: (table) => tableDdl(table, POSTGRES),
    textIndexDdl: postgresTextIndexDdl,
    lockingRows: " FOR UPDATE",
    lockSchema: [`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`],
    lockTables: (tables) => (tables.length === 0 ? [] : [lock(tables, "ACCESS EXCLUSIVE")]),
    beforeReplacing: [`SET LOCAL lock_timeout = ${REPLACE_LOCK_MS}`],
    constraintMessage,
    giveUp: () => {
      for (const each of [writer, ...readers, snapshots]) each.giveUp();
    },
    close: async () => {
      await Promise.all([writer, ...readers].map((each) => each.close()));
    },
  });
  return {
    ...views,
    replace: (replacement) =>
      views.replace(replacement).catch((error: unknown) => {
        if (isLockTimeout(error)) return "in_use";
        throw error;
      }),
  };
};

const readingWith = (run: RunSql): Reading => ({
  rows: async (sql, values = []) => (await run(numbered(sql), values.map(toStored))).rows,
  load: async (...asked) => {
    const { sql, params } = loadStatement(...asked);
    const { rows } = await run(numbered(sql), params);
    return rows.map(fromStored);
  },
  select: async ({ inPostgres: { sql, params } }) => {
    const { rows } = await run(numbered(sql), params.map(parameterText));
    return rows.map(fromStored);
  },
});

const writingWith = (run: RunSql): Writing => ({
  ...readingWith(run),
  write: async (writes) => {
    let running: Promise<unknown> | undefined;
    for await (const { sql, params } of writeStatements(writes)) {
      await running;
      running = run(numbered(sql), params, "once");
      running.catch(() => undefined);
    }
    await running;
  },
  // As one message: with single statements, a view with many tables takes a third longer to make (measured).
  define: async (statements) => {
    if (statements.length > 0) await run(statements.join("; "));
  },
});

const numbered = (sql: string): string => {
  let count = 0;
  return sql.replaceAll("?", () => `$${++count}`);
};

const parameterText = (parameter: QueryParameter): string | number =>
  typeof parameter === "object" ? postgresMatchText(parameter) : toStored(parameter);

const lock = (tables: readonly string[], mode: "ACCESS EXCLUSIVE" | "ACCESS SHARE"): string =>
  `LOCK TABLE ${tables.map(sqlName).join(", ")} IN ${mode} MODE`;

/** Each snapshot has a connection of its own, because its transaction stays open as long as the caller looks at it. */
const createSnapshots = (url: string) => {
  const used = new Set<Connection>();
  let isGivenUp = false;
  return {
    take: async <Result>(tables: readonly string[], visit: (at: Reading) => Promise<Result>) => {
      const connection = createConnection(url);
      if (isGivenUp) connection.giveUp();
      used.add(connection);
      try {
        return await connection.transaction(async (run) => {
          await run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
          // Before the first query: tables are found by name, and another table could have that name later.
          await run(lock(tables, "ACCESS SHARE"));
          // It locks no row, and a caller that compares may be busy with what it has read.
          await run(`SET LOCAL idle_in_transaction_session_timeout = ${VIEW_QUERY_MS_MAX}`);
          return { result: await visit(readingWith(run)), keep: false };
        });
      } finally {
        used.delete(connection);
        await connection.close();
      }
    },
    giveUp: (): void => {
      isGivenUp = true;
      for (const connection of used) connection.giveUp();
    },
  };
};

const REPLACE_LOCK_MS = 200;

/** Runs once until it has succeeded, and for all callers that wait at the same time. */
const untilDone = (work: () => Promise<unknown>): (() => Promise<unknown>) => {
  let done: Promise<unknown> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
};

/** Any number that no other program on the database uses: its exclusive holder may create and drop tables. */
const SCHEMA_LOCK = 7_266_834_901;

const prepareDatabase = async (at: Writing) => {
  const [encoding] = await at.rows(
    "SELECT pg_encoding_to_char(encoding) AS name FROM pg_database WHERE datname = current_database()",
  );
  if (encoding?.name !== "UTF8") throw new DatabaseError("the database must have the encoding UTF8");
  await at.define([`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`]);
  const names = OWN_TABLES.map(({ name }) => name);
  const found = await at.rows(
    `SELECT relname FROM pg_class WHERE oid = to_regclass(relname) AND ${among("relname", names)}`,
    names,
  );
  const missing = OWN_TABLES.filter(({ name }) => !found.some(({ relname }) => relname === name));
  await at.define(missing.flatMap((table) => tableDdl(table, POSTGRES)));
  // Fails if this server accepts no writes, even if all tables exist: a start waits for that.
  await at.rows("SELECT 1 FROM views WHERE false FOR UPDATE");
  return { result: undefined, keep: true };
};
