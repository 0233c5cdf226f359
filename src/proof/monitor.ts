/**
 * Checks this installation itself: reads the whole log again from its first message, computes the tree of every tenant, and compares it with every
 * signed tree head and every served tile. Then it follows the log, and starts over after a day, because records that were right yesterday may be
 * altered today.
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
import type { CheckpointStore, StoredCheckpoint } from "./checkpoint-store.ts";
import type { KeyRing } from "./key-ring.ts";
import {
  createRecomputedTree,
  type HeadCheck,
  type MadeTile,
  type ReadLeaf,
  type RecomputedTree,
} from "./recompute.ts";
import { isGivenUp } from "./restored-line.ts";
import { HASH_BYTES, sameHash } from "./rfc6962.ts";
import { originOf } from "./seal.ts";
import { type Checkpoint, openCheckpoint } from "./tlog-checkpoint.ts";
import { TILE_WIDTH } from "./tlog-tiles.ts";
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

export interface MonitorDependencies {
  readonly serviceName: string;
  readonly keys: KeyRing;
  readonly log: LogReader;
  readonly checkpoints: Pick<CheckpointStore, "since">;
  readonly trees: Pick<TreeSource, "tile" | "position">;
  readonly logger: Logger;
  readonly onAlarm: (kind: MonitorAlarm) => void;
  readonly onPosition: (sequence: Sequence) => void;
  /** Called when the log was read to its end, from its first message on. */
  readonly onRound: () => void;
  readonly onFailure: (detail: string) => void;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
}

/** Runs pass after pass until the signal is aborted. Never rejects: after a failed read it continues where it was. */
export const watchLog = async (dependencies: MonitorDependencies, signal: AbortSignal): Promise<void> => {
  const { logger, pause, onFailure } = dependencies;
  while (!signal.aborted) {
    const watch = createWatch(dependencies);
    const ending = AbortSignal.any([signal, AbortSignal.timeout(LOG_REREAD_MS)]);
    while (!ending.aborted) {
      try {
        await readOn(dependencies, watch, ending);
      } catch (error) {
        if (!ending.aborted) {
          logger.warn("the log could not be watched, trying again", { detail: String(error) });
          onFailure(String(error));
        }
        await pause(RETRY_MS, ending);
      }
    }
  }
};

type Watch = ReturnType<typeof createWatch>;

/** Reads some tree heads, and the log as far as they cover it. If no further heads come before the end of the log, it rests there. */
const readOn = async (
  { log, pause, onRound }: MonitorDependencies,
  watch: Watch,
  ending: AbortSignal,
): Promise<void> => {
  const rest = createRests(pause, ending);
  const hasMoreHeads = await watch.readHeads(rest, ending);
  if (ending.aborted) return;
  // Read after the heads: the records that they cover are in the log by then.
  const end = await log.lastSequence();
  const isOver = (): boolean =>
    ending.aborted || watch.position() >= end || (hasMoreHeads && !watch.hasHeads());
  while (!isOver()) {
    if (!watch.isAhead()) await follow({ log, watch, rest: createRests(pause, ending), isOver, ending });
    else {
      await pause(REST_MS, ending);
      await watch.look(false);
    }
  }
  if (ending.aborted || watch.position() < end) return;
  // This counts even if the log has grown meanwhile, as a busy log always has.
  await watch.look(true);
  onRound();
  if (!hasMoreHeads) await pause(REST_MS, ending);
};

/** Reads the log from the position of the watch, until the pass is over or too far ahead of the view. */
const follow = async (following: {
  readonly log: LogReader;
  readonly watch: Watch;
  readonly rest: () => Promise<void>;
  readonly isOver: () => boolean;
  readonly ending: AbortSignal;
}): Promise<void> => {
  const { log, watch, rest, isOver, ending } = following;
  const reading = new AbortController();
  const messages = log.follow({
    from: watch.position() + 1,
    messagesMax: MONITOR_MESSAGES_MAX,
    signal: AbortSignal.any([ending, reading.signal]),
  });
  try {
    for await (const group of messages) {
      watch.take(group);
      await watch.look(false);
      if (isOver() || watch.isAhead()) return;
      await rest();
    }
  } finally {
    reading.abort();
  }
};

