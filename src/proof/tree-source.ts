/** The tenants' trees, as the sealer and the monitor see them: the port that the view `tree` implements (projections/tree/queries.ts). */
import type { Sequence } from "../log/outcome.ts";
import type { Hash } from "./rfc6962.ts";
import type { Tile } from "./tlog-tiles.ts";

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
  /** The first `width` hashes of a tile; undefined where it does not hold so many. */
  tile(tenant: string, tile: Tile): Promise<Uint8Array | undefined>;
  /** How much of the log the trees hold. */
  position(): Promise<Sequence>;
}
