/** What an error of PostgreSQL means: by SQLSTATE, never by its text. */
import postgres from "postgres";
import { ViewsBusyError, ViewsClosedError, ViewsMissingError, ViewsUnavailableError } from "./unavailable.ts";

/** An error of the database, without the values that the driver's own errors contain. */
export class DatabaseError extends Error {
  /** SQLSTATE, if the server sent one. */
  readonly sqlState: string | undefined;
  constructor(message: string, sqlState?: string) {
    super(message);
    this.name = "DatabaseError";
    this.sqlState = sqlState;
  }
}

/** PostgreSQL's message if a row violates its table; it names table and constraint but no value. Undefined for other errors. */
export const constraintMessage = (error: unknown): string | undefined =>
  error instanceof DatabaseError && error.sqlState !== undefined && BREAKS_TABLE.test(error.sqlState)
    ? error.message
    : undefined;

/** Whether it gave up waiting for another transaction's lock: lock_not_available. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof ViewsBusyError && error.sqlState === "55P03";

/**
 * Whether this server accepts no writes: read_only_sql_transaction. After a failover an old connection may stay with the server that is now the
 * standby, while a new one, by the same name, reaches the primary.
 */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof ViewsBusyError && error.sqlState === "25006";

/** Whether the user lacks a right: insufficient_privilege. */
export const lacksRight = (error: unknown): boolean =>
  error instanceof DatabaseError && error.sqlState === "42501";

/** Whether the statement is invalid here: `syntax error or access rule violation`, as when a table is missing. */
export const isMeaningless = (error: unknown): boolean =>
  error instanceof DatabaseError && error.sqlState?.startsWith("42") === true;

/** A missing table or column: undefined_table, undefined_column. */
export const namingOtherTables = (error: unknown): never => {
  if (error instanceof DatabaseError && (error.sqlState === "42P01" || error.sqlState === "42703"))
    throw new ViewsMissingError(error.message);
  throw error;
};

/** Integrity constraint violations, and values that are too large for an index. */
const BREAKS_TABLE = /^(23|54000$)/;

/** Errors of a server that refuses the login, does not have the database, or has no connection left: class 28, 3D000, 53300. */
const IS_CLOSED = /^(28|3D000|53300)/;

/**
 * Errors of a server that stops, starts or lacks something else: classes 08 and 53, 57P01 to 57P03.
 * Errors of a server that ends the connection, as for its limits of an idle session or transaction: 57P04, 57P05, 25P03 and 25P04.
 */
const IS_AWAY = /^(08|53|57P0[1-5]|25P0[34])/;

/**
 * Errors of a server that cannot do it at this moment: a conflict with other transactions or with what a standby replays, or a deadlock (class 40), a
 * lock that was not granted (55P03), a time limit or its operator (57014), and a server that accepts no writes, as before it becomes primary (25006).
 */
const IS_BUSY = /^(40|55P03|57014|25006)/;

/** The package adds text and parameters of the query to its errors, and PostgreSQL puts the values of a row into `detail`. */
export const withoutValues = (error: unknown): DatabaseError | ViewsUnavailableError => {
  if (error instanceof DatabaseError) return error;
  if (!(error instanceof Error)) return new DatabaseError("the database failed");
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (!(error instanceof postgres.PostgresError))
    return new ViewsUnavailableError(error.message || `${code}`);
  if (code !== undefined && IS_CLOSED.test(code)) return new ViewsClosedError(error.message);
  if (code !== undefined && IS_AWAY.test(code)) return new ViewsUnavailableError(error.message);
  if (code !== undefined && IS_BUSY.test(code)) return new ViewsBusyError(error.message, code);
  // The messages of class 22 quote the value that could not be converted.
  return new DatabaseError(code?.startsWith("22") ? `data exception ${code}` : error.message, code);
};
