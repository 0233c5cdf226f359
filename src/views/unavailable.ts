/** The database of the views was not reached, or says that it cannot answer now. Nothing was learnt: the same may be asked again. */
export class ViewsUnavailableError extends Error {
  override readonly name: string = "ViewsUnavailableError";
  /** For whoever asked. What the driver says names servers and users, and is for the logger. */
  readonly reason: string = "The database of the views does not answer.";
}

/** It answers, and somebody else stands in the way, or its own limit of time, or it takes no writes. */
export class ViewsBusyError extends ViewsUnavailableError {
  override readonly name = "ViewsBusyError";
  override readonly reason = "The database of the views answers, and cannot do just now what it was asked.";
  readonly sqlState: string;
  constructor(message: string, sqlState: string) {
    super(message);
    this.sqlState = sqlState;
  }
}

/** It answers, and a table or a column is not there: who is told that it does not answer looks at the network, where nothing is wrong. */
export class ViewsMissingError extends ViewsUnavailableError {
  override readonly name = "ViewsMissingError";
  override readonly reason = VIEWS_MISSING;
  constructor(detail: string) {
    super(`${detail}. ${VIEWS_MISSING}`);
  }
}

/** It answers, and the rows that are asked for are not all made yet. */
export class ViewsUnmadeError extends ViewsUnavailableError {
  override readonly name = "ViewsUnmadeError";
  override readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

export const VIEWS_MISSING =
  "The database of the views answers, and tables are not there as this process made them: it was emptied or put back empty, or another version of Prooftrail has made its own. A start of the service makes them again from the log.";

/** Whether the database could not be asked, or not just now: what this process had there is as it was. */
export const isAway = (error: unknown): error is ViewsUnavailableError =>
  error instanceof ViewsUnavailableError && !(error instanceof ViewsMissingError);
