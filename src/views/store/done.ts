/** The result of the work of a transaction, and whether its writes are to be kept. */
export interface Done<Result> {
  readonly result: Result;
  readonly keep: boolean;
}
