/**
 * One connection to PostgreSQL that reconnects after it was lost, and transactions that neither overlap nor outlive it.
 *
 * The package has a pool and transactions of its own. They are not used: if a connection breaks inside a transaction, version 3.4 keeps writing to
 * it, which ends the process (its issue 1208), or after reconnecting continues outside the transaction (1155). Here each client of the package has
 * one connection, and is given up when that is lost.
 */
import pLimit from "p-limit";
import postgres from "postgres";
import {
  VIEW_BUSY_MS_MAX,
  VIEW_QUERY_MS_MAX,
  VIEW_STATEMENTS_CACHED_MAX,
  VIEW_WRITER_SILENT_MS_MAX,
} from "../../limits.ts";
import { DatabaseError, isReadOnly, namingOtherTables, withoutValues } from "./postgres-errors.ts";
import type { Done } from "./stored-views.ts";
import { ViewsUnavailableError } from "./unavailable.ts";

/** The result of a statement: rows, and the command tag of PostgreSQL, such as `INSERT` or `COMMIT`. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly command: string;
}

/** `once`: the server need not keep the statement for the next time. */
export type RunSql = (
  sql: string,
  params?: readonly (string | number | null)[],
  once?: "once",
) => Promise<Answer>;

export interface Connection {
  /** The number of queries without an answer yet. */
  readonly waiting: number;
  /** Whether a query can run without a new connection to the server. */
  readonly isOpen: boolean;
  /**
   * Rejects with ViewsMissingError if a table is missing or has changed: the database was emptied, or another version of the program rebuilt it.
   */
  readonly run: RunSql;
  /** Transactions run one after another. Rolled back if the work throws; rejects like `run`. */
  transaction<Result>(work: (run: RunSql) => Promise<Done<Result>>): Promise<Result>;
  /** Rejects all unanswered queries, and all later ones. */
  giveUp(): void;
  /** Closes the connection after the queries made so far. */
  close(): Promise<void>;
}

export const createConnection = (url: string): Connection => {
  const inTurn = pLimit(1);
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
    run: async (...asked) =>
      current()
        .run(...asked)
        .catch(namingOtherTables),
    transaction: (work) => inTurn(async () => inTransaction(current(), work).catch(namingOtherTables)),
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

/** Among connections without a waiting query it prefers one that is already open: a server may accept no further one. */
export const leastBusy = (connections: readonly Connection[]): Connection => {
  const load = ({ waiting, isOpen }: Connection): number => waiting + (isOpen ? 0 : 0.5);
  return connections.reduce((least, each) => (load(each) < load(least) ? each : least));
};

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
    // PostgreSQL's answer to COMMIT after a failed statement.
    if (keep && command !== "COMMIT") throw new DatabaseError("the transaction was not committed");
    return result;
  } finally {
    // A connection that cannot even roll back is in an unknown state.
    if (!isEnded && !session.isLost) await session.run("ROLLBACK").catch(() => session.lose());
  }
};

/** The life of one connection. A lost connection stays lost: it accepts no more queries. */
interface Session {
  readonly isLost: boolean;
  readonly waiting: number;
  readonly run: RunSql;
  lose(): void;
  end(): Promise<void>;
}

