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

/** Whether this server accepts no writes: after a failover a new connection, by the same name, may reach the primary. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof ViewsBusyError && error.sqlState === "25006";

/** Whether the user lacks a right: insufficient_privilege. */
export const lacksRight = (error: unknown): boolean =>
  error instanceof DatabaseError && error.sqlState === "42501";

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

/** Errors of a server that stops, starts, lacks something, or ends the connection, as one that was idle for too long. */
const IS_AWAY = /^(08|53|57P0[1-5]|25P0[34])/;

/** It cannot at this moment: other transactions (class 40), a lock (55P03), a time limit or its operator (57014), no writes (25006). */
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