/** Lets everything else in this process go first. */
const createRests = (pause: MonitorDependencies["pause"], signal: AbortSignal) => {
  let beganMs = performance.now();
  return async (): Promise<void> => {
    await pause((performance.now() - beganMs) * (1 / MONITOR_DUTY - 1), signal);
    beganMs = performance.now();
  };
};

/** The wait when there is nothing new, and when the view is behind. */
const REST_MS = 1000;
/** The wait after a failed read. */
const RETRY_MS = 5000;

interface Watched {
  readonly tree: RecomputedTree;
  /** Signed heads that were not checked yet, by size. */
  heads: Checkpoint[];
  /** The largest head that was read, of those that were not given up. */
  largest: Checkpoint | undefined;
  readonly tiles: MadeTile[];
  /** Each tenant is reported once in a pass: all later heads differ as well. */
  hasDiffered: boolean;
  hasUnverifiable: boolean;
  hasGoneBack: boolean;
}

const createWatch = (dependencies: MonitorDependencies) => {
  const { checkpoints, trees, logger, onAlarm, onPosition } = dependencies;
  const tenants = new Map<string, Watched>();
  let position = 0;
  let revision = 0;
  const alarm = (kind: MonitorAlarm, fields: LogFields): void => {
    onAlarm(kind);
    logger.error("the log, its tree and what was signed do not agree", { code: kind, ...fields });
  };
  const watched = (tenant: string): Watched => {
    const known = tenants.get(tenant);
    if (known) return known;
    const tree = createRecomputedTree();
    const told = { hasDiffered: false, hasUnverifiable: false, hasGoneBack: false };
    const made: Watched = { tree, heads: [], largest: undefined, tiles: [], ...told };
    tenants.set(tenant, made);
    return made;
  };
  const sumOf = (count: (each: Watched) => number): number =>
    tenants.values().reduce((sum, each) => sum + count(each), 0);
  const checkHeads = async (tenant: string, each: Watched, isWhole: boolean): Promise<void> => {
    for (let head = each.heads[0]; head !== undefined; head = each.heads[0]) {
      const check = each.tree.check(head);
      if (check.kind === "ahead" && !isWhole) return;
      each.heads.shift();
      if (each.hasDiffered || check.kind === "agrees" || check.kind === "passed") continue;
      each.hasDiffered = true;
      const [kind, detail] = sayingOf(check, head, each.tree);
      alarm(kind, { tenant, ...(await namingFirst(trees, tenant, check.leaves, detail)) });
    }
  };
  let unread: MadeTile | undefined;
  /**
   * Checks the first of the waiting tiles. If the views were away just then, it is asked for once more; a tile that cannot be read at all does not
   * block the next ones.
   */
  const tileOnceMore = async (tenant: string, { tiles }: Watched, tile: MadeTile) => {
    try {
      return await trees.tile(tenant, { ...tile, width: TILE_WIDTH });
    } catch (error) {
      if (unread === tile) tiles.shift();
      unread = tile;
      throw error;
    }
  };
  const checkTiles = async (tenant: string, each: Watched, seen: Sequence): Promise<void> => {
    each.tiles.push(...each.tree.takeTiles());
    for (let tile = each.tiles[0]; tile && tile.lastSequence <= seen; tile = each.tiles[0]) {
      const stored = await tileOnceMore(tenant, each, tile);
      each.tiles.shift();
      if (stored && Buffer.compare(stored, tile.bytes) === 0) continue;
      alarm("tile_differs", { tenant, detail: differingTile(tile, stored) });
    }
  };

  return {
    position: () => position,
    /**
     * Returns whether there are more heads. Not all are read at once: checking a signature takes as long as reading ten records, and each head waits
     * in memory for its records.
     */
    readHeads: async (rest: () => Promise<void>, ending: AbortSignal): Promise<boolean> => {
      let read = 0;
      for await (const stored of checkpoints.since(revision)) {
        ({ revision } = stored);
        const { tenant } = stored;
        const wrong = takeHead(watched(tenant), openHead(dependencies, tenant, stored), revision);
        if (wrong) alarm(wrong.kind, { tenant, detail: wrong.detail });
        read++;
        if (read % MONITOR_HEADS_PER_TURN === 0) await rest();
        if (read === CHECKPOINTS_PER_READ || ending.aborted) return true;
      }
      return false;
    },
    hasHeads: (): boolean => tenants.values().some(({ heads }) => heads.length > 0),
    /** Too many tiles wait for the view, which is far behind: it may be being rebuilt. */
    isAhead: (): boolean => sumOf(({ tiles }) => tiles.length) * TILE_WIDTH > VIEW_LAG_RECORDS_MAX,
    take: (messages: readonly StoredMessage[]): void => {
      for (const { sequence, subject, payload } of messages) {
        if (sequence !== position + 1)
          alarm("hole", { sequence: position + 1, detail: `the log goes on at ${sequence}` });
        position = sequence;
        const tenant = tenantOfAudit(subject);
        if (tenant !== undefined) watched(tenant).tree.append(sequence, payload);
      }
      onPosition(position);
    },
    /** `isWhole`: the log was read to where it ended when the heads were read. */
    look: async (isWhole: boolean): Promise<void> => {
      const seen = await trees.position();
      for (const [tenant, each] of tenants) {
        await checkHeads(tenant, each, isWhole);
        await checkTiles(tenant, each, seen);
      }
      // No head is skipped by this: all of them were checked just before.
      if (sumOf(({ tree }) => tree.unsigned()) > MONITOR_LEAVES_UNSIGNED_MAX)
        for (const { tree } of tenants.values()) tree.passOlder();
    },
  };
};