const openSession = (url: string): Session => {
  const client = connect(url, () => lose());
  // One query at a time: if the package still holds others when its connection closes, it connects again for them, even after its end, and keeps that
  // connection (measured).
  const inTurn = pLimit(1);
  const waiting = new Set<(error: Error) => void>();
  const mayPrepare = createPreparing();
  let isLost = false;
  const lose = (reason: Error = new ViewsUnavailableError(LOST)): void => {
    if (isLost) return;
    isLost = true;
    for (const reject of waiting) reject(reason);
    waiting.clear();
    client.end({ timeout: 0 }).catch(() => undefined);
  };
  const loseAfter = (ms: number) => setTimeout(() => lose(new ViewsUnavailableError(TOO_LATE)), ms);
  // Tested first, because the package retries forever if a connection is accepted and closed at once.
  const opening = loseAfter(CONNECT_SECONDS_MAX * 1000);
  inTurn(() => prepareSession(client, url))
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
      // No event of the connection can come between this check and passing the query on.
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
  const run: RunSql = async (sql, params = [], once) => {
    const prepare = once === undefined && params.length > 0 && mayPrepare(sql);
    try {
      const rows = await answered(() => client.unsafe(sql, [...params], { prepare }));
      return { rows: withoutHoles(rows), command: rows.command };
    } catch (error) {
      if (isReadOnly(error)) lose();
      throw error;
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

/**
 * Of each session. They are set after connecting, because a pooler such as PgBouncer refuses a connection that begins with settings that it does not
 * know. A URL may override them: its parameters are settings too.
 */
const SETTINGS = {
  // Tenants differ by orders of magnitude: one plan for all of them would be wrong for most.
  plan_cache_mode: "force_custom_plan",
  lock_timeout: VIEW_BUSY_MS_MAX,
  statement_timeout: VIEW_QUERY_MS_MAX,
  // A writer that has stopped must not keep its view locked.
  idle_in_transaction_session_timeout: VIEW_WRITER_SILENT_MS_MAX,
  // In seconds. By default the server would keep the connections of a machine that is gone for two hours.
  tcp_keepalives_idle: 2,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 2,
};

const prepareSession = async (client: postgres.Sql, url: string): Promise<void> => {
  const { pid, isPooled } = await serverOf(client);
  if (isPooled && (await isShared(client, pid, url))) throw new DatabaseError(TRANSACTION_POOLING);
  const given = new URLSearchParams(url.split("?")[1]);
  const settings = Object.entries(SETTINGS).filter(([name]) => !given.has(name));
  await client.unsafe(settings.map(([name, value]) => `SET ${name} = '${value}'`).join("; "));
};

/** A pooler gives its clients process ids of its own, for their cancel requests. */
const serverOf = async (
  client: postgres.Sql,
): Promise<{ readonly pid: unknown; readonly isPooled: boolean }> => {
  const rows = await client.unsafe("SELECT pg_backend_pid() AS pid");
  return { pid: rows[0]?.pid, isPooled: rows[0]?.pid !== rows.state.pid };
};

/**
 * Whether a pooler gives the connections of the server to its clients by transaction: then another client gets the same one, or this client another
 * one. Settings, prepared statements and what a session holds would be another client's.
 */
const isShared = async (client: postgres.Sql, pid: unknown, url: string): Promise<boolean> => {
  const other = connect(url, () => undefined);
  const late = setTimeout(() => other.end({ timeout: 0 }), POOL_MS_MAX);
  try {
    for (let round = 0; round < POOL_ROUNDS; round++) {
      if ((await serverOf(other)).pid === pid) return true;
      if ((await serverOf(client)).pid !== pid) return true;
    }
    return false;
  } catch {
    // No further connection: a pool by session has one for each client, and has given them away.
    return false;
  } finally {
    clearTimeout(late);
    await other.end({ timeout: 0 });
  }
};

const POOL_MS_MAX = 1000;
const POOL_ROUNDS = 3;
const TRANSACTION_POOLING =
  "a pooler gives each transaction another connection (PgBouncer's pool_mode transaction), and the views need sessions: use pool_mode session, or the address of PostgreSQL itself";

const connect = (url: string, onclose: () => void) => {
  try {
    return postgres(url, {
      ...addressesIn(url),
      max: 1,
      onclose,
      connection: { application_name: "prooftrail" },
      connect_timeout: CONNECT_SECONDS_MAX,
      // Renewed only when lost; otherwise a transaction could lose it between two statements.
      max_lifetime: null,
      fetch_types: false,
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      onnotice: () => undefined,
    });
  } catch {
    // The package's error quotes the URL, including the password.
    throw new DatabaseError(
      "the URL of the database cannot be read: it must be postgres://user:password@host:port/database, with % in user and password as %25",
    );
  }
};

/**
 * Hosts and ports where one is an IPv6 address, in brackets (RFC 3986 §3.2.2): version 3.4 of the package ends a host in a URL at its first colon. As
 * options it takes lists of them, which its types do not know.
 */
const addressesIn = (url: string): object => {
  const [, authority = ""] = /^\w+:\/\/(?:[^/?@]*@)?([^/?]*)/.exec(url) ?? [];
  if (!authority.includes("[")) return {};
  const addresses = authority.split(",").map((address) => /^\[?(.*?)\]?(?::(\d+))?$/.exec(address) ?? []);
  return {
    host: addresses.map(([, host = ""]) => host),
    port: addresses.map(([, , port]) => Number(port ?? POSTGRES_PORT)),
  };
};

const POSTGRES_PORT = 5432;

/** Whether a statement with values is prepared: only the first ones of a session, because the package never forgets one. */
const createPreparing = () => {
  const prepared = new Set<string>();
  return (sql: string): boolean => {
    if (prepared.size < VIEW_STATEMENTS_CACHED_MAX) prepared.add(sql);
    return prepared.has(sql);
  };
};

/**
 * If a statement fails in the middle of its rows, version 3.4 keeps counting from there: the result of the next one on that connection begins with as
 * many holes (its issue 1181), which look like missing rows.
 */
const withoutHoles = (rows: Answer["rows"]): Answer["rows"] =>
  rows.length === 0 || 0 in rows ? rows : rows.filter(() => true);
