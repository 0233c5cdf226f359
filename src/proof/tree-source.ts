/** The tenants' trees as the sealer and the monitor see them: the port that the view `tree` implements (views/tree/queries.ts). */
import type { Sequence } from "../log/outcome.ts";
import type { Hash } from "./rfc6962.ts";
import type { Tile } from "./tlog-tiles.ts";

export interface GrownTree {
  readonly tenant: string;
  readonly size: number;
  readonly lastSequence: number;
}

export interface TreeSource {
  /** Trees whose last leaf is behind a sequence of the log, in the order of their last leaves. */
  grown(after: number, treesMax: number): Promise<readonly GrownTree[]>;
  /** The root over the first `size` leaves; undefined if the tiles do not contain that many. */
  root(tenant: string, size: number): Promise<Hash | undefined>;
  /** The first `width` hashes of a tile; undefined if it does not contain that many. */
  tile(tenant: string, tile: Tile): Promise<Uint8Array | undefined>;
  /** How far into the log the trees reach. */
  position(): Promise<Sequence>;
}
