/** What can be wrong with the brokers and their streams, as values. Readiness, doctor, metrics and alert rules put it into words. */
import type { ClusterInfo, NatsConnection } from "nats";
import type { StreamDefinition } from "../../streams/stream.ts";
import type { Sequence } from "../log/outcome.ts";
import { API_ERROR, apiErrorCode } from "./api-errors.ts";
import { readServerInfo } from "./broker/server-info.ts";

export type StreamHealth = {
  readonly stream: string;
  /** Copies that it is to have. */
  readonly replicas: number;
} & Standing;

type Standing =
  /** `behind`: servers that are away, or lack messages that the leader has. */
  | { readonly kind: "led"; readonly behind: readonly string[] }
  /** Nothing can be stored, and nothing read from a leader: more than half of the servers with a copy have to run. */
  | { readonly kind: "leaderless" }
  | { readonly kind: "missing" }
  /** No answer in time, or this user may not ask. */
  | { readonly kind: "unknown" };

/** Each stream is asked for by itself, all at once: one that has no leader must not hide the others. */
export const streamHealth = (
  nats: NatsConnection,
  definitions: readonly StreamDefinition[],
  timeoutMs: number,
): Promise<readonly StreamHealth[]> =>
  Promise.all(
    definitions.map(async ({ name: stream, settings: { num_replicas: replicas } }) => ({
      stream,
      replicas,
      ...(await standingOf(nats, stream, timeoutMs)),
    })),
  );

const standingOf = async (nats: NatsConnection, stream: string, timeoutMs: number): Promise<Standing> => {
  try {
    const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const { cluster } = await manager.streams.info(stream);
    return cluster === undefined ? { kind: "led", behind: [] } : standingIn(cluster);
  } catch (error) {
    const code = apiErrorCode(error);
    if (code === API_ERROR.streamNotFound) return { kind: "missing" };
    return code === API_ERROR.noQuorum ? { kind: "leaderless" } : { kind: "unknown" };
  }
};

/** Without a quorum the servers that are left answer and name no leader (measured on nats-server 2.15.1: after ten seconds). */
const standingIn = ({ leader, replicas = [] }: ClusterInfo): Standing => {
  if (!leader) return { kind: "leaderless" };
  const behind = replicas.filter(({ current, offline }) => !current || offline === true);
  return { kind: "led", behind: behind.map(({ name }) => name) };
};

/** What JetStream's account has stored and reserved, and its limit; undefined where it has none. */
export interface AccountUsage {
  readonly memory: Usage;
  readonly disk: Usage;
}

export interface Usage {
  readonly bytes: number;
  readonly bytesReserved: number;
  readonly bytesMax: number | undefined;
}

/** Rejects if JetStream is off, or has no leader. */
export const accountUsage = async (nats: NatsConnection, timeoutMs: number): Promise<AccountUsage> => {
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

/** One server of the cluster: its name where it has told it. */
export interface BrokerSeen {
  readonly address: string;
  readonly name: string | undefined;
  readonly answers: boolean;
}

/**
 * The servers of the cluster that this client has heard of, each asked for the line that a server sends to every connection. One that stands
 * still takes a connection and sends nothing. Nothing but the server connected to where the servers do not advertise their addresses.
 */
export const lookAtBrokers = (
  nats: NatsConnection,
  heardOf: readonly string[],
): Promise<readonly BrokerSeen[]> => {
  const addresses = new Set([nats.getServer(), ...(nats.info?.connect_urls ?? []), ...heardOf]);
  return Promise.all(
    [...addresses].toSorted().map(async (address) => {
      const { hostname, port } = new URL(`nats://${address}`);
      const info = await readServerInfo(Number(port || CLIENT_PORT), hostname.replaceAll(/[[\]]/g, ""));
      return { address, name: info?.name, answers: info !== undefined };
    }),
  );
};

export interface LogState {
  readonly lastSequence: Sequence;
  /**
   * Number of servers that have the whole log. A server whose disk was full stays behind, even when there is space again, and says nothing
   * about it until it is restarted (measured on nats-server 2.15.1). Until then each record is on one disk less.
   */
  readonly copies: number;
}

export const readLogState = async (nats: NatsConnection): Promise<LogState> => {
  const manager = await nats.jetstreamManager({ checkAPI: false });
  const { state, cluster } = await manager.streams.info("AUDIT");
  const whole = (cluster?.replicas ?? []).filter(({ current, offline }) => current && offline !== true);
  // The leader itself is complete.
  return { lastSequence: state.last_seq, copies: 1 + whole.length };
};
