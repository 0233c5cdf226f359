/** The database of the views was not reached, or cannot answer now. The outcome is unknown: the same call may be repeated. */
export class ViewsUnavailableError extends Error {
  /** For the client. The driver's message names servers and users, and is only for the logger. */
  readonly reason: string;
  constructor(message: string, reason = "The database of the views does not answer.") {
    super(message);
    this.name = new.target.name;
    this.reason = reason;
  }
}

/** The database answers, but another transaction is in the way, or its time limit was reached, or it accepts no writes. */
export class ViewsBusyError extends ViewsUnavailableError {
  readonly sqlState: string;
  constructor(message: string, sqlState: string) {
    super(message, "The database of the views answers, but cannot do this now.");
    this.sqlState = sqlState;
  }
}

/** The database answers, but refuses the login, has another name, or takes no further connection: the network is not the cause. */
export class ViewsClosedError extends ViewsUnavailableError {
  constructor(message: string) {
    super(message, VIEWS_CLOSED);
  }
}

/** The database answers, but a table or a column is missing. */
export class ViewsMissingError extends ViewsUnavailableError {
  constructor(detail: string) {
    super(`${detail}. ${VIEWS_MISSING}`, VIEWS_MISSING);
  }
}

/** The database answers, but lacks some of the requested rows so far. */
export class ViewsUnmadeError extends ViewsUnavailableError {
  constructor(reason: string) {
    super(reason, reason);
  }
}

const VIEWS_CLOSED =
  "The database of the views answers, but refuses the connection: check the login and database in DATABASE_URL, and its connection limit.";

export const VIEWS_MISSING =
  "The database of the views answers, but tables are missing or belong to another version: it was emptied or restored empty, or another version of Prooftrail rebuilt it. Restart the service to rebuild them from the log.";

/** Whether the database could not be asked, or not now: what this process stored is unchanged. */
export const isAway = (error: unknown): error is ViewsUnavailableError =>
  error instanceof ViewsUnavailableError && !(error instanceof ViewsMissingError);
