/** Metrics of the installation and its health, computed when they are read. */
import type { Readiness } from "../api/http/dependencies.ts";
import { METRICS_LOG_MS_MAX } from "../limits.ts";
import { decodeRecord } from "../log/record.ts";
import type { Usage } from "../nats/broker-health.ts";
import { runtimeVersion } from "../runtime/version.ts";
import { inTime, shared } from "./background.ts";
import { freeBytes } from "./data-folder.ts";
import type { Work } from "./health.ts";
import { HEALTH_REASON_IDS } from "./health-reasons.ts";
import type { Parts } from "./parts.ts";
import { standing } from "./view-standing.ts";

export const measureHealth = (parts: Parts, work: Work, { reasons }: Readiness): void => {
  const { metrics, version, log, brokers, config } = parts;
  const { watch } = metrics;
  const soon = <Found>(asked: Promise<Found>) => inTime(asked, METRICS_LOG_MS_MAX);
  metrics.buildInfo.set({ version, runtime: runtimeVersion() }, 1);
  // Both gauges are collected at once, and are one look. What is not known in time does not count as ready.
  const look = shared(() => soon(reasons()));
  watch.ready(async () => [{ value: (await look())?.every(({ isBlocking }) => !isBlocking) ? 1 : 0 }]);
  watch.healthReason(async () => {
    const found = await look();
    const ids = found?.map(({ id }) => id);
    return (
      ids && HEALTH_REASON_IDS.map((id) => ({ labels: { reason: id }, value: ids.includes(id) ? 1 : 0 }))
    );
  });
  const sampleOf = (value: number | undefined) => (value === undefined ? undefined : [{ value }]);
  watch.logLastSequence(async () => sampleOf(await soon(log.lastSequence())));
  watch.logCopies(async () => {
    const seen = brokers.state().streams.find(({ stream }) => stream === "AUDIT");
    return seen?.kind === "led" ? [{ value: seen.copies }] : undefined;
  });
  for (const [watched, figure] of [
    [watch.brokerStored, "bytes"],
    [watch.brokerReserved, "bytesReserved"],
    [watch.brokerLimit, "bytesMax"],
  ] as const)
    watched(async () => usageSamples(brokers, figure));
  watch.diskFree(async () => {
    const { dataDir: data, headsCopy: heads_copy } = config;
    const free = Object.entries({ data, heads_copy }).map(async ([folder, path]) => {
      const value = path === undefined ? undefined : await soon(freeBytes(path));
      return value === undefined ? [] : [{ labels: { folder }, value }];
    });
    return (await Promise.all(free)).flat();
  });
  watch.projectionLag(() => soon(lags(parts)));
  const { sealer } = work;
  if (sealer)
    watch.unsealedAge(async () => {
      const ms = await soon(sealer.unsealedMs());
      return sampleOf(ms === undefined ? undefined : ms / 1000);
    });
};

const usageSamples = (brokers: Parts["brokers"], figure: keyof Usage) => {
  const { usage } = brokers.state();
  return (
    usage &&
    (["memory", "disk"] as const).flatMap((storage) => {
      const value = usage[storage][figure];
      return value === undefined ? [] : { labels: { storage }, value };
    })
  );
};

/** For each projection the age of the record that it processes next. */
const lags = async ({ views, projections, viewReadiness, log, now }: Parts) => {
  const { positions } = await standing(views, projections, viewReadiness.older);
  const last = await log.lastSequence();
  const ages = new Map<number, number>();
  for (const position of new Set(positions.map((each) => each.position))) {
    const next = position < last ? await log.read(position + 1) : undefined;
    const receivedAt = next && decodeRecord(next.payload)?.receivedAt;
    const ageMs = receivedAt === undefined ? 0 : now().getTime() - Date.parse(receivedAt);
    ages.set(position, Math.max(0, ageMs / 1000));
  }
  return positions.map(({ name, position }) => ({
    labels: { projection: name },
    value: ages.get(position) ?? 0,
  }));
};
