/** What is wrong with the brokers and their streams, in words, with what to do. No advice here ends a broker that still holds a copy of the log. */
import type { StreamDefinition } from "../../streams/stream.ts";
import {
  type AccountUsage,
  accountUsage,
  type BrokerSeen,
  lookAtBrokers,
  type StreamHealth,
  streamHealth,
  type Usage,
} from "../jetstream/broker-health.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { BROKER_LOOK_MS, BROKER_LOOK_MS_MAX, BROKER_USAGE_HIGH } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import { sizeText } from "../terminal/size-text.ts";
import { pause } from "./background.ts";
import type { HealthReasonId } from "./health-reasons.ts";

export interface BrokerTrouble {
  readonly kind: Extract<
    HealthReasonId,
    "no_quorum" | "stream_leaderless" | "stream_short" | "broker_memory_high" | "broker_disk_high"
  >;
  /** Whether no event can be taken because of it. */
  readonly isBlocking: boolean;
  readonly detail: string;
  readonly advice: string;
}

/** What one look found. A value is undefined where the brokers did not tell. */
export interface BrokerState {
  readonly streams: readonly StreamHealth[];
  readonly usage: AccountUsage | undefined;
  readonly troubles: readonly BrokerTrouble[];
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
    const troubles = seen.troubles.filter(
      ({ kind, detail }) => kind !== "stream_short" || lastSeen.has(detail),
    );
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

const detailsOf = (troubles: readonly BrokerTrouble[]): ReadonlySet<string> =>
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
): readonly BrokerTrouble[] | undefined => {
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

const streamTroubles = (streams: readonly StreamHealth[]): readonly BrokerTrouble[] =>
  streams.flatMap((health): readonly BrokerTrouble[] => {
    if (health.kind === "leaderless") return [leaderless(health.stream)];
    return health.kind === "led" && health.behind.length > 0 ? [short(health)] : [];
  });

const noQuorum = (answering: readonly BrokerSeen[], replicas: number): BrokerTrouble => {
  const named = answering.map(({ name, address }) =>
    name === undefined ? address : `${name} at ${address}`,
  );
  const needed = Math.floor(replicas / 2) + 1;
  return {
    kind: "no_quorum",
    isBlocking: true,
    detail: `The brokers have no quorum: ${answering.length} of ${replicas} ${answering.length === 1 ? "answers" : "answer"} (${named.join(", ") || "none"}), and ${needed} have to.`,
    advice: `Start the brokers that are away, and leave running what runs: it holds a copy of the log. Events are taken again as soon as ${needed} brokers run; nothing that was acknowledged is lost.`,
  };
};

const leaderless = (stream: string): BrokerTrouble => ({
  kind: "stream_leaderless",
  isBlocking: stream === LOG,
  detail: `The stream ${stream} has no leader: nothing is stored in it or read from it.`,
  advice:
    'An election takes a few seconds. If it stays so, the logs of the brokers say why, such as a full disk or "insufficient resources": make room, then restart the brokers one after the other, each when the one before has caught up.',
});

const short = ({ stream, behind, replicas }: Extract<StreamHealth, { kind: "led" }>): BrokerTrouble => ({
  kind: "stream_short",
  isBlocking: false,
  detail: `The stream ${stream} is whole on ${replicas - behind.length} of ${replicas} brokers; away or behind: ${behind.join(", ")}.`,
  advice:
    "Start the broker that is away. If it runs and stays behind, as after its disk was full, restart it, and no other one meanwhile.",
});

const usageTroubles = (usage: AccountUsage | undefined): readonly BrokerTrouble[] => {
  if (usage === undefined) return [];
  const trouble = (kind: BrokerTrouble["kind"], what: string, advice: string, { bytes, bytesMax }: Usage) =>
    bytesMax !== undefined && bytes >= bytesMax * BROKER_USAGE_HIGH
      ? [
          {
            kind,
            isBlocking: false,
            detail: `JetStream uses ${sizeText(bytes)} of ${sizeText(bytesMax)} of its ${what}.`,
            advice,
          },
        ]
      : [];
  return [
    ...trouble(
      "broker_memory_high",
      "memory",
      "Raise max_memory_store of the brokers, and max_memory of the account: streams in memory that reach it stop.",
      usage.memory,
    ),
    ...trouble(
      "broker_disk_high",
      "disk",
      "Raise the limit of the account, or make room: a log that reaches it takes no events.",
      usage.disk,
    ),
  ];
};
