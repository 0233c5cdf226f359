/**
 * The one reader of the broker's state. Readiness, metrics and the appender use what it saw last, `prooftrail doctor` looks on its own. No advice here
 * stops a broker that still holds a copy of the log.
 */
import type { StreamDefinition } from "../../streams/topology.ts";
import {
  BROKER_LOOK_MS,
  BROKER_REQUEST_MS_MAX,
  BROKER_USAGE_HIGH,
  LOG_KEEPER_MS,
  LOG_STALL_AGE_MS_MAX,
} from "../limits.ts";
import {
  type BrokerSeen,
  type BrokerState,
  lookAtBroker,
  type StreamSeen,
  type Usage,
} from "../nats/broker-health.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { differencesOf, differenceText } from "../nats/reconcile.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import { sizeText } from "../runtime/size-text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { loop } from "./background.ts";
import type { OwnBroker } from "./broker.ts";
import { blocking, HEALTH_REASONS, only, sentences, type Trouble, warning } from "./health-reasons.ts";

const LOG = "AUDIT";

export const watchBroker = (dependencies: {
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "onChange" | "untilLost">;
  readonly definitions: readonly StreamDefinition[];
  readonly logger: Pick<Logger, "info" | "error">;
}) => {
  const { connection, definitions, logger } = dependencies;
  const heardOf = new Set<string>();
  let lastSeen: ReadonlySet<string> = new Set();
  let state: BrokerState = { streams: [], usage: undefined, brokers: [] };
  let troubles: readonly Trouble[] = [];
  /** Does not wait for an answer that cannot come: what is known stays. */
  const ask = async (): Promise<BrokerState> => {
    for (const address of connection.nats.info?.connect_urls ?? []) heardOf.add(address);
    const options = { definitions, heardOf: [...heardOf], timeoutMs: BROKER_REQUEST_MS_MAX };
    return connection.untilLost(() => lookAtBroker(connection.nats, options));
  };
  const look = async (): Promise<void> => {
    const seen = await ask();
    const isLogLed = seen.streams.some(({ stream, kind }) => stream === LOG && kind === "led");
    // A log that does not answer acknowledges nothing, and what was known of its settings stays.
    const misconfigured = isLogLed ? [] : troubles.filter(({ id }) => id === "log_misconfigured");
    const found = [...misconfigured, ...troublesIn(seen)];
    const before = detailsOf(troubles);
    // Under load a copy is a few messages behind at any moment, and in the next one it is not.
    troubles = found.filter(({ id, detail }) => id !== "stream_short" || lastSeen.has(detail));
    lastSeen = detailsOf(found);
    state = seen;
    for (const trouble of troubles)
      if (!before.has(trouble.detail))
        logger.error(trouble.id === "log_misconfigured" ? LOSSY : "the brokers need attention", {
          detail: sentences(trouble),
        });
    if (before.size > 0 && troubles.length === 0) logger.info("the brokers have recovered");
  };
  // Only a lost connection makes a look fail, and others report that.
  const looking = loop({ look, restMs: BROKER_LOOK_MS, connection });
  return {
    /** What the last look found; before the first one nothing. */
    state: () => state,
    troubles: () => troubles,
    [Symbol.asyncDispose]: () => looking[Symbol.asyncDispose](),
  };
};

const LOSSY = "the log could lose what it acknowledges, nothing is accepted";

const detailsOf = (troubles: readonly Trouble[]): ReadonlySet<string> =>
  new Set(troubles.map(({ detail }) => detail));

export const troublesIn = ({ streams, usage, brokers }: BrokerState): readonly Trouble[] => [
  ...(quorumTrouble(streams, brokers, usage === undefined) ?? streams.flatMap(streamTroubles)),
  ...(["memory", "disk"] as const).flatMap((what) => usageTrouble(what, usage?.[what])),
];

/**
 * Undefined if there may be a quorum. Some brokers may be unknown, as when they do not advertise their addresses. So too few answers count only if all
 * are known, or if JetStream as a whole has no leader.
 */
const quorumTrouble = (
  streams: readonly StreamSeen[],
  brokers: readonly BrokerSeen[],
  isWithoutLeader: boolean,
): readonly Trouble[] | undefined => {
  const replicas = Math.max(...streams.map(({ definition }) => definition.settings.num_replicas));
  // One server may be known by several addresses.
  const answering = new Map(
    brokers.filter(({ answers }) => answers).map((broker) => [broker.name ?? broker.address, broker]),
  );
  const isKnown = isWithoutLeader || brokers.length >= replicas;
  if (brokers.length === 0 || !isKnown || answering.size * 2 > replicas) return undefined;
  const named = [...answering.values()].map(({ name, address }) =>
    name === undefined ? address : `${name} at ${address}`,
  );
  const needed = Math.floor(replicas / 2) + 1;
  return [
    blocking(
      "no_quorum",
      `The brokers have no quorum: ${named.length} of ${replicas} ${named.length === 1 ? "answers" : "answer"} (${named.join(", ") || "none"}), and ${needed} must.`,
      `${HEALTH_REASONS.no_quorum.advice} Events are accepted again once ${needed} brokers run; nothing acknowledged is lost.`,
    ),
  ];
};

