/**
 * The one reader of the broker's state. Readiness, metrics and the appender use what it saw last, `prooftrail doctor` looks on its own. No advice here
 * stops a broker that still holds a copy of the log.
 */
import type { StreamDefinition } from "../../streams/topology.ts";
import { BROKER_LOOK_MS, BROKER_REQUEST_MS_MAX, BROKER_USAGE_HIGH } from "../limits.ts";
import {
  type BrokerSeen,
  type BrokerState,
  lookAtBroker,
  type StreamSeen,
  type Usage,
} from "../nats/broker-health.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { differencesOf, differenceText } from "../nats/reconcile.ts";
import { sizeText } from "../runtime/size-text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { loop } from "./background.ts";
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
  let refusal: string | undefined;
  /** Does not wait for an answer that cannot come: what is known stays. */
  const ask = async (): Promise<BrokerState> => {
    for (const address of connection.nats.info?.connect_urls ?? []) heardOf.add(address);
    const options = { definitions, heardOf: [...heardOf], timeoutMs: BROKER_REQUEST_MS_MAX };
    return connection.untilLost(() => lookAtBroker(connection.nats, options));
  };
  const look = async (): Promise<void> => {
    const seen = await ask();
    const log = seen.streams.find(({ stream, kind }) => stream === LOG && kind === "led");
    if (log) refusal = differencesIn(log, "refusing");
    // A log that does not answer acknowledges nothing, and what was known of its settings stays.
    const misconfigured = log ? [] : troubles.filter(({ id }) => id === "log_misconfigured");
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
    /** A setting by which the log may refuse records, for example a limit that is reached; undefined if there is none, as far as is known. */
    refusal: () => refusal,
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
    return [(stream === LOG ? blocking : warning)("stream_leaderless", detail, ELECTION)];
  }
  if (kind !== "led") return [];
  const { copies, behind } = seen;
  const short = `The stream ${stream} is complete on ${copies} of ${definition.settings.num_replicas} brokers; away or behind: ${behind.join(", ")}.`;
  const lossy = differencesIn(seen, "keeping");
  return [
    ...only(behind.length > 0, warning("stream_short", short)),
    ...only(lossy !== undefined, blocking("log_misconfigured", `${COULD_LOSE}${lossy}.`)),
  ];
};

const ELECTION =
  'An election takes a few seconds. If this lasts, the logs of the brokers say why, such as a full disk or "insufficient resources": free space, then restart the brokers one by one, each after the previous one has caught up.';
const COULD_LOSE =
  "The log could lose what it has acknowledged, so it accepts no events until this is changed back: ";

/** Differences in the settings that a definition lists; undefined if there are none. */
const differencesIn = (seen: StreamSeen, which: "keeping" | "refusing"): string | undefined => {
  if (seen.kind !== "led") return undefined;
  const named = seen.definition[which] ?? [];
  const lines = differencesOf(seen.definition, seen.config)
    .filter(({ setting }) => named.includes(setting))
    .map(differenceText);
  return lines.length === 0 ? undefined : lines.join("; ");
};

const usageTrouble = (what: "memory" | "disk", usage: Usage | undefined): readonly Trouble[] => {
  if (usage?.bytesMax === undefined || usage.bytes < usage.bytesMax * BROKER_USAGE_HIGH) return [];
  const detail = `JetStream uses ${sizeText(usage.bytes)} of ${sizeText(usage.bytesMax)} of its ${what}.`;
  return [warning(`broker_${what}_high`, detail)];
};
