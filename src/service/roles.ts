/** What the roles `projector` and `sealer` run beside the requests. */

import type { RetentionStore } from "../access/retention/retention-store.ts";
import { TRANSITIONS } from "../law/obligations/transitions.ts";
import { UNSEALED_MS_MAX } from "../limits.ts";
import type { AcceptedCounts } from "../log/accepted-counts.ts";
import type { Sequence } from "../log/outcome.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { createDutyPublisher } from "../nats/duty-publisher.ts";
import { countFromZero, type Metrics } from "../telemetry/metrics.ts";
import { type AnnouncerDependencies, keepAnnouncing } from "../views/announcements/announcer.ts";
import { inBackground } from "./background.ts";
import { loadCheckpointKeys } from "./checkpoint-key.ts";
import type { Config } from "./config.ts";
import { startCounting } from "./counting.ts";
import { startExpiring } from "./expiring.ts";
import { startMonitoring } from "./monitoring.ts";
import type { KeepStream } from "./open-log.ts";
import { startProjecting } from "./projecting.ts";
import { startReconciling } from "./reconciling.ts";
import { startSealing } from "./sealing.ts";
import type { Work } from "./work-reasons.ts";

/** Moves the views, announces duties, lets events expire, and reconciles. One process does it for all front ends. */
export const startProjector = (
  stack: AsyncDisposableStack,
  parts: Parameters<typeof startProjecting>[0] &
    Parameters<typeof startAnnouncing>[0] & {
      readonly retentionStore: RetentionStore;
      readonly accepted: AcceptedCounts;
    },
): void => {
  const {
    projections,
    rules,
    connection,
    keepStream,
    retentionStore: retention,
    accepted,
    ...shared
  } = parts;
  stack.use(startProjecting({ ...shared, projections }));
  stack.use(startAnnouncing({ ...shared, rules, connection, keepStream }));
  stack.use(startExpiring({ ...shared, retention, projections, rules }));
  stack.use(startReconciling({ ...shared, accepted }));
  stack.use(startCounting(shared));
};

/** Signs tree heads and monitors them: a process that signs must be the first to know if something does not agree. */
export const startSealer = async (
  stack: AsyncDisposableStack,
  { dataDir, checkpointKey: configured, serviceName, checkpointIntervalMs: intervalMs }: Config,
  shared: Omit<Parameters<typeof startSealing>[0], "keys" | "serviceName" | "intervalMs">,
): Promise<Work["sealer"]> => {
  const keys = await loadCheckpointKeys({ dataDir, configured });
  const { unsealedMs } = stack.use(startSealing({ ...shared, keys, serviceName, intervalMs }));
  const { state } = stack.use(startMonitoring({ ...shared, keys, serviceName }));
  return { unsealedMs, unsealedMsMax: Math.max(UNSEALED_MS_MAX, 3 * intervalMs), monitor: state };
};

const startAnnouncing = ({
  connection,
  metrics,
  keepStream,
  logEnd,
  ...shared
}: Omit<AnnouncerDependencies, "publish" | "lastPublished" | "onAnnounced" | "onPosition"> & {
  readonly connection: BrokerConnection;
  readonly metrics: Metrics;
  readonly keepStream: KeepStream;
  readonly logEnd: Sequence | undefined;
}): AsyncDisposable => {
  const { publish, lastPublished, stall } = createDutyPublisher(connection, () => performance.now());
  keepStream("The stream of obligations", stall);
  countFromZero(
    metrics.dutiesAnnounced,
    TRANSITIONS.map((transition) => ({ transition })),
  );
  const dependencies: AnnouncerDependencies = {
    ...shared,
    publish,
    lastPublished,
    onAnnounced: (transition) => metrics.dutiesAnnounced.inc({ transition }),
    onPosition: (sequence) => metrics.dutiesPosition.set(sequence),
  };
  return inBackground((signal) => keepAnnouncing(dependencies, { logEnd, signal }));
};
