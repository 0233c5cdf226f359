import { INTEGER, type Table, TEXT } from "../store/tables.ts";

export const TREE_VIEW = "tree";

/** One row per tenant: how far its Merkle tree has grown. */
export const TREES = {
  name: "trees",
  columns: {
    tenant: TEXT,
    /** The tenant of the tree; `tenant` is OPERATOR. */
    owner: TEXT,
    /** The number of leaves, which are the tenant's records. */
    size: INTEGER,
    /** The sequence of the last leaf. */
    last_sequence: INTEGER,
  },
  primaryKey: ["tenant", "owner"],
  indexes: [["tenant", "last_sequence", "owner"]],
} as const satisfies Table;

/** Hashes of the tree, in tiles of 256 (C2SP tlog-tiles). Only the last tile of a level ever changes, and only by growing. */
export const TREE_TILES = {
  name: "tree_tiles",
  columns: {
    tenant: TEXT,
    level: INTEGER,
    /** The index of the tile in its level. */
    tile: INTEGER,
    /** Base64 of 1 to 256 hashes of 32 bytes. */
    hashes: TEXT,
  },
  primaryKey: ["tenant", "level", "tile"],
  indexes: [],
} as const satisfies Table;

/** The record of each leaf: one row per tile of level 0. */
export const TREE_LEAVES = {
  name: "tree_leaves",
  columns: {
    tenant: TEXT,
    /** The index of the tile in level 0. */
    tile: INTEGER,
    first_sequence: INTEGER,
    /** JSON array: the difference of each sequence from the one before it, of the first from `first_sequence`. */
    steps: TEXT,
  },
  primaryKey: ["tenant", "tile"],
  indexes: [["tenant", "first_sequence"]],
} as const satisfies Table;
