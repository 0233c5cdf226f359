/**
 * One connection to PostgreSQL that is made again when it was lost, and transactions that neither overlap nor outlive it.
 *
 * The package has a pool and transactions of its own. They are not used: where a connection breaks inside one, version
 * 3.4 writes to it on, which ends the process (its issue 1208) or, after it has reconnected, goes on outside the
 * transaction (1155). Here each client of the package has one connection, and is given up when that is lost.
 */
import postgres from "postgres";
import {
  VIEW_BUSY_MS_MAX,
  VIEW_QUERY_MS_MAX,
  VIEW_STATEMENTS_CACHED_MAX,
  VIEW_WRITER_SILENT_MS_MAX,
} from "../limits.ts";
import { createTurns } from "../turns/turns.ts";
import type { Done } from "./done.ts";
import { ViewsBusyError, ViewsMissingError, ViewsUnavailableError } from "./unavailable.ts";

/** What came back: rows, and `INSERT` or `COMMIT`, which PostgreSQL calls the command. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly command: string;
}

export interface Statement {
  readonly sql: string;
  readonly params: readonly (string | number | null)[];
}

export type RunSql = (sql: string, params?: Statement["params"]) => Promise<Answer>;

export interface Connection {
  /** Queries that have no answer yet. */
  readonly waiting: number;
  /** Whether a query needs no new connection to the server. */
  readonly isOpen: boolean;
  /** Rejects with ViewsMissingError where a table is not there, or another: the database was emptied, or another version of the program has made its own. */
  readonly run: RunSql;
  /** They run one after another. Undone where the work throws; rejects as `run` does. `behindLocks`: what it will run while others wait for its locks. */
  transaction<Result>(
    work: (run: RunSql) => Promise<Done<Result>>,
    behindLocks?: readonly Statement[],
  ): Promise<Result>;
  /** Rejects what has no answer yet, and what is asked from now on. */
  giveUp(): void;
  /** After what was asked for so far. */
  close(): Promise<void>;
}

export const createConnection = (url: string): Connection => {
  const inTurn = createTurns();
  let session: Session | undefined;
  let isGivenUp = false;
  let isClosed = false;
  const current = (): Session => {
    if (isClosed) throw new DatabaseError("the connection is closed");
    if (isGivenUp) throw new ViewsUnavailableError(LOST);
    if (session === undefined || session.isLost) session = openSession(url);
    return session;
  };
  return {
    get waiting() {
      return session?.waiting ?? 0;
    },
    get isOpen() {
      return session?.isLost === false;
    },
    run: async (sql, params) => current().run(sql, params).catch(namingOtherTables),
    transaction: (work, behindLocks = []) =>
      inTurn(async () => {
        const session = current();
        await session.prepare(behindLocks);
        return inTransaction(session, work).catch(namingOtherTables);
      }),
    giveUp: () => {
      isGivenUp = true;
      session?.lose();
    },
    close: () =>
      inTurn(async () => {
        isClosed = true;
        await session?.end();
      }),
  };
};

/** Of several that wait for nothing one that is there: a server may let no further one in. */
export const leastBusy = (connections: readonly Connection[]): Connection => {
  const load = ({ waiting, isOpen }: Connection): number => waiting + (isOpen ? 0 : 0.5);
  return connections.reduce((least, each) => (load(each) < load(least) ? each : least));
};

/** An error of the database, without the values that the driver's own errors carry. */
export class DatabaseError extends Error {
  /** SQLSTATE, where the server said it. */
  readonly sqlState: string | undefined;
  constructor(message: string, sqlState?: string) {
    super(message);
    this.name = "DatabaseError";
    this.sqlState = sqlState;
  }
}

/** PostgreSQL's message where a row breaks its table, which names table and constraint and no value; else undefined. */
export const constraintMessage = (error: unknown): string | undefined =>
  error instanceof DatabaseError && error.sqlState !== undefined && BREAKS_TABLE.test(error.sqlState)
    ? error.message
    : undefined;

/** Whether it gave up waiting for somebody else's lock: lock_not_available. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof ViewsBusyError && error.sqlState === "55P03";

/**
 * Whether this server takes no writes: read_only_sql_transaction. After a failover a connection may stay with the one that follows now, and another one,
 * by the same name, come to the one that leads.
 */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof ViewsBusyError && error.sqlState === "25006";