const streamTroubles = (seen: StreamSeen): readonly Trouble[] => {
  const { stream, kind, definition } = seen;
  if (kind === "leaderless") {
    const detail = `The stream ${stream} has no leader: nothing is stored in it or read from it.`;
    const { advice } = HEALTH_REASONS.stream_leaderless;
    return [(stream === LOG ? blocking : warning)("stream_leaderless", detail, advice)];
  }
  if (kind !== "led") return [];
  const { copies, behind } = seen;
  const short = `The stream ${stream} is complete on ${copies} of ${definition.settings.num_replicas} brokers; away or behind: ${behind.join(", ")}.`;
  const lossy = lossyDifferences(seen);
  return [
    ...only(behind.length > 0, warning("stream_short", short)),
    ...only(lossy !== undefined, blocking("log_misconfigured", `${COULD_LOSE}${lossy}.`)),
  ];
};

const COULD_LOSE =
  "The log could lose what it has acknowledged, so it accepts no events until this is changed back: ";

/** Differences in the settings with which the stream keeps what it has; undefined if there are none. */
const lossyDifferences = ({
  definition,
  config,
}: Extract<StreamSeen, { readonly kind: "led" }>): string | undefined => {
  const lines = differencesOf(definition, config)
    .filter(({ setting }) => definition.keeping?.includes(setting))
    .map(differenceText);
  return lines.length === 0 ? undefined : lines.join("; ");
};

const usageTrouble = (what: "memory" | "disk", usage: Usage | undefined): readonly Trouble[] => {
  if (usage?.bytesMax === undefined || usage.bytes < usage.bytesMax * BROKER_USAGE_HIGH) return [];
  const detail = `JetStream uses ${sizeText(usage.bytes)} of ${sizeText(usage.bytesMax)} of its ${what}.`;
  return [warning(`broker_${what}_high`, detail)];
};

const RESTART_IN_CLUSTER =
  "If the disk of its broker was full, free space and restart that broker, one at a time and only while the others run.";
const RESTART_ALONE =
  "If its disk was full, free space, kill the broker with SIGKILL and start it: a clean stop can leave a hole in the log.";
const RESTARTED = "If its disk is full, free space: its broker then restarts automatically.";

/**
 * Notices a stream that is connected but stores nothing, and restarts our own broker for it. After a full disk nats-server 2.15.1 keeps a stream
 * closed until the server is restarted, even when there is space again (measured). For a broker of others readiness reports it, if the stream is the
 * log.
 */
export const keepStoring = (dependencies: {
  /** Name of the stream for people: `The event log`. */
  readonly stream: string;
  /** The current series of failures. */
  readonly stall: StallReport["stall"];
  /** Whether something that was sent has no answer yet. */
  readonly isAwaited?: () => boolean;
  /** A series of failures that lasts this long is a stall. */
  readonly msMax: number;
  readonly ownBroker: OwnBroker | undefined;
  /** The last broker of a cluster must not be ended: it holds a copy of the log. */
  readonly isClustered: () => boolean;
  readonly logger: Logger;
}) => {
  const { stream, stall, isAwaited = () => false, msMax, ownBroker, isClustered, logger } = dependencies;
  /** Why the stream cannot be written, as far as is known. */
  const troubles = (): readonly Trouble[] => {
    const { lastedMs = 0, agoMs = 0 } = stall() ?? {};
    // An instance that is not ready gets no requests, and only a request can show that the stream works again. So after a while it counts as ready.
    if (lastedMs < msMax || agoMs >= LOG_STALL_AGE_MS_MAX) return [];
    const restart = ownBroker ? RESTARTED : isClustered() ? RESTART_IN_CLUSTER : RESTART_ALONE;
    const seen = `${stream} is connected but has stored nothing for ${Math.round(lastedMs / 1000)} s.`;
    return [blocking("log_stalled", seen, restart)];
  };
  let isSaid = false;
  let reviving: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    const { lastedMs = 0 } = stall() ?? {};
    if (lastedMs < msMax) isSaid = false;
    if (lastedMs < msMax || reviving) return;
    if (!isSaid) logger.error("a stream stores nothing", { detail: stream, duration_ms: lastedMs });
    isSaid = true;
    // Not awaited: it may take as long as the disk is full, and a stop does not wait for that.
    reviving = ownBroker?.revive(`${stream} stored nothing`).finally(() => {
      reviving = undefined;
    });
  };
  const looking = loop({ look, restMs: LOG_KEEPER_MS });
  return {
    troubles,
    [Symbol.asyncDispose]: () => {
      // One failure is enough, although it is no stall yet. So is a missing answer, because a failed write is answered by nothing.
      if (stall() !== undefined || isAwaited()) ownBroker?.distrust();
      return looking[Symbol.asyncDispose]();
    },
  };
};
