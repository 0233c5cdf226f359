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
import type { Logger } from "../telemetry/logger.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";
import type { KeyRing } from "./key-ring.ts";
import { type Alarm, createRecomputedTree, type MonitorAlarm } from "./recompute.ts";
import { originOf } from "./seal.ts";
import { openCheckpoint } from "./tlog-checkpoint.ts";
import { TILE_WIDTH } from "./tlog-tiles.ts";
import type { TreeSource } from "./tree-source.ts";

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