/** Whether the user may not do what was asked: insufficient_privilege. */
export const lacksRight = (error: unknown): boolean =>
  error instanceof DatabaseError && error.sqlState === "42501";

/** Whether the statement has no meaning here: `syntax error or access rule violation`, as where a table is missing. */
const isMeaningless = (error: unknown): boolean =>
  error instanceof DatabaseError && error.sqlState?.startsWith("42") === true;

/** Where a table or a column is missing: undefined_table, undefined_column. */
const namingOtherTables = (error: unknown): never => {
  if (error instanceof DatabaseError && (error.sqlState === "42P01" || error.sqlState === "42703"))
    throw new ViewsMissingError(error.message);
  throw error;
};

/** Integrity constraint violations, and what is too large for an index. */
const BREAKS_TABLE = /^(23|54000$)/;

const inTransaction = async <Result>(
  session: Session,
  work: (run: RunSql) => Promise<Done<Result>>,
): Promise<Result> => {
  let isEnded = false;
  try {
    await session.run("BEGIN");
    const { result, keep } = await work(session.run);
    const { command } = await session.run(keep ? "COMMIT" : "ROLLBACK");
    isEnded = true;
    // What PostgreSQL answers to COMMIT where a statement had failed.
    if (keep && command !== "COMMIT") throw new DatabaseError("the transaction was not committed");
    return result;
  } finally {
    // A connection that cannot even undo is in nobody knows what state.
    if (!isEnded && !session.isLost) await session.run("ROLLBACK").catch(() => session.lose());
  }
};

/** The life of one connection. What was lost stays lost: it takes no more queries. */
interface Session {
  readonly isLost: boolean;
  readonly waiting: number;
  readonly run: RunSql;
  /**
   * The package asks the server what a statement means before it sends the values, if the session has not prepared it. Between the two the
   * server does not count as idle, so a writer that was cut off just then would keep its locks for all of `statement_timeout`.
   */
  prepare(statements: readonly Statement[]): Promise<void>;
  lose(): void;
  end(): Promise<void>;
}

const openSession = (url: string): Session => {
  const client = connect(url, () => lose());
  // One at a time: for what the package still holds when its connection closes it connects anew, also after its end, and keeps that connection (measured).
  const inTurn = createTurns();
  const waiting = new Set<(error: Error) => void>();
  const mayPrepare = createPreparing();
  const prepared = new Set<string>();
  let isLost = false;
  const lose = (reason: Error = new ViewsUnavailableError(LOST)): void => {
    if (isLost) return;
    isLost = true;
    for (const reject of waiting) reject(reason);
    waiting.clear();
    client.end({ timeout: 0 }).catch(() => undefined);
  };
  const loseAfter = (ms: number) => setTimeout(() => lose(new ViewsUnavailableError(TOO_LATE)), ms);
  // Asked first, because the package tries for ever where a connection is taken and closed at once.
  const opening = loseAfter(CONNECT_SECONDS_MAX * 1000);
  inTurn(() => client.unsafe("SELECT 1"))
    .catch((error: unknown) => lose(withoutValues(error)))
    .finally(() => clearTimeout(opening));
  const answered = <Result>(ask: () => PromiseLike<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (isLost) throw new ViewsUnavailableError(LOST);
      const timer = loseAfter(VIEW_QUERY_MS_MAX);
      const settled = (): void => {
        clearTimeout(timer);
        waiting.delete(reject);
      };
      waiting.add(reject);
      // No event of the connection comes between this check and the handing over.
      const handOver = async () => {
        if (isLost) throw new ViewsUnavailableError(LOST);
        return ask();
      };
      inTurn(handOver).then(
        (answer) => {
          settled();
          resolve(answer);
        },
        (error: unknown) => {
          settled();
          reject(withoutValues(error));
        },
      );
    });
  const run: RunSql = async (sql, params = []) => {
    const isPrepared = params.length > 0 && mayPrepare(sql);
    try {
      const rows = await answered(() => client.unsafe(sql, [...params], { prepare: isPrepared }));
      if (isPrepared) prepared.add(sql);
      return { rows: withoutHoles(rows), command: rows.command };
    } catch (error) {
      // The package forgets one whose tables have changed.
      if (constraintMessage(error) === undefined) prepared.delete(sql);
      if (isReadOnly(error)) lose();
      throw error;
    }
  };
  const prepare = async (statements: readonly Statement[]): Promise<void> => {
    for (const { sql, params } of statements) {
      if (params.length === 0 || prepared.has(sql) || !mayPrepare(sql)) continue;
      try {
        await answered(() => client.unsafe(sql, [...params]).describe());
        prepared.add(sql);
      } catch (error) {
        // Its table may have gone with another version: the transaction says so, if it comes that far.
        if (!isMeaningless(error)) throw error;
      }
    }
  };
  return {
    get isLost() {
      return isLost;
    },
    get waiting() {
      return waiting.size;
    },
    run,
    prepare,
    lose,
    end: () => {
      const closing = loseAfter(CLOSE_SECONDS_MAX * 1000);
      return inTurn(() => client.end({ timeout: CLOSE_SECONDS_MAX })).finally(() => clearTimeout(closing));
    },
  };
};

