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
    super(message, "The database of the views answers, and cannot do just now what it was asked.");
    this.sqlState = sqlState;
  }
}

/** The database answers, but refuses the login, has another name, or takes no further connection: the network is not where to look. */
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

/** The database answers, but the requested rows are not all made yet. */
export class ViewsUnmadeError extends ViewsUnavailableError {
  constructor(reason: string) {
    super(reason, reason);
  }
}

const VIEWS_CLOSED =
  "The database of the views answers, and refuses the connection: see the login and the database in DATABASE_URL, and how many connections it allows.";

export const VIEWS_MISSING =
  "The database of the views answers, and tables are not there as this process made them: it was emptied or put back empty, or another version of Prooftrail has made its own. A start of the service makes them again from the log.";

/** Whether the database could not be asked, or not at this moment: what this process had there is unchanged. */
export const isAway = (error: unknown): error is ViewsUnavailableError =>
  error instanceof ViewsUnavailableError && !(error instanceof ViewsMissingError);
