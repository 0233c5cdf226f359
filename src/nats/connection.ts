/**
 * One connection to the broker, which reconnects forever. nats.js drops what is published while it is not connected (measured), so a publisher must
 * ask first.
 */
import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connect, DebugEvents, ErrorCode, Events, type NatsConnection, NatsError, type Status } from "nats";
import { EVENT_BYTES_MAX, RECORD_OVERHEAD_BYTES_MAX } from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createRepeatFilter } from "../telemetry/repeat-filter.ts";
import { describeError } from "./api-errors.ts";
import { BROKER_VERSION_FLOOR, brokerVersionIn, isSupportedBrokerVersion } from "./broker/version.ts";

export type BrokerConnection = ReturnType<typeof watchConnection>;

/** The broker cannot be used. */
export class BrokerRefusedError extends RefusedError {
  override readonly name = "BrokerRefusedError";
  readonly isUnreachable: boolean;
  constructor(message: string, options: { readonly isFinal?: boolean; readonly isUnreachable?: true } = {}) {
    super(message, options);
    this.isUnreachable = options.isUnreachable ?? false;
  }
}

class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
}

/** The result of `ask`; whatever prevents an answer becomes LogUnavailableError. */
export const answered = async <Result>(
  connection: Pick<BrokerConnection, "untilLost">,
  failure: string,
  ask: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await connection.untilLost(ask);
  } catch (error) {
    throw new LogUnavailableError(`${failure}: ${describeError(error)}.`);
  }
};

const CONNECT_MS_MAX = 5_000;
const RECONNECT_WAIT_MS = 250;
/** After two missed pings the server counts as gone, even if the socket is open. */
const PING_INTERVAL_MS = 5_000;
/** How long the broker may take to read what was sent before the connection is closed. It answers in the order in which it reads. */
const ANSWER_MS_MAX = 1_000;

interface ConnectOptions {
  /** One or more `nats://user:password@host:port`, separated by commas, or all of them `tls://`. The credentials of the first are used. */
  readonly url: string;
  readonly name: string;
  readonly logger: Logger;
  /** After a reconnect, the connection counts as lost until this resolves. It must not reject. */
  readonly beforeRestored?: (() => Promise<void>) | undefined;
}

export const connectToBroker = async (options: ConnectOptions): Promise<BrokerConnection> => {
  const { servers, credentials, needsTls } = parseServers(options.url);
  const nats = await connect({
    servers,
    ...credentials,
    // nats.js ignores the scheme, and would send the password to a server without TLS (measured).
    ...(needsTls && { tls: {} }),
    name: options.name,
    timeout: CONNECT_MS_MAX,
    maxReconnectAttempts: -1,
    // Otherwise the second refused password closes the connection forever (measured).
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
  }).catch((error: unknown) => {
    throw connectRefusal(error, servers.join(", "));
  });
  const sockets = careForSockets(nats);
  const refusal = versionRefusal(nats.info?.version ?? "") ?? payloadRefusal(nats.info?.max_payload ?? 0);
  if (refusal !== undefined) {
    await nats.close();
    throw new BrokerRefusedError(refusal);
  }
  return watchConnection(nats, sockets, options);
};

const connectRefusal = (error: unknown, servers: string): BrokerRefusedError => {
  const code = error instanceof NatsError ? error.code : undefined;
  if (code === ErrorCode.ServerOptionNotAvailable)
    return new BrokerRefusedError(
      `The NATS server at ${servers} does not offer TLS, which tls:// asks for. Set up TLS there, or use nats:// if the network may read what is sent.`,
    );
  if (code === ErrorCode.AuthorizationViolation)
    // Not final: a server may not have read its new users yet.
    return new BrokerRefusedError(
      `The NATS server at ${servers} refuses the user or password: set those of its configuration in NATS_URL, and in NATS_PROVISION_URL if set.`,
      { isFinal: false },
    );
  return new BrokerRefusedError(`No connection to NATS at ${servers}: ${describeError(error)}.`, {
    isFinal: false,
    isUnreachable: true,
  });
};