const LOST = "the connection to the database was lost";
const TOO_LATE = "the database did not answer in time";
const CONNECT_SECONDS_MAX = 5;
const CLOSE_SECONDS_MAX = 5;

/** A URL may say otherwise: its parameters are settings too, and come last. */
const SETTINGS = {
  application_name: "prooftrail",
  // Tenants differ by orders of magnitude: one plan for all of them would be wrong for most.
  plan_cache_mode: "force_custom_plan",
  lock_timeout: VIEW_BUSY_MS_MAX,
  statement_timeout: VIEW_QUERY_MS_MAX,
  // A writer that has stopped must not hold its view against the others.
  idle_in_transaction_session_timeout: VIEW_WRITER_SILENT_MS_MAX,
  // Seconds. The server would keep the connections of a machine that is gone for two hours.
  tcp_keepalives_idle: 2,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 2,
};

const connect = (url: string, onclose: () => void) => {
  try {
    return postgres(url, {
      max: 1,
      onclose,
      connection: SETTINGS,
      connect_timeout: CONNECT_SECONDS_MAX,
      // Renewed only when lost, or a transaction could lose it between two statements.
      max_lifetime: null,
      fetch_types: false,
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      onnotice: () => undefined,
    });
  } catch {
    // The error quotes the URL, password included.
    throw new DatabaseError(
      "the URL of the database cannot be read: it must be postgres://user:password@host:port/database, with % in user and password as %25",
    );
  }
};

/**
 * Whether a statement with values is prepared: the first ones of a session, because the package never forgets one. A writer has them all: at most
 * six of each of 38 tables, and some of the store itself. One that came later would be asked about behind the locks.
 */
const createPreparing = () => {
  const prepared = new Set<string>();
  return (sql: string): boolean => {
    if (prepared.size < VIEW_STATEMENTS_CACHED_MAX) prepared.add(sql);
    return prepared.has(sql);
  };
};

/**
 * Where a statement failed amid its rows, version 3.4 goes on counting behind them: the rows of the next one on that connection have as many holes before
 * them (its issue 1181), which read as rows that are not there.
 */
const withoutHoles = (rows: Answer["rows"]): Answer["rows"] =>
  rows.length === 0 || 0 in rows ? rows : rows.filter(() => true);

/**
 * Of a server that stops, starts or has no connection left, and of one that does not let us in: classes 08, 28 and 53, 57P01 to 57P03, 3D000. Of one that ends
 * the connection, as for its own limits of a session or a transaction that is idle: 57P04, 57P05, 25P03 and 25P04.
 */
const IS_AWAY = /^(08|28|53|57P0[1-5]|25P0[34]|3D000)/;

/**
 * Of a server that was asked for too much at this moment: a conflict with others or with what a standby replays, or a deadlock (class 40), a lock that did not
 * come (55P03), its limit of time or its operator (57014), and of one that takes no writes (25006), as before it leads.
 */
const IS_BUSY = /^(40|55P03|57014|25006)/;

/** The package puts text and parameters of the query into its errors, and PostgreSQL the values of a row into `detail`. */
const withoutValues = (error: unknown): DatabaseError | ViewsUnavailableError => {
  if (!(error instanceof Error)) return new DatabaseError("the database failed");
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (!(error instanceof postgres.PostgresError))
    return new ViewsUnavailableError(error.message || `${code}`);
  if (code !== undefined && IS_AWAY.test(code)) return new ViewsUnavailableError(error.message);
  if (code !== undefined && IS_BUSY.test(code)) return new ViewsBusyError(error.message, code);
  // The messages of class 22 quote what could not be converted.
  return new DatabaseError(code?.startsWith("22") ? `data exception ${code}` : error.message, code);
};