/**
 * What is wrong with the head, unless it was reported before. A head that covers less than the one before is not compared with records, because these
 * may have been passed already.
 */
const takeHead = (
  each: Watched,
  head: Checkpoint | undefined,
  place: number,
): { readonly kind: MonitorAlarm; readonly detail: string } | undefined => {
  if (head === undefined) {
    if (each.hasUnverifiable) return undefined;
    each.hasUnverifiable = true;
    return { kind: "unverifiable", detail: `checkpoint ${place} is signed by no key of ours` };
  }
  const { largest } = each;
  const isRestored = largest !== undefined && isGivenUp(largest, head.extensions ?? []);
  if (isRestored) each.heads = each.heads.filter((waiting) => !isGivenUp(waiting, head.extensions ?? []));
  if (largest === undefined || isRestored || head.size >= largest.size) {
    each.largest = head;
    each.heads.push(head);
    return undefined;
  }
  if (each.hasGoneBack) return undefined;
  each.hasGoneBack = true;
  const detail = `checkpoint ${place} has ${head.size} leaves, and stands behind one of ${largest.size}`;
  return { kind: "behind_signed", detail };
};

const openHead = (
  { serviceName, keys }: Pick<MonitorDependencies, "serviceName" | "keys">,
  tenant: string,
  { note }: StoredCheckpoint,
): Checkpoint | undefined => {
  const origin = originOf(serviceName, tenant);
  const opened = openCheckpoint(note, { origin, verifiers: keys.verifiers(origin) });
  return opened.kind === "opened" ? opened.checkpoint : undefined;
};

const sayingOf = (
  check: Extract<HeadCheck, { readonly leaves: unknown }>,
  head: Checkpoint,
  tree: RecomputedTree,
): [kind: MonitorAlarm, detail: string] =>
  check.kind === "ahead"
    ? ["shorter_than_signed", `${head.size} records were signed, the log holds ${tree.size()}`]
    : ["root_differs", `leaves ${check.agreedSize} to ${check.size - 1} are not as they were signed`];

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
        return { sequence, detail: `${detail}; the first that the view has otherwise is leaf ${index}` };
    }
  } catch (error) {
    return { detail: `${detail}; the view was not asked where: ${String(error)}` };
  }
  return { detail };
};

const differingTile = ({ level, index, bytes }: MadeTile, stored: Uint8Array | undefined): string => {
  if (!stored) return `tile ${level}/${index} is gone`;
  const place = bytes.findIndex((byte, at) => byte !== stored[at]);
  const hash = index * TILE_WIDTH + Math.floor(place / HASH_BYTES);
  return level === 0
    ? `leaf ${hash} is not the hash of its record`
    : `hash ${hash} of level ${level} is not what the tiles below it give`;
};
