/** One look at the brokers and their streams, as values. Readiness, doctor, metrics and alert rules put it into words. */
import type { NatsConnection, StreamConfig } from "nats";
import type { StreamDefinition } from "../../streams/topology.ts";
import type { Sequence } from "../log/outcome.ts";
import { API_ERROR, apiErrorCode } from "./api-errors.ts";
import { readServerInfo } from "./broker/server-info.ts";

export interface BrokerState {
  readonly streams: readonly StreamSeen[];
  readonly usage: Readonly<Record<"memory" | "disk", Usage>> | undefined;
  /** The servers of a cluster, asked only while the log has no leader. */
  readonly brokers: readonly BrokerSeen[];
}

export type StreamSeen = { readonly stream: string; readonly definition: StreamDefinition } & Standing;

type Standing =
  | {
      readonly kind: "led";
      readonly config: StreamConfig;
      readonly lastSequence: Sequence;
      /** Servers that have the whole stream. One whose disk was full stays behind until it is restarted (measured on nats-server 2.15.1). */
      readonly copies: number;
      /** Servers that are away, or lack messages that the leader has. */
      readonly behind: readonly string[];
    }
  /** Nothing can be stored, and nothing read from a leader: more than half of the servers with a copy have to run. */
  | { readonly kind: "leaderless" }
  | { readonly kind: "missing" }
  /** No answer in time, or this user may not ask. */
  | { readonly kind: "unknown" };

/** What JetStream's account has stored and reserved, and its limit; undefined where it has none. */
export interface Usage {
  readonly bytes: number;
  readonly bytesReserved: number;
  readonly bytesMax: number | undefined;
}

export interface BrokerSeen {
  readonly address: string;
  readonly name: string | undefined;
  readonly answers: boolean;
}

/** Never rejects. `heardOf`: addresses of servers that were seen before, or that the settings name. */
export const lookAtBroker = async (
  nats: NatsConnection,
  options: {
    readonly definitions: readonly StreamDefinition[];
    readonly heardOf: readonly string[];
    readonly timeoutMs: number;
  },
): Promise<BrokerState> => {
  const { definitions, heardOf, timeoutMs } = options;
  const [streams, usage] = await Promise.all([
    // Each stream by itself, all at once: one that has no leader must not hide the others.
    Promise.all(
      definitions.map(async (definition) => ({
        stream: definition.name,
        definition,
        ...(await standingOf(nats, definition.name, timeoutMs)),
      })),
    ),
    accountUsage(nats, timeoutMs).catch(() => undefined),
  ]);
  const isClustered = nats.info?.cluster !== undefined;
  const isLed = streams.every(({ stream, kind }) => stream !== "AUDIT" || kind === "led");
  return { streams, usage, brokers: isClustered && !isLed ? await lookAtServers(nats, heardOf) : [] };
};

const standingOf = async (nats: NatsConnection, stream: string, timeoutMs: number): Promise<Standing> => {
  try {
    const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const { config, state, cluster } = await manager.streams.info(stream);
    // Without a quorum the servers that are left answer and name no leader (measured on nats-server 2.15.1: after ten seconds).
    if (cluster !== undefined && !cluster.leader) return { kind: "leaderless" };
    const replicas = cluster?.replicas ?? [];
    const behind = replicas.filter(({ current, offline }) => !current || offline === true);
    return {
      kind: "led",
      config,
      lastSequence: state.last_seq,
      copies: 1 + replicas.length - behind.length,
      behind: behind.map(({ name }) => name),
    };
  } catch (error) {
    const code = apiErrorCode(error);
    if (code === API_ERROR.streamNotFound) return { kind: "missing" };
    return code === API_ERROR.noQuorum ? { kind: "leaderless" } : { kind: "unknown" };
  }
};

const accountUsage = async (nats: NatsConnection, timeoutMs: number) => {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const info = await manager.getAccountInfo();
  const reserved: Readonly<Record<string, unknown>> = { ...info };
  const usage = (bytes: number, name: string, limit: number): Usage => ({
    bytes,
    bytesReserved: typeof reserved[name] === "number" ? reserved[name] : 0,
    bytesMax: limit > 0 ? limit : undefined,
  });
  return {
    memory: usage(info.memory, "reserved_memory", info.limits.max_memory),
    disk: usage(info.storage, "reserved_storage", info.limits.max_storage),
  };
};

/** The port of a server whose address names none. */
const CLIENT_PORT = 4222;

/** Each server is asked for the line that a server sends to every connection: one that stands still takes a connection and sends nothing. */
const lookAtServers = (nats: NatsConnection, heardOf: readonly string[]): Promise<readonly BrokerSeen[]> => {
  const addresses = new Set([nats.getServer(), ...(nats.info?.connect_urls ?? []), ...heardOf]);
  return Promise.all(
    [...addresses].toSorted().map(async (address) => {
      const { hostname, port } = new URL(`nats://${address}`);
      const info = await readServerInfo(Number(port || CLIENT_PORT), hostname.replaceAll(/[[\]]/g, ""));
      return { address, name: info?.name, answers: info !== undefined };
    }),
  );
};
