/** What is wrong with this instance and its installation now, by the ids of health-reasons.ts, in sentences for the operator. */
import { KEYS_GONE, type KeyStore } from "../access/key-store.ts";
import type { Readiness } from "../api/http/dependencies.ts";
import {
  DISK_FREE_BYTES_LOW,
  METRICS_LOG_MS_MAX,
  MONITOR_FAILING_MS_MAX,
  MONITOR_ROUND_MS_MAX,
  OTHER_STALL_MS_MAX,
  READINESS_LOG_MS_MAX,
  READINESS_PART_MS_MAX,
  VIEW_LAG_RECORDS_MAX,
} from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";
import type { Usage } from "../nats/broker-health.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import { sizeText } from "../runtime/size-text.ts";
import { runtimeVersion } from "../runtime/version.ts";
import type { Projection } from "../views/kit/projection.ts";
import type { ViewReadiness } from "../views/kit/view-readiness.ts";
import { VIEWS_MISSING, ViewsMissingError, ViewsUnavailableError } from "../views/store/unavailable.ts";
import type { ViewStore } from "../views/store/view-store.ts";
import { inTime, shared } from "./background.ts";
import { freeBytes } from "./data-folder.ts";
import {
  blocking,
  HEALTH_REASON_IDS,
  HEALTH_REASONS,
  type HealthReasonId,
  only,
  sentences,
  type Trouble,
  warning,
} from "./health-reasons.ts";
import type { Parts } from "./parts.ts";
import type { RunningSealer } from "./sealer.ts";
import { standing } from "./view-database.ts";

interface ReadinessDependencies {
  readonly connection: Pick<BrokerConnection, "isConnected">;
  /** What the loops that watch broker and log have found last. */
  readonly watches: readonly { troubles(): readonly Trouble[] }[];
  readonly keyBucket: KeyStore;
  readonly log: LogReader;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly viewReadiness: Pick<ViewReadiness, "look" | "forget" | "older">;
  readonly work: Work;
}

export const createReadiness = (dependencies: ReadinessDependencies): Readiness => {
  const { connection, log, work } = dependencies;
  // A database that is lost on the network does not answer for half a minute.
  const askViews = shared(() => viewTroubles(dependencies));
  const reasonsWith = async (ask: () => Promise<readonly Trouble[]>) => {
    const ofLog = logTroubles(dependencies);
    const [others, ofWork] = await Promise.all([connection.isConnected() ? ask() : [], workTroubles(work)]);
    return [...ofLog, ...others, ...ofWork].map((trouble) => ({
      id: trouble.id,
      isBlocking: trouble.isBlocking,
      detail: sentences(trouble),
    }));
  };
  return {
    reasons: () => reasonsWith(askViews),
    reasonsWithoutViews: () =>
      reasonsWith(async () => {
        const end = await inTime(log.lastSequence(), READINESS_LOG_MS_MAX);
        return only(end === undefined, blocking("log_silent", HEALTH_REASONS.log_silent.summary));
      }),
  };
};

const logTroubles = ({ connection, watches, keyBucket }: ReadinessDependencies): readonly Trouble[] => {
  if (!connection.isConnected()) return [blocking("broker_disconnected", "The broker is not connected.")];
  const keys = keyBucket.readiness();
  const staleS = Math.round((keys.kind === "stale" ? keys.ageMs : 0) / 1000);
  const stale = `The keys were last confirmed ${staleS} s ago.`;
  return [
    ...watches.flatMap((watch) => watch.troubles()),
    ...only(keys.kind === "stale", blocking("keys_incomplete", stale)),
    ...only(keyBucket.admin() === undefined, blocking("keys_incomplete", KEYS_GONE)),
  ];
};

const OTHERS =
  "was built by another version of Prooftrail, or with other obligation rules. Stop what runs this version, or restart it if it is to stay.";

