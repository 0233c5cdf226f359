/** The role `sealer`: signs tree heads and monitors them. A process that signs must be the first to know if something does not agree. */
import { HEADS_COPY_MS_MIN, PUBLISH_KEYS_MS, UNSEALED_MS_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";
import { type KeyRing, type KeysPublished, publishKeys } from "../proof/key-ring.ts";
import { MONITOR_ALARMS, watchLog } from "../proof/monitor.ts";
import type { HeadsCopy } from "../proof/ports.ts";
import { createSealer } from "../proof/seal.ts";
import { countFromZero } from "../telemetry/metrics.ts";
import { endOfItsLog, recordHash } from "../views/kit/view-end.ts";
import { treeSource } from "../views/tree/queries.ts";
import { TREE_VIEW } from "../views/tree/tables.ts";
import { inBackground, loop, pause } from "./background.ts";
import { loadCheckpointKeys } from "./checkpoint-key.ts";
import type { HeadsFolder } from "./heads-folder.ts";
import { troubleOfCopy } from "./log-end.ts";
import type { Parts } from "./parts.ts";

export type RunningSealer = Awaited<ReturnType<typeof startSealer>>;

export const startSealer = async (parts: Parts) => {
  const { dataDir, checkpointKey: configured, checkpointIntervalMs } = parts.config;
  const keys = await loadCheckpointKeys({ dataDir, configured });
  const unsealedMs = startSealing(parts, keys);
  const monitor = startMonitoring(parts, keys);
  return {
    /** The age of the oldest record that no published head covers; 0 if there is none. */
    unsealedMs,
    /** Above it the sealer is behind. */
    unsealedMsMax: Math.max(UNSEALED_MS_MAX, 3 * checkpointIntervalMs),
    monitor,
  };
};

const startSealing = (parts: Parts, keys: KeyRing) => {
  const { config, log, views, checkpoints, headsFolder, logger, metrics, now, stack } = parts;
  const { serviceName, checkpointIntervalMs: intervalMs } = config;
  // `sealed` too: otherwise nobody could see that nothing was ever signed.
  countFromZero(metrics.sealOutcomes, "outcome", ["refused", "sealed"]);
  const sealer = createSealer({
    serviceName,
    keys,
    trees: treeSource(views),
    isOfLog: async () => (await endOfItsLog({ views, log }, TREE_VIEW)) !== undefined,
    copy: headsFolder && copyIn(headsFolder, log),
    checkpoints,
    logger,
    onOutcome: ({ kind }) => metrics.sealOutcomes.inc({ outcome: kind }),
  });
  let publishedMs = Number.NEGATIVE_INFINITY;
  let published: KeysPublished | undefined;
  const look = async (): Promise<void> => {
    // Published before anything is signed, so that the keys that verify a checkpoint are there when the checkpoint is. Repeated, because
    // emptying the stream removes them too.
    if (performance.now() - publishedMs >= PUBLISH_KEYS_MS) {
      const before = published;
      published = await publishKeys(checkpoints, keys, before);
      if (published === "strangers") {
        metrics.sealOutcomes.inc({ outcome: "refused" });
        if (before !== "strangers") logger.error(`no tree head is signed: ${STRANGERS}. ${KEEP_THE_OLD_KEY}`);
        return;
      }
      publishedMs = performance.now();
    }
    await sealer.look();
  };
  const restMs = headsFolder ? Math.max(intervalMs, HEADS_COPY_MS_MIN) : intervalMs;
  stack.use(
    loop({
      look,
      onFailed: (error) => logger.warn("tree heads were not signed, trying again", { detail: String(error) }),
      restMs,
    }),
  );
  let levelAt = now().getTime();
  /** Counted at most from when all was last seen sealed: trees that are rebuilt begin with old records. */
  return async (): Promise<number> => {
    const end = await log.lastSequence();
    const through = sealer.sealedThrough();
    const nowMs = now().getTime();
    if (end === 0 || end === through) levelAt = nowMs;
    if (levelAt === nowMs || through === undefined) return nowMs - levelAt;
    const message = await log.read(through + 1);
    const received = Date.parse((message && decodeRecord(message.payload))?.receivedAt ?? "");
    return Math.max(0, nowMs - Math.max(levelAt, Number.isNaN(received) ? 0 : received));
  };
};

const copyIn = (folder: HeadsFolder, log: LogReader): HeadsCopy => ({
  read: folder.read,
  problem: async () => (await troubleOfCopy(log, folder))?.detail,
  keep: async (notes, sequence) => {
    const message = await log.read(sequence);
    if (!message) throw new LogUnavailableError(`The log does not return the record ${sequence}.`);
    const heads = new Map([...notes].map(([tenant, note]) => [tenant, { note, extensions: [] }]));
    await folder.add({ end: { sequence, record: recordHash(message.payload) }, heads });
  },
});

export const STRANGERS =
  "none of the signing keys in CHECKPOINT_KEY, or else in DATA_DIR/checkpoint.key, has signed here, and others have";

export const KEEP_THE_OLD_KEY =
  "Was the key replaced without keeping the old one, or is it another installation's? Restore the old key, or add public: and its line of GET /v1/log/key below the new one";

const startMonitoring = (parts: Parts, keys: KeyRing) => {
  const { config, log, views, checkpoints, logger, metrics, now, stack } = parts;
  countFromZero(metrics.monitorAlarms, "kind", MONITOR_ALARMS);
  let state: {
    readonly startedAt: Date;
    /** When the whole log was last read to its end, and found to agree or reported. */
    readonly roundAt?: Date | undefined;
    /** Since when nothing could be read, and why. */
    readonly failing?: { readonly since: Date; readonly detail: string } | undefined;
  } = { startedAt: now() };
  const monitor = {
    ...{ log, checkpoints, keys, serviceName: config.serviceName, logger, pause },
    trees: treeSource(views),
    onAlarm: (kind: string) => metrics.monitorAlarms.inc({ kind }),
    onPosition: (sequence: number) => {
      state = { ...state, failing: undefined };
      metrics.monitorPosition.set(sequence);
    },
    onRound: () => {
      const roundAt = now();
      state = { ...state, roundAt, failing: undefined };
      metrics.monitorRound.set(roundAt.getTime() / 1000);
    },
    onFailure: (detail: string) => {
      state = { ...state, failing: { since: state.failing?.since ?? now(), detail } };
    },
  };
  stack.use(inBackground((signal) => watchLog(monitor, signal)));
  return () => state;
};
