/** The tenants' trees, as the sealer and the API see them: the port that the view `tree` implements (projections/tree/queries.ts). */
import type { Hash } from "./rfc6962.ts";

export interface GrownTree {
  readonly tenant: string;
  readonly size: number;
  /** Where the last leaf stands in the log. */
  readonly lastSequence: number;
}

export interface TreeSource {
  /** Trees whose last leaf stands behind a place in the log, in the order of these places. */
  grown(after: number, treesMax: number): Promise<readonly GrownTree[]>;
  /** The root over the first `size` leaves; undefined where the tiles do not hold so many. */
  root(tenant: string, size: number): Promise<Hash | undefined>;
}