/** What is wrong with the views. A database that does not answer is named as such; any other error is thrown. */
export const viewTroubles = async (
  dependencies: Pick<ReadinessDependencies, "log" | "views" | "projections" | "viewReadiness">,
): Promise<readonly Trouble[]> => {
  const { log, views, projections, viewReadiness } = dependencies;
  try {
    const { positions, missing, others } = await standing(views, projections, viewReadiness.older);
    const last = await log.lastSequence();
    const troubles = others.map((name) => blocking("views_missing", `The view ${name} ${OTHERS}`));
    viewReadiness.forget(missing);
    if (missing.length > 0)
      troubles.push(blocking("views_missing", `Missing: ${missing.join(", ")}. ${VIEWS_MISSING}`));
    const unmadeReasons = await viewReadiness.look(
      new Map(positions.map(({ name, position }) => [name, position])),
      last,
    );
    for (const { name, position } of positions) {
      const lag = last - position;
      const unmade = unmadeReasons.get(name);
      if (unmade !== undefined) troubles.push(blocking("views_behind", unmade));
      else if (lag > VIEW_LAG_RECORDS_MAX)
        troubles.push(blocking("views_behind", `The view ${name} is ${lag} records behind the log.`));
    }
    return troubles;
  } catch (error) {
    if (error instanceof LogUnavailableError) return [blocking("log_silent", error.message)];
    if (!(error instanceof ViewsUnavailableError)) throw error;
    if (!(error instanceof ViewsMissingError)) return [blocking("views_unavailable", error.reason)];
    viewReadiness.forget(projections.map(({ name }) => name));
    return [blocking("views_missing", error.reason)];
  }
};

/** The work beside requests, and the room that is left for it. */
export interface Work {
  /** Only in a process with the role sealer. */
  readonly sealer?: RunningSealer | undefined;
  readonly countsStall: StallReport["stall"];
  /** Why HEADS_COPY cannot be relied on, as a sentence. */
  readonly copyProblem: () => Promise<string | undefined>;
  readonly diskFree: () => Promise<number>;
  readonly now: () => Date;
}

export const diskTroubles = (free: number): readonly Trouble[] =>
  only(
    free < DISK_FREE_BYTES_LOW,
    warning("disk_low", `Only ${sizeText(free)} are free on the disk of DATA_DIR.`),
  );

/** What is late or short, but does not keep this instance from serving. What cannot be asked in time is no reason. */
export const workTroubles = async (work: Work): Promise<readonly Trouble[]> => {
  const { sealer, countsStall, copyProblem, diskFree, now } = work;
  const [free = Number.POSITIVE_INFINITY, unsealedMs = 0, copy] = await Promise.all([
    inTime(diskFree(), READINESS_PART_MS_MAX),
    sealer && inTime(sealer.unsealedMs(), READINESS_PART_MS_MAX),
    inTime(copyProblem(), READINESS_PART_MS_MAX),
  ]);
  const { roundAt, startedAt, failing } = sealer?.monitor() ?? {};
  const since = (at: Date | undefined): number => (at === undefined ? 0 : now().getTime() - at.getTime());
  const roundMs = since(roundAt ?? startedAt);
  const stalledMs = countsStall()?.lastedMs ?? 0;
  const late = (isLate: boolean, id: HealthReasonId, detail: string): readonly Trouble[] =>
    only(isLate, warning(id, detail));
  return [
    ...diskTroubles(free),
    ...late(
      unsealedMs > (sealer?.unsealedMsMax ?? 0),
      "sealer_behind",
      `A record has waited ${Math.round(unsealedMs / 60_000)} minutes for a signed tree head.`,
    ),
    ...late(
      roundMs > MONITOR_ROUND_MS_MAX,
      "monitor_late",
      `The monitor has not read the whole log in ${Math.round(roundMs / 3_600_000)} hours.`,
    ),
    ...late(
      since(failing?.since) > MONITOR_FAILING_MS_MAX,
      "monitor_cannot_read",
      `The monitor has been unable to read since ${failing?.since.toISOString()}: ${failing?.detail}.`,
    ),
    ...late(copy !== undefined, "heads_copy_unavailable", copy ?? ""),
    ...late(
      stalledMs >= OTHER_STALL_MS_MAX,
      "counts_not_kept",
      `Storing counts of acknowledged events has failed for ${Math.round(stalledMs / 1000)} s.`,
    ),
  ];
};

/** Metrics of the installation and its health, computed when they are read. */
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
