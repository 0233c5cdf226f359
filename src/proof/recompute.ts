/**
 * One tenant's tree, computed from its records and compared with what was signed and with what the view keeps. It shares no code with the view
 * except the hashes of RFC 6962, so that a fault there is not repeated here. Each kind of alarm about heads is raised once: all later heads differ as
 * well.
 */
import type { Sequence } from "../log/outcome.ts";
import type { LogFields } from "../telemetry/logger.ts";
import { createCompactRange, HASH_BYTES, type Hash, leafHash, perfectRoot, sameHash } from "./rfc6962.ts";
import { isGivenUp } from "./sealed-head.ts";
import type { Checkpoint } from "./tlog-checkpoint.ts";
import { TILE_BYTES, TILE_WIDTH, type Tile } from "./tlog-tiles.ts";
import type { TreeSource } from "./tree-source.ts";

export const MONITOR_ALARMS = [
  /** A sequence of the log is missing. */
  "hole",
  /** More was signed than the log contains. */
  "shorter_than_signed",
  /** The records give another root than the signed one. */
  "root_differs",
  /** A tree head comes after one that covers more. The sealer never signs such a head, so it may be of another tree. */
  "behind_signed",
  /** A tile of the view differs from the records, or is gone. */
  "tile_differs",
  /** A tree head on the stream is signed by none of our keys. */
  "unverifiable",
] as const;
export type MonitorAlarm = (typeof MONITOR_ALARMS)[number];
export type Alarm = (kind: MonitorAlarm, fields: LogFields) => void;

/** A full tile as the records make it. */
interface MadeTile extends Pick<Tile, "level" | "index"> {
  readonly bytes: Uint8Array;
  /** The last record under it: a view that has seen that record has the tile. */
  readonly lastSequence: Sequence;
}

interface ReadLeaf {
  readonly index: number;
  readonly hash: Hash;
  readonly sequence: Sequence;
}

const createTiles = () => {
  /** Those that became full and were not compared yet. */
  const tiles: MadeTile[] = [];
  /** Those at the right edge, by level. */
  const growing: { readonly bytes: Uint8Array; readonly index: number; width: number }[] = [];
  const push = (level: number, hash: Hash, lastSequence: Sequence): void => {
    const tile = growing[level] ?? { bytes: new Uint8Array(TILE_BYTES), index: 0, width: 0 };
    growing[level] = tile;
    tile.bytes.set(hash, tile.width * HASH_BYTES);
    tile.width++;
    if (tile.width < TILE_WIDTH) return;
    const { bytes, index } = tile;
    tiles.push({ level, index, bytes, lastSequence });
    growing[level] = { bytes: new Uint8Array(TILE_BYTES), index: index + 1, width: 0 };
    push(level + 1, perfectRoot(bytes), lastSequence);
  };
  return { tiles, push };
};

