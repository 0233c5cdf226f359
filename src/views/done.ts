/** What the work of a transaction gives, and whether its writes are to stay. */
export interface Done<Result> {
  readonly result: Result;
  readonly keep: boolean;
}
