/** Runs the sealer. */

import { HEADS_COPY_MS_MIN, PUBLISH_KEYS_MS } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";
import type { CheckpointStore } from "../proof/checkpoint-store.ts";
import type { KeyRing } from "../proof/key-ring.ts";
import type { HeadsCopy } from "../proof/known-heads.ts";
import { createSealer } from "../proof/sealer.ts";
import { type KeysPublished, publishKeys } from "../proof/verifier-keys.ts";
import type { Logger } from "../telemetry/logger.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import { lookAgain } from "../views/kit/look-again.ts";
import { endOfItsLog, recordHash } from "../views/kit/view-end.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { treeSource } from "../views/tree/queries.ts";
import { TREE_VIEW } from "../views/tree/tables.ts";
import { inBackground, pause } from "./background.ts";
import type { HeadsFolder } from "./heads-folder.ts";
import { troubleOfCopy } from "./log-end.ts";

export const startSealing = (dependencies: {
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly checkpoints: CheckpointStore;
  readonly headsFolder: HeadsFolder | undefined;
  readonly keys: KeyRing;
  readonly serviceName: string;
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now: () => Date;
}): AsyncDisposable & { readonly unsealedMs: () => Promise<number> } => {
  const { log, views, checkpoints, headsFolder, keys, serviceName, intervalMs, logger, metrics, now } =
    dependencies;
  // `sealed` too: otherwise nobody could see that nothing was ever signed.
  countFromZero(metrics.sealOutcomes, [{ outcome: "refused" }, { outcome: "sealed" }]);
  const trees = treeSource(views);
  const isOfLog = async (): Promise<boolean> => (await endOfItsLog({ views, log }, TREE_VIEW)) !== undefined;
  const sealer = createSealer({
    serviceName,
    keys,
    trees,
    isOfLog,
    copy: headsFolder && copyIn(headsFolder, log),
    checkpoints,
    logger,
    onOutcome: ({ kind }) => metrics.sealOutcomes.inc({ outcome: kind }),
  });
  const restMs = headsFolder ? Math.max(intervalMs, HEADS_COPY_MS_MIN) : intervalMs;
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
  const onFailed = (error: unknown): void =>
    logger.warn("tree heads were not signed, trying again", { detail: String(error) });
  let levelAt = now().getTime();
  /** At most since all of it was sealed when somebody last asked: trees that are rebuilt begin with old records. */
  const unsealedMs = async (): Promise<number> => {
    const end = await log.lastSequence();
    const through = sealer.sealedThrough();
    const nowMs = now().getTime();
    if (end === 0 || end === through) levelAt = nowMs;
    if (levelAt === nowMs || through === undefined) return nowMs - levelAt;
    const message = await log.read(through + 1);
    const received = Date.parse((message && decodeRecord(message.payload))?.receivedAt ?? "");
    return Math.max(0, nowMs - Math.max(levelAt, Number.isNaN(received) ? 0 : received));
  };
  const running = inBackground((signal) => lookAgain({ look, onFailed, restMs, pause, signal }));
  return { unsealedMs, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
};

const copyIn = (folder: HeadsFolder, log: LogReader): HeadsCopy => ({
  read: folder.read,
  problem: async () => (await troubleOfCopy(log, folder))?.detail,
  keep: async (notes, sequence) => {
    const message = await log.read(sequence);
    if (!message) throw new LogUnavailableError(`The log does not give back the record ${sequence}.`);
    const heads = new Map([...notes].map(([tenant, note]) => [tenant, { note, extensions: [] }]));
    await folder.add({ end: { sequence, record: recordHash(message.payload) }, heads });
  },
});

export const STRANGERS =
  "none of the signing keys in CHECKPOINT_KEY, or else in DATA_DIR/checkpoint.key, has signed here, and others have";

export const KEEP_THE_OLD_KEY =
  "Was the key replaced without keeping the old one, or is it that of another installation? Put the old key back, or public: and its line of GET /v1/log/key below the new one";
