/**
 * Checks this installation itself: rereads the whole log from its first message, computes the tree of every tenant, and compares it with every signed
 * tree head and served tile. Then it follows the log, and restarts after a day, because records may be altered after they were checked.
 */
import { tenantOfAudit } from "../../streams/subjects.ts";
import {
  CHECKPOINTS_PER_READ,
  LOG_REREAD_MS,
  MONITOR_DUTY,
  MONITOR_HEADS_PER_TURN,
  MONITOR_LEAVES_UNSIGNED_MAX,
  MONITOR_MESSAGES_MAX,
  VIEW_LAG_RECORDS_MAX,
} from "../limits.ts";
import type { LogReader, StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { LogFields, Logger } from "../telemetry/logger.ts";
import type { KeyRing } from "./key-ring.ts";
import type { CheckpointStore, TreeSource } from "./ports.ts";
import { createCompactRange, HASH_BYTES, type Hash, leafHash, perfectRoot, sameHash } from "./rfc6962.ts";
import { originOf } from "./seal.ts";
import { isGivenUp } from "./sealed-head.ts";
import { type Checkpoint, openCheckpoint } from "./tlog-checkpoint.ts";
import { TILE_BYTES, TILE_WIDTH, type Tile } from "./tlog-tiles.ts";

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
type Alarm = (kind: MonitorAlarm, fields: LogFields) => void;

export interface MonitorDependencies {
  readonly serviceName: string;
  readonly keys: KeyRing;
  readonly log: LogReader;
  readonly checkpoints: Pick<CheckpointStore, "since">;
  readonly trees: Pick<TreeSource, "tile" | "position">;
  readonly logger: Logger;
  readonly onAlarm: (kind: MonitorAlarm) => void;
  readonly onPosition: (sequence: Sequence) => void;
  /** Called when the log was read from its first message to its end. */
  readonly onRound: () => void;
  readonly onFailure: (detail: string) => void;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
}

/** The wait when there is nothing new, and when the view is behind. */
const REST_MS = 1000;
/** The wait after a failed read. */
const RETRY_MS = 5000;

/** Runs pass after pass until the signal is aborted. Never rejects: after a failed read it continues where it was. */
export const watchLog = async (dependencies: MonitorDependencies, signal: AbortSignal): Promise<void> => {
  const { logger, pause, onFailure } = dependencies;
  while (!signal.aborted) {
    const pass = createPass(dependencies);
    const ending = AbortSignal.any([signal, AbortSignal.timeout(LOG_REREAD_MS)]);
    while (!ending.aborted) {
      try {
        await readOn(dependencies, pass, ending);
      } catch (error) {
        if (!ending.aborted) {
          logger.warn("watching the log failed; trying again", { detail: String(error) });
          onFailure(String(error));
        }
        await pause(RETRY_MS, ending);
      }
    }
  }
};

/** Reads some tree heads, and the log as far as they cover it. If no further heads come before the end of the log, it rests there. */
const readOn = async (
  { log, pause, onRound }: MonitorDependencies,
  pass: ReturnType<typeof createPass>,
  ending: AbortSignal,
): Promise<void> => {
  const rest = createRests(pause, ending);
  const hasMoreHeads = await pass.readHeads(rest, ending);
  if (ending.aborted) return;
  // Read after the heads: the records that they cover are in the log by then.
  const end = await log.lastSequence();
  const isOver = (): boolean =>
    ending.aborted || pass.position() >= end || (hasMoreHeads && pass.held("heads") === 0);
  const waitForView = async (): Promise<void> => {
    // So many tiles wait only if the view is far behind: it may be being rebuilt.
    while (!ending.aborted && pass.held("tiles") * TILE_WIDTH > VIEW_LAG_RECORDS_MAX) {
      await pause(REST_MS, ending);
      await pass.compare(false);
    }
  };
  await waitForView();
  const reading = new AbortController();
  const stop = AbortSignal.any([ending, reading.signal]);
  try {
    const from = pass.position() + 1;
    if (!isOver())
      for await (const group of log.follow({ from, messagesMax: MONITOR_MESSAGES_MAX, signal: stop })) {
        pass.take(group);
        await pass.compare(false);
        await waitForView();
        if (isOver()) break;
        await rest();
      }
  } finally {
    reading.abort();
  }
  if (ending.aborted || pass.position() < end) return;
  // This counts even if the log has grown meanwhile, as a busy log always has.
  await pass.compare(true);
  onRound();
  if (!hasMoreHeads) await pause(REST_MS, ending);
};

/** Lets everything else in this process go first. */
const createRests = (pause: MonitorDependencies["pause"], signal: AbortSignal) => {
  let beganMs = performance.now();
  return async (): Promise<void> => {
    await pause((performance.now() - beganMs) * (1 / MONITOR_DUTY - 1), signal);
    beganMs = performance.now();
  };
};

/** One reading of the log from its first message on. */
const createPass = (dependencies: MonitorDependencies) => {
  const { serviceName, keys, checkpoints, trees, logger, onAlarm, onPosition } = dependencies;
  const tenants = new Map<string, ReturnType<typeof createRecomputedTree>>();
  let position = 0;
  let revision = 0;
  const alarm: Alarm = (kind, fields) => {
    onAlarm(kind);
    logger.error("the log, its tree and signed heads do not agree", { code: kind, ...fields });
  };
  const treeOf = (tenant: string) => {
    const tree = tenants.get(tenant) ?? createRecomputedTree(trees, tenant, alarm);
    tenants.set(tenant, tree);
    return tree;
  };
  const held = (what: "heads" | "tiles" | "leaves"): number =>
    tenants.values().reduce((sum, tree) => sum + tree.held()[what], 0);
  return {
    position: () => position,
    held,
    /**
     * Returns whether there are more heads. Not all are read at once: checking a signature takes as long as reading ten records, and each head waits
     * in memory for its records.
     */
    readHeads: async (rest: () => Promise<void>, ending: AbortSignal): Promise<boolean> => {
      let read = 0;
      for await (const { tenant, note, ...stored } of checkpoints.since(revision)) {
        ({ revision } = stored);
        const origin = originOf(serviceName, tenant);
        const opened = openCheckpoint(note, { origin, verifiers: keys.verifiers(origin) });
        treeOf(tenant).takeHead(revision, opened.kind === "opened" ? opened.checkpoint : undefined);
        read++;
        if (read % MONITOR_HEADS_PER_TURN === 0) await rest();
        if (read === CHECKPOINTS_PER_READ || ending.aborted) return true;
      }
      return false;
    },
    take: (messages: readonly StoredMessage[]): void => {
      for (const { sequence, subject, payload } of messages) {
        if (sequence !== position + 1)
          alarm("hole", { sequence: position + 1, detail: `the log resumes at ${sequence}` });
        position = sequence;
        const tenant = tenantOfAudit(subject);
        if (tenant !== undefined) treeOf(tenant).append(sequence, payload);
      }
      onPosition(position);
    },
    /** `isWhole`: the log was read to where it ended when the heads were read. */
    compare: async (isWhole: boolean): Promise<void> => {
      const seen = await trees.position();
      for (const tree of tenants.values()) await tree.compareHeads(isWhole);
      for (const tree of tenants.values()) await tree.compareTiles(seen);
      // No head is skipped by this: all of them were checked just before.
      if (held("leaves") > MONITOR_LEAVES_UNSIGNED_MAX) for (const tree of tenants.values()) tree.passOlder();
    },
  };
};

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

/**
 * One tenant's tree, computed from its records and compared with what was signed and with what the view keeps. It shares no code with the view
 * except the hashes of RFC 6962, so that a fault there is not repeated here. Each kind of alarm about heads is raised once: all later heads differ as
 * well.
 */
const createRecomputedTree = (trees: Pick<TreeSource, "tile">, tenant: string, alarm: Alarm) => {
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