export const createRecomputedTree = (trees: Pick<TreeSource, "tile">, tenant: string, alarm: Alarm) => {
  /** The leaves that some head has covered, and those after them. */
  const signed = createCompactRange();
  let unsigned: ReadLeaf[] = [];
  let agreedSize = 0;
  /** Heads that were not checked yet, by size; and the largest that was read, of those that were not given up. */
  let heads: Checkpoint[] = [];
  let largest: Checkpoint | undefined;
  const { tiles, push } = createTiles();
  const raised = new Set<string>();
  const once = (about: string, kind: MonitorAlarm, fields: LogFields): void => {
    if (!raised.has(about)) alarm(kind, { tenant, ...fields });
    raised.add(about);
  };
  const size = (): number => signed.size() + unsigned.length;
  const take = (count: number): readonly ReadLeaf[] => {
    const taken = unsigned.slice(0, count);
    for (const { hash } of taken) signed.append(hash);
    unsigned = unsigned.slice(count);
    return taken;
  };
  return {
    /** What is held in memory. */
    held: () => ({ leaves: unsigned.length, heads: heads.length, tiles: tiles.length }),
    append: (sequence: Sequence, payload: Uint8Array): void => {
      const hash = leafHash(payload);
      unsigned.push({ index: size(), hash, sequence });
      push(0, hash, sequence);
    },
    /** Undefined for a checkpoint that none of our keys signed. */
    takeHead: (revision: number, head: Checkpoint | undefined): void => {
      if (head === undefined) {
        const detail = `checkpoint ${revision} is signed by no key of ours`;
        once("unverifiable", "unverifiable", { detail });
        return;
      }
      const { extensions = [] } = head;
      const isRestored = largest !== undefined && isGivenUp(largest, extensions);
      if (isRestored) heads = heads.filter((waiting) => !isGivenUp(waiting, extensions));
      // It is not compared with records, because these may have been passed already.
      if (largest !== undefined && !isRestored && head.size < largest.size) {
        const detail = `checkpoint ${revision} has ${head.size} leaves, but follows one of ${largest.size}`;
        once("behind", "behind_signed", { detail });
        return;
      }
      largest = head;
      heads.push(head);
    },
    /** `isWhole`: the log was read to where it ended when the heads were read. */
    compareHeads: async (isWhole: boolean): Promise<void> => {
      for (let head = heads[0]; head !== undefined; head = heads[0]) {
        const isAhead = head.size > size();
        if (isAhead && !isWhole) return;
        heads.shift();
        // Checked before, or its records were passed.
        if (head.size < signed.size()) continue;
        const leaves = isAhead ? unsigned : take(head.size - signed.size());
        if (!isAhead && sameHash(signed.root(), head.root)) {
          agreedSize = head.size;
          continue;
        }
        const detail = isAhead
          ? `${head.size} records were signed, the log holds ${size()}`
          : `leaves ${agreedSize} to ${head.size - 1} differ from those signed`;
        const kind = isAhead ? "shorter_than_signed" : "root_differs";
        if (!raised.has("differs")) once("differs", kind, await namingFirst(trees, tenant, leaves, detail));
      }
    },
    /** `seen`: how far the view has read. */
    compareTiles: async (seen: Sequence): Promise<void> => {
      for (let tile = tiles[0]; tile && tile.lastSequence <= seen; tile = tiles[0]) {
        tiles.shift();
        try {
          const stored = await trees.tile(tenant, { ...tile, width: TILE_WIDTH });
          if (!stored || Buffer.compare(stored, tile.bytes) !== 0)
            alarm("tile_differs", { tenant, detail: differingTile(tile, stored) });
        } catch (error) {
          // Asked for again, behind the others: one that cannot be read at all does not block them.
          tiles.push(tile);
          throw error;
        }
      }
    },
    /** Takes the older half of the held leaves, as if a head had come for them. */
    passOlder: () => void take(Math.ceil(unsigned.length / 2)),
  };
};

/**
 * The view still has the signed hashes, unless it was altered too: then it shows which record differs first. If the view is away now, the finding is
 * reported without that, because nothing would check it again.
 */
const namingFirst = async (
  trees: Pick<TreeSource, "tile">,
  tenant: string,
  leaves: readonly ReadLeaf[],
  detail: string,
): Promise<LogFields> => {
  try {
    for (const { index, hash, sequence } of leaves) {
      const place = index % TILE_WIDTH;
      const tile = { level: 0, index: Math.floor(index / TILE_WIDTH), width: place + 1 };
      const stored = (await trees.tile(tenant, tile))?.subarray(place * HASH_BYTES);
      if (stored && !sameHash(stored, hash))
        return { sequence, detail: `${detail}; the first that differs in the view is leaf ${index}` };
    }
  } catch (error) {
    return { detail: `${detail}; reading the view failed: ${String(error)}` };
  }
  return { detail };
};

const differingTile = ({ level, index, bytes }: MadeTile, stored: Uint8Array | undefined): string => {
  if (!stored) return `tile ${level}/${index} is gone`;
  const place = bytes.findIndex((byte, at) => byte !== stored[at]);
  const hash = index * TILE_WIDTH + Math.floor(place / HASH_BYTES);
  return level === 0
    ? `leaf ${hash} is not the hash of its record`
    : `hash ${hash} of level ${level} does not match the tiles below`;
};
