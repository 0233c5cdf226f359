/** Metrics of the installation and its health, found out when they are read. */
import type { Readiness } from "../api/routes/operation.ts";
import { METRICS_LOG_MS_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";
import { type LogState, readLogState } from "../nats/broker-health.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { runtimeVersion } from "../runtime/version.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Projection } from "../views/kit/projection.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import type { BrokerWatch } from "./broker-watch.ts";
import type { Config } from "./config.ts";
import { HEALTH_REASON_IDS } from "./health-reasons.ts";
import { inTime } from "./in-time.ts";
import { standing } from "./view-standing.ts";
import { freeBytes, type Work } from "./work-reasons.ts";

export const measureHealth = (parts: {
  readonly config: Pick<Config, "dataDir" | "headsCopy">;
  readonly connection: BrokerConnection;
  readonly brokers: Pick<BrokerWatch, "state">;
  readonly reader: LogReader;
  readonly views: Pick<ViewStore, "load">;
  readonly projections: readonly Projection[];
  readonly work: Work;
  readonly reasons: Readiness["reasons"];
  readonly metrics: Pick<Metrics, "watch" | "watchHealth" | "buildInfo">;
  readonly version: string;
}): void => {
  const { metrics, version, reasons, work } = parts;
  metrics.buildInfo.set({ version, runtime: runtimeVersion() }, 1);
  metrics.watchHealth({ ids: HEALTH_REASON_IDS, reasons: () => inTime(reasons(), METRICS_LOG_MS_MAX) });
  measureLog(parts);
  measureBrokers(parts);
  measureDisk(parts);
  const { watch } = metrics;
  watch.projectionLag(() => inTime(lags(parts), METRICS_LOG_MS_MAX));
  const { sealer } = work;
  if (sealer)
    watch.unsealedAge(async () => {
      const ms = await inTime(sealer.unsealedMs(), METRICS_LOG_MS_MAX);
      return ms === undefined ? undefined : [{ value: ms / 1000 }];
    });
};

type Parts = Parameters<typeof measureHealth>[0];

const measureLog = ({ metrics, connection }: Pick<Parts, "metrics" | "connection">): void => {
  let asked: Promise<LogState | undefined> | undefined;
  /** The library asks for both figures in one turn; the broker is asked once. */
  const state = (): Promise<LogState | undefined> => {
    asked ??= inTime(readLogState(connection.nats), METRICS_LOG_MS_MAX).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  const watched = (figure: (state: LogState) => number) => async () => {
    const found = await state();
    return found && [{ value: figure(found) }];
  };
  metrics.watch.logLastSequence(watched(({ lastSequence }) => lastSequence));
  metrics.watch.logCopies(watched(({ copies }) => copies));
};

const measureBrokers = ({ metrics, brokers }: Pick<Parts, "metrics" | "brokers">): void => {
  const { brokerStored, brokerReserved, brokerLimit } = metrics.watch;
  const watched = (figure: "bytes" | "bytesReserved" | "bytesMax") => async () => {
    const { usage } = brokers.state();
    return (
      usage &&
      (["memory", "disk"] as const).flatMap((storage) => {
        const value = usage[storage][figure];
        return value === undefined ? [] : { labels: { storage }, value };
      })
    );
  };
  brokerStored(watched("bytes"));
  brokerReserved(watched("bytesReserved"));
  brokerLimit(watched("bytesMax"));
};

const measureDisk = ({ metrics, config }: Pick<Parts, "metrics" | "config">): void => {
  const folders = { data: config.dataDir, heads_copy: config.headsCopy };
  metrics.watch.diskFree(async () => {
    const samples: { labels: { folder: string }; value: number }[] = [];
    for (const [folder, path] of Object.entries(folders)) {
      const value = path === undefined ? undefined : await inTime(freeBytes(path), METRICS_LOG_MS_MAX);
      if (value !== undefined) samples.push({ labels: { folder }, value });
    }
    return samples;
  });
};

/** Of each projection the age of the record that it takes next. */
const lags = async ({ views, projections, reader, work }: Parts) => {
  const { positions } = await standing(views, projections);
  const last = await reader.lastSequence();
  const ages = new Map<number, number>();
  for (const position of new Set(positions.map((each) => each.position))) {
    const next = position < last ? await reader.read(position + 1) : undefined;
    const receivedAt = next && decodeRecord(next.payload)?.receivedAt;
    const ageMs = receivedAt === undefined ? 0 : work.now().getTime() - Date.parse(receivedAt);
    ages.set(position, Math.max(0, ageMs / 1000));
  }
  return positions.map(({ name, position }) => ({
    labels: { projection: name },
    value: ages.get(position) ?? 0,
  }));
};
