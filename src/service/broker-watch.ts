/** What is wrong with the brokers and their streams, in words, with what to do. No advice here ends a broker that still holds a copy of the log. */
import type { StreamDefinition } from "../../streams/stream.ts";
import { BROKER_LOOK_MS, BROKER_LOOK_MS_MAX, BROKER_USAGE_HIGH } from "../limits.ts";
import {
  type AccountUsage,
  accountUsage,
  type BrokerSeen,
  lookAtBrokers,
  type StreamHealth,
  streamHealth,
  type Usage,
} from "../nats/broker-health.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { sizeText } from "../runtime/size-text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { pause } from "./background.ts";
import { HEALTH_REASONS, type Trouble, troubleOf } from "./health-reasons.ts";

/** What one look found. A value is undefined where the brokers did not tell. */
export interface BrokerState {
  readonly streams: readonly StreamHealth[];
  readonly usage: AccountUsage | undefined;
  readonly troubles: readonly Trouble[];
}

/** `heardOf`: addresses of servers that were seen before, or that the settings name. */
export const lookAtState = async (
  { nats }: Pick<BrokerConnection, "nats">,
  definitions: readonly StreamDefinition[],
  heardOf: readonly string[],
): Promise<BrokerState> => {
  const [streams, usage] = await Promise.all([
    streamHealth(nats, definitions, BROKER_LOOK_MS_MAX),
    accountUsage(nats, BROKER_LOOK_MS_MAX).catch(() => undefined),
  ]);
  const isClustered = nats.info?.cluster !== undefined;
  const isLed = streams.some(({ stream, kind }) => stream === LOG && kind === "led");
  const brokers = isClustered && !isLed ? await lookAtBrokers(nats, heardOf) : [];
  const lost = quorumTrouble(streams, brokers, usage === undefined);
  return { streams, usage, troubles: [...(lost ?? streamTroubles(streams)), ...usageTroubles(usage)] };
};

export interface BrokerWatch {
  /** What the last look found; before the first one nothing. */
  state(): BrokerState;
  /** Looks until the signal is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export const watchBrokers = (dependencies: {
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "untilLost">;
  readonly definitions: readonly StreamDefinition[];
  readonly logger: Pick<Logger, "info" | "error">;
}): BrokerWatch => {
  const { connection, definitions, logger } = dependencies;
  const { nats } = connection;
  const heardOf = new Set<string>();
  let lastSeen: ReadonlySet<string> = new Set();
  let state: BrokerState = { streams: [], usage: undefined, troubles: [] };
  const look = async (): Promise<void> => {
    if (!connection.isConnected()) return;
    for (const address of nats.info?.connect_urls ?? []) heardOf.add(address);
    const seen = await connection
      .untilLost(() => lookAtState(connection, definitions, [...heardOf]))
      .catch(() => undefined);
    if (seen === undefined) return;
    // Under load a copy is a few messages behind at any moment, and in the next one it is not.
    const troubles = seen.troubles.filter(({ id, detail }) => id !== "stream_short" || lastSeen.has(detail));
    lastSeen = detailsOf(seen.troubles);
    const before = detailsOf(state.troubles);
    for (const { detail, advice } of troubles)
      if (!before.has(detail)) logger.error("the brokers need attention", { detail: `${detail} ${advice}` });
    if (before.size > 0 && troubles.length === 0) logger.info("the brokers are well again");
    state = { ...seen, troubles };
  };
  return {
    state: () => state,
    run: async (signal) => {
      while (!signal.aborted) {
        await look();
        await pause(BROKER_LOOK_MS, signal);
      }
    },
  };
};

const detailsOf = (troubles: readonly Trouble[]): ReadonlySet<string> =>
  new Set(troubles.map(({ detail }) => detail));

const LOG = "AUDIT";

/**
 * Undefined if there may be a quorum. Not every broker may have been heard of, as when they do not advertise their addresses. So few answers count only
 * if all were heard of, or if JetStream as a whole has no leader.
 */
const quorumTrouble = (
  streams: readonly StreamHealth[],
  brokers: readonly BrokerSeen[],
  isWithoutLeader: boolean,
): readonly Trouble[] | undefined => {
  const replicas = Math.max(...streams.map((stream) => stream.replicas));
  // One server may be known by several addresses.
  const answering = new Map(
    brokers.filter(({ answers }) => answers).map((broker) => [broker.name ?? broker.address, broker]),
  );
  const isKnown = isWithoutLeader || brokers.length >= replicas;
  return brokers.length > 0 && isKnown && answering.size * 2 <= replicas
    ? [noQuorum([...answering.values()], replicas)]
    : undefined;
};

const streamTroubles = (streams: readonly StreamHealth[]): readonly Trouble[] =>
  streams.flatMap((health): readonly Trouble[] => {
    if (health.kind === "leaderless") return [leaderless(health.stream)];
    return health.kind === "led" && health.behind.length > 0 ? [short(health)] : [];
  });

const noQuorum = (answering: readonly BrokerSeen[], replicas: number): Trouble => {
  const named = answering.map(({ name, address }) =>
    name === undefined ? address : `${name} at ${address}`,
  );
  const needed = Math.floor(replicas / 2) + 1;
  return troubleOf(
    "no_quorum",
    `The brokers have no quorum: ${answering.length} of ${replicas} ${answering.length === 1 ? "answers" : "answer"} (${named.join(", ") || "none"}), and ${needed} have to.`,
    {
      isBlocking: true,
      advice: `${HEALTH_REASONS.no_quorum.advice} Events are taken again as soon as ${needed} brokers run; nothing that was acknowledged is lost.`,
    },
  );
};

const leaderless = (stream: string): Trouble =>
  troubleOf(
    "stream_leaderless",
    `The stream ${stream} has no leader: nothing is stored in it or read from it.`,
    {
      isBlocking: stream === LOG,
      advice:
        'An election takes a few seconds. If it stays so, the logs of the brokers say why, such as a full disk or "insufficient resources": make room, then restart the brokers one after the other, each when the one before has caught up.',
    },
  );

const short = ({ stream, behind, replicas }: Extract<StreamHealth, { kind: "led" }>): Trouble =>
  troubleOf(
    "stream_short",
    `The stream ${stream} is whole on ${replicas - behind.length} of ${replicas} brokers; away or behind: ${behind.join(", ")}.`,
  );

const usageTroubles = (usage: AccountUsage | undefined): readonly Trouble[] =>
  (["memory", "disk"] as const).flatMap((what) => {
    const { bytes, bytesMax }: Partial<Usage> = usage?.[what] ?? {};
    if (bytes === undefined || bytesMax === undefined || bytes < bytesMax * BROKER_USAGE_HIGH) return [];
    const detail = `JetStream uses ${sizeText(bytes)} of ${sizeText(bytesMax)} of its ${what}.`;
    return [troubleOf(`broker_${what}_high`, detail)];
  });
