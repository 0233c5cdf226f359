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
import { createRecomputedTree, type HeadCheck, type MadeTile, type ReadLeaf } from "./recompute.ts";
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
          logger.warn("the log could not be watched, trying again", { detail: String(error) });
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
    ending.aborted || pass.position() >= end || (hasMoreHeads && !pass.hasHeads());
  while (!isOver()) {
    if (pass.isAhead()) {
      await pause(REST_MS, ending);
      await pass.compare(false);
      continue;
    }
    const reading = new AbortController();
    const stop = AbortSignal.any([ending, reading.signal]);
    const from = pass.position() + 1;
    try {
      for await (const group of log.follow({ from, messagesMax: MONITOR_MESSAGES_MAX, signal: stop })) {
        pass.take(group);
        await pass.compare(false);
        if (isOver() || pass.isAhead()) break;
        await rest();
      }
    } finally {
      reading.abort();
    }
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

type Alarm = (kind: MonitorAlarm, fields: LogFields) => void;

/** What one pass knows of one tenant. Each kind of alarm about heads is raised once: all later heads differ as well. */
const createTenantWatch = (dependencies: MonitorDependencies, tenant: string, alarm: Alarm) => {
  const { trees } = dependencies;
  const tree = createRecomputedTree();
  /** Signed heads that were not checked yet, by size. */
  let heads: Checkpoint[] = [];
  /** The largest head that was read, of those that were not given up. */
  let largest: Checkpoint | undefined;
  /** A tile that could not be read. */
  let unread: MadeTile | undefined;
  const raised = new Set<"unverifiable" | "behind_signed" | "differs">();
  const once = (kind: "unverifiable" | "behind_signed", detail: string): void => {
    if (!raised.has(kind)) alarm(kind, { tenant, detail });
    raised.add(kind);
  };
  return {
    tree,
    heads: () => heads.length,
    /** A head that covers less than the one before is not compared with records, because these may have been passed already. */
    takeHead: (stored: StoredCheckpoint): void => {
      const { revision } = stored;
      const head = openHead(dependencies, tenant, stored);
      if (head === undefined) {
        once("unverifiable", `checkpoint ${revision} is signed by no key of ours`);
        return;
      }
      const { size, extensions = [] } = head;
      const isRestored = largest !== undefined && isGivenUp(largest, extensions);
      if (isRestored) heads = heads.filter((waiting) => !isGivenUp(waiting, extensions));
      if (largest !== undefined && !isRestored && size < largest.size) {
        const detail = `checkpoint ${revision} has ${size} leaves, and stands behind one of ${largest.size}`;
        once("behind_signed", detail);
        return;
      }
      largest = head;
      heads.push(head);
    },
    compareHeads: async (isWhole: boolean): Promise<void> => {
      for (let head = heads[0]; head !== undefined; head = heads[0]) {
        const check = tree.check(head);
        if (check.kind === "ahead" && !isWhole) return;
        heads.shift();
        if (raised.has("differs") || check.kind === "agrees" || check.kind === "passed") continue;
        raised.add("differs");
        const [kind, detail] = sayingOf(check, head, tree.size());
        alarm(kind, { tenant, ...(await namingFirst(trees, tenant, check.leaves, detail)) });
      }
    },
    /** `seen`: how far the view has read. */
    compareTiles: async (seen: Sequence): Promise<void> => {
      const { tiles } = tree;
      for (let tile = tiles[0]; tile && tile.lastSequence <= seen; tile = tiles[0]) {
        // If the views were away just then, it is asked for once more; a tile that cannot be read at all does not block the next ones.
        const isLastTry = unread === tile;
        unread = tile;
        if (isLastTry) tiles.shift();
        const stored = await trees.tile(tenant, { ...tile, width: TILE_WIDTH });
        if (!isLastTry) tiles.shift();
        unread = undefined;
        if (stored && Buffer.compare(stored, tile.bytes) === 0) continue;
        alarm("tile_differs", { tenant, detail: differingTile(tile, stored) });
      }
    },
  };
};

/** One reading of the log from its first message on. */
const createPass = (dependencies: MonitorDependencies) => {
  const { checkpoints, trees, logger, onAlarm, onPosition } = dependencies;
  const tenants = new Map<string, ReturnType<typeof createTenantWatch>>();
  let position = 0;
  let revision = 0;
  const alarm: Alarm = (kind, fields) => {
    onAlarm(kind);
    logger.error("the log, its tree and what was signed do not agree", { code: kind, ...fields });
  };
  const watchOf = (tenant: string) => {
    const watch = tenants.get(tenant) ?? createTenantWatch(dependencies, tenant, alarm);
    tenants.set(tenant, watch);
    return watch;
  };
  const tilesWaiting = (): number => tenants.values().reduce((sum, { tree }) => sum + tree.tiles.length, 0);
  const leavesHeld = (): number => tenants.values().reduce((sum, { tree }) => sum + tree.unsigned(), 0);
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
        watchOf(stored.tenant).takeHead(stored);
        read++;
        if (read % MONITOR_HEADS_PER_TURN === 0) await rest();
        if (read === CHECKPOINTS_PER_READ || ending.aborted) return true;
      }
      return false;
    },
    hasHeads: (): boolean => tenants.values().some((watch) => watch.heads() > 0),
    /** Too many tiles wait for the view, which is far behind: it may be being rebuilt. */
    isAhead: (): boolean => tilesWaiting() * TILE_WIDTH > VIEW_LAG_RECORDS_MAX,
    take: (messages: readonly StoredMessage[]): void => {
      for (const { sequence, subject, payload } of messages) {
        if (sequence !== position + 1)
          alarm("hole", { sequence: position + 1, detail: `the log goes on at ${sequence}` });
        position = sequence;
        const tenant = tenantOfAudit(subject);
        if (tenant !== undefined) watchOf(tenant).tree.append(sequence, payload);
      }
      onPosition(position);
    },
    /** `isWhole`: the log was read to where it ended when the heads were read. */
    compare: async (isWhole: boolean): Promise<void> => {
      const seen = await trees.position();
      for (const watch of tenants.values()) {
        await watch.compareHeads(isWhole);
        await watch.compareTiles(seen);
      }
      // No head is skipped by this: all of them were checked just before.
      if (leavesHeld() > MONITOR_LEAVES_UNSIGNED_MAX)
        for (const { tree } of tenants.values()) tree.passOlder();
    },
  };
};

const sayingOf = (
  check: Extract<HeadCheck, { readonly leaves: unknown }>,
  head: Checkpoint,
  size: number,
): [kind: MonitorAlarm, detail: string] =>
  check.kind === "ahead"
    ? ["shorter_than_signed", `${head.size} records were signed, the log holds ${size}`]
    : ["root_differs", `leaves ${check.agreedSize} to ${head.size - 1} are not as they were signed`];

const openHead = (
  { serviceName, keys }: Pick<MonitorDependencies, "serviceName" | "keys">,
  tenant: string,
  { note }: StoredCheckpoint,
): Checkpoint | undefined => {
  const origin = originOf(serviceName, tenant);
  const opened = openCheckpoint(note, { origin, verifiers: keys.verifiers(origin) });
  return opened.kind === "opened" ? opened.checkpoint : undefined;
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
