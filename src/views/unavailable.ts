/** The database of the views was not reached, or says that it cannot answer now. Nothing was learnt: the same may be asked again. */
export class ViewsUnavailableError extends Error {
  override readonly name = "ViewsUnavailableError";
}

/** For whoever asked. What the driver says names servers and users, and is for the logger. */
export const VIEWS_UNAVAILABLE = "The database of the views does not answer.";