const watchConnection = (
  nats: NatsConnection,
  sockets: SocketCare,
  { logger, beforeRestored = async () => {} }: ConnectOptions,
) => {
  const listeners = new Set<(state: "lost" | "restored") => void>();
  // Not one shared promise to race against: every race would stay attached to it as long as the connection lives.
  const waiting = new Set<(error: Error) => void>();
  const untilLost = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    if (!connected) throw new ConnectionLostError("there is no connection");
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.add(reject);
    ask().then(resolve, reject);
    try {
      return await promise;
    } finally {
      waiting.delete(reject);
    }
  };
  let connected = true;
  let isClosing = false;
  const change = (state: "lost" | "restored"): void => {
    if (connected === (state === "restored")) return;
    connected = state === "restored";
    if (connected) logger.info("reconnected to the broker", { detail: nats.getServer() });
    else if (!isClosing) logger.warn("lost the connection to the broker");
    for (const listener of listeners) listener(state);
    if (state === "lost")
      for (const reject of waiting) reject(new ConnectionLostError("the connection was lost"));
  };
  let losses = 0;
  const lose = (): void => {
    losses += 1;
    change("lost");
  };
  const restore = async (): Promise<void> => {
    const lossesBefore = losses;
    await beforeRestored();
    if (losses === lossesBefore) change("restored");
  };
  // A reader without a right retries every second, and each try reports the same error.
  const isNews = createRepeatFilter(() => performance.now());
  const follow = async (): Promise<void> => {
    for await (const status of nats.status()) {
      if (status.type === Events.Disconnect) lose();
      else if (status.type === Events.Reconnect) void restore();
      else if (status.type === DebugEvents.StaleConnection) sockets.cut();
      else if (status.type === Events.Error) {
        const detail = errorOf(status);
        if (!status.permissionContext || isNews(detail))
          logger.warn("the broker reported an error", { detail });
      }
    }
  };
  void follow();
  void nats.closed().then((reason) => {
    lose();
    // Only a fault of ours or of nats.js gets here. Readiness reports the consequences.
    if (!isClosing)
      logger.error("the connection to the broker is closed for good", {
        detail: reason ? describeError(reason) : "no reason",
      });
  });
  const close = async (): Promise<void> => {
    isClosing = true;
    if (nats.isClosed()) return;
    if (connected) await isInTime(nats.drain());
    await nats.close();
  };
  return {
    nats,
    isConnected: () => connected,
    describe: () => `nats-server ${nats.info?.version ?? "unknown"} at ${nats.getServer()}`,
    /** Calls the listener after the connection was lost, and after it came back. */
    onChange: (listener: (state: "lost" | "restored") => void): Disposable => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    /** Rejects as soon as the connection is lost: nats.js drops such requests and lets the caller wait for the timeout. */
    untilLost,
    /** For a stop: if the broker does not answer, closes at once, so that waiting requests fail instead of waiting on. */
    closeIfSilent: async (): Promise<void> => {
      if (nats.isClosed() || (connected && (await isInTime(nats.flush())))) return;
      isClosing = true;
      await nats.close();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};

/** Members of nats.js 2.29.3 that are not in its types. */
interface Protocol {
  prepare(): unknown;
  readonly transport: { done: boolean };
  /** Keeps the order with what nats.js sends itself. */
  sendCommand(bytes: Uint8Array): void;
  /** Sends at once: two large buffers that wait for the end of the turn would be copied into one. */
  flushPending(): void;
}

const member = (of: unknown, name: string): unknown =>
  typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;

const isProtocol = (found: unknown): found is Protocol =>
  ["prepare", "sendCommand", "flushPending"].every((name) => typeof member(found, name) === "function") &&
  typeof member(member(found, "transport"), "done") === "boolean";

/** The version is pinned, and one without these members is refused here, at the start. */
export const protocolOf = (nats: NatsConnection): Protocol => {
  const protocol = member(nats, "protocol");
  if (!isProtocol(protocol)) throw new Error("this version of nats.js connects or sends in another way");
  return protocol;
};

interface SocketCare {
  /** Closes the socket at once, whatever waits to be sent: the connection is lost, and the next attempt begins. */
  cut(): void;
}

/**
 * nats.js 2.29.3 leaves the socket of an attempt that it gives up open; if the server only stood still, the bytes of two connections go into one
 * parser (measured). So each attempt ends the one before. And to a machine that is gone it waits a quarter of an hour to send its buffer
 * (tcp_retries2), so `cut` closes at once.
 */
const careForSockets = (nats: NatsConnection): SocketCare => {
  const protocol = protocolOf(nats);
  const prepare = protocol.prepare.bind(protocol);
  protocol.prepare = () => {
    end(protocol.transport);
    return prepare();
  };
  return { cut: () => closeSocket(protocol.transport) };
};

const end = (transport: Protocol["transport"]): void => {
  transport.done = true;
  closeSocket(transport);
};

const closeSocket = (transport: object): void => {
  if ("socket" in transport && transport.socket instanceof Socket) transport.socket.destroy();
};

const isInTime = (answer: Promise<void>): Promise<boolean> =>
  Promise.race([
    answer.then(
      () => true,
      () => false,
    ),
    delay(ANSWER_MS_MAX, false, { ref: false }),
  ]);

/** Includes the denied operation, so that the operator knows which right is missing. */
const errorOf = ({ data, permissionContext }: Status): string =>
  permissionContext
    ? `${data}: ${permissionContext.operation} ${permissionContext.subject} (this version needs what streams/permissions.ts allows)`
    : String(data);

const versionRefusal = (text: string): string | undefined => {
  const version = brokerVersionIn(text);
  if (version && isSupportedBrokerVersion(version)) return undefined;
  return `The NATS server is version ${text || "unknown"}; Prooftrail needs ${BROKER_VERSION_FLOOR} or newer (atomic batch publish).`;
};

/** A larger message makes the server close the connection, for everything that shares it (measured on 2.15.1). */
const payloadRefusal = (bytes: number): string | undefined =>
  bytes >= RECORD_BYTES_MAX
    ? undefined
    : `The NATS server accepts messages of at most ${bytes} bytes; an event and what is stored with it can have ${RECORD_BYTES_MAX}. Set max_payload in its configuration to ${RECORD_BYTES_MAX} or more (default 1048576).`;

const RECORD_BYTES_MAX = EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX;

const parseServers = (
  url: string,
): {
  servers: string[];
  credentials: { user?: string; pass?: string; token?: string };
  needsTls: boolean;
} => {
  const urls = url.split(",").map((text) => new URL(text.trim()));
  const [first] = urls;
  const user = decodeURIComponent(first?.username ?? "");
  const pass = decodeURIComponent(first?.password ?? "");
  const servers = urls.map(({ protocol, host }) => `${protocol}//${host}`);
  const needsTls = first?.protocol === "tls:";
  if (user === "") return { servers, credentials: {}, needsTls };
  return { servers, credentials: pass === "" ? { token: user } : { user, pass }, needsTls };
};
