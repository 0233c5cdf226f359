/** Reads the log: single messages by sequence, and all messages in order from any sequence on. */
import { setTimeout as delay } from "node:timers/promises";
import {
  AckPolicy,
  createInbox,
  DeliverPolicy,
  type JetStreamManager,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  nanos,
  ReplayPolicy,
} from "nats";
import pLimit from "p-limit";
import { LOG_READS_AT_ONCE, PROJECTION_BYTES_PER_COMMIT_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError, type StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { answered } from "./answered.ts";
import { API_ERROR, apiErrorCode } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

/** How long one pull waits for messages. A broker that disappears silently is noticed after twice this. */
const PULL_MS_MAX = 5_000;
/** The broker removes a consumer whose reader died after this. */
const CONSUMER_IDLE_MS_MAX = 60_000;
/**
 * A new consumer is on one server of a cluster, and another server may not know it yet: the first pull is answered with 503, no responders.
 * This happens a few times a minute without any fault (measured on three brokers of 2.15.1, on a busy machine), and is over within a
 * moment.
 */
const UNKNOWN = { pullsMax: 20, pauseMs: 25 };

export const createLogReader = async (
  connection: BrokerConnection,
  stream: "AUDIT" | "SANDBOX" | "CHECKPOINTS" = "AUDIT",
): Promise<LogReader> => {
  const manager = await connection.nats.jetstreamManager({ checkAPI: false });
  const inTurn = pLimit(LOG_READS_AT_ONCE);
  return {
    read: (sequence) =>
      inTurn(() => answered(connection, UNREADABLE, () => readMessage(manager, stream, sequence))),
    lastSequence: () =>
      answered(connection, UNREADABLE, () =>
        manager.streams.info(stream).then(({ state }) => state.last_seq),
      ),
    follow: ({ bytesMax = PROJECTION_BYTES_PER_COMMIT_MAX, ...options }) =>
      follow({ ...options, bytesMax, connection, manager, stream }),
  };
};

const UNREADABLE = "The event log could not be read";

const readMessage = async (
  manager: JetStreamManager,
  stream: string,
  sequence: Sequence,
): Promise<StoredMessage | undefined> => {
  try {
    // Asks the leader: a direct get may be answered by a replica that lacks the newest message (NATS ADR-31).
    const message = await manager.streams.getMessage(stream, { seq: sequence });
    return { sequence: message.seq, subject: message.subject, payload: message.data };
  } catch (error) {
    if (apiErrorCode(error) === API_ERROR.messageNotFound) return undefined;
    throw error;
  }
};

interface FollowOptions {
  readonly connection: BrokerConnection;
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly from: Sequence;
  readonly messagesMax: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/**
 * Follows with one consumer after another. A consumer lives on one replica, and one that is behind gives nothing and reports nothing: under
 * load and restarts the catching up of replicas can stall in nats-server 2.15.1 (`bun run chaos --scenario cluster`). And what a consumer
 * has sent to a server whose route breaks at that moment is lost, while the next pull continues after it (measured on 2.15.1: 3 times in 20
 * breaks, with five readers).
 */
async function* follow(options: FollowOptions): AsyncGenerator<readonly StoredMessage[]> {
  let from = options.from;
  while (!options.signal.aborted) from = yield* followConsumer({ ...options, from });
}

/**
 * A temporary consumer without acknowledgements: the reader stores its own position, with its rows. One group is pulled at a time, which is
 * the back pressure: the broker never sends more than was requested. Ends when the signal is aborted, when a message was lost on its way,
 * or when the leader has had a message for as long as a pull takes and this consumer has not delivered it. Returns the next sequence.
 */
async function* followConsumer(options: FollowOptions): AsyncGenerator<readonly StoredMessage[], Sequence> {
  const { connection, manager, stream, from, messagesMax, bytesMax, signal } = options;
  const { name } = await answered(connection, UNREADABLE, () =>
    manager.consumers.add(stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(CONSUMER_IDLE_MS_MAX),
    }),
  );
  const { nats } = connection;
  const inbox = openInbox(nats, bytesMax);
  const end = (): void => inbox.close("ended");
  signal.addEventListener("abort", end, { once: true });
  using _listener = connection.onChange(() => inbox.close("lost"));
  const pull = (): void => {
    // It would throw an error of nats.js; the inbox tells that the connection is lost.
    if (nats.isClosed()) return;
    nats.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
      JSON.stringify({
        batch: messagesMax,
        max_bytes: bytesMax,
        expires: nanos(PULL_MS_MAX),
      }),
      { reply: inbox.nextPull() },
    );
  };
  let next = from;
  let missed: Sequence | undefined;
  let unknown = 0;
  try {
    if (!signal.aborted) pull();
    let left = messagesMax;
    while (!signal.aborted) {
      const { kind, messages } = await inbox.next({ messagesMax: left, timeoutMs: PULL_MS_MAX * 2 });
      if (kind === "unknown" && ++unknown < UNKNOWN.pullsMax) {
        await delay(UNKNOWN.pauseMs);
        if (!signal.aborted) pull();
        continue;
      }
      if (kind === "lost" || kind === "unknown")
        throw new LogUnavailableError("The event log could not be followed: no answer.");
      if (kind === "refused" && messages.length === 0 && next === from)
        throw new LogUnavailableError(REFUSED);
      if (await hasLostPayloads(options, messages)) throw new LogUnavailableError(CHANGED);
      const hasExpired = kind === "over" && messages.length === 0;
      if (hasExpired && missed === next) return next;
      left = kind === "over" ? 0 : left - messages.length;
      const isOfNoMoreUse = kind === "gap" || kind === "refused";
      if (left === 0 && !isOfNoMoreUse && !signal.aborted) {
        // Before these messages are processed, so that the broker sends the next ones meanwhile.
        pull();
        left = messagesMax;
      }
      next = (messages.at(-1)?.sequence ?? next - 1) + 1;
      if (messages.length > 0) yield messages;
      if (isOfNoMoreUse) return next;
      missed = hasExpired && !signal.aborted && (await holds(options, next)) ? next : undefined;
    }
    return next;
  } finally {
    signal.removeEventListener("abort", end);
    inbox.close("ended");
    // Not awaited: the broker removes an idle consumer by itself.
    if (connection.isConnected()) void manager.consumers.delete(stream, name).catch(() => undefined);
  }
}

/**
 * Whether the stream's leader has a message at or after `sequence`; false without an answer. A stream that expires messages loses its
 * oldest, so its last sequence counts only if it holds any.
 */
const holds = async (
  { connection, manager, stream }: Pick<FollowOptions, "connection" | "manager" | "stream">,
  sequence: Sequence,
): Promise<boolean> => {
  const info = await connection.untilLost(() => manager.streams.info(stream)).catch(() => undefined);
  return info !== undefined && info.state.messages > 0 && info.state.last_seq >= sequence;
};

/** Of a consumer that has delivered nothing: the next one would be refused as well, and made at once (measured: a thousand in a second). */
const REFUSED =
  "The event log could not be followed: the broker sends fewer messages at once than are asked for. Look for max_request_batch in its settings, and for somebody who changes its consumers.";

const CHANGED =
  "The event log could not be followed: somebody has changed its consumer, which leaves out what records hold.";

/**
 * Whoever may make consumers on a stream, as your own services may, may also have any other consumer send no payloads (`headers_only`; measured on 2.15.1).
 * Nothing that we store is empty, and what somebody else may have stored so, the stream's leader tells.
 */
const hasLostPayloads = async (
  { connection, manager, stream }: Pick<FollowOptions, "connection" | "manager" | "stream">,
  messages: readonly StoredMessage[],
): Promise<boolean> => {
  for (const { sequence, payload } of messages) {
    if (payload.length > 0) continue;
    const stored = await answered(connection, UNREADABLE, () => readMessage(manager, stream, sequence));
    if (stored !== undefined && stored.payload.length > 0) return true;
  }
  return false;
};

interface Arrival {
  /**
   * `messages`: more of the pull may come. `over`: the pull, or following as a whole, has ended. `gap`: a message after these was lost.
   * `unknown`: no server knows the consumer yet, and it has delivered nothing. `refused`: the pull went beyond the bounds of the consumer.
   */
  readonly kind: "messages" | "over" | "gap" | "lost" | "unknown" | "refused";
  readonly messages: readonly StoredMessage[];
}

interface Inbox {
  /** Reply subject of the next pull. From then on only messages of the pull before it count, not its statuses. */
  nextPull(): string;
  /**
   * What has arrived since the last call. Waits while nothing has arrived, and while the broker has more, up to `messagesMax`: many small
   * groups cost a reader more than few large ones. A lone message is returned at once.
   */
  next(wanted: { readonly messagesMax: number; readonly timeoutMs: number }): Promise<Arrival>;
  close(reason: "ended" | "lost"): void;
}

/** Statuses that end a pull as planned: 404 nothing there, 408 expired, 409 if it is about a limit (NATS ADR-37). */
const isPlannedEnd = (code: number, description: string): boolean =>
  code === 404 || code === 408 || (code === 409 && !description.toLowerCase().includes("deleted"));

/**
 * A pull beyond the bounds of its consumer. We give ours none, but the settings of a broker may, and anybody who may make consumers on the stream, as
 * your own services may, can also change them: every pull would then end at once, and be repeated at once (measured: a quarter of a core).
 */
const isRefusal = (code: number, description: string): boolean =>
  code === 409 && description.toLowerCase().startsWith("exceeded");

/** `bytesMax`: bytes that a pull may deliver. */
const openInbox = (nats: NatsConnection, bytesMax: number): Inbox => {
  const prefix = createInbox();
  let pulls = 0;
  const pulling = (): string => `${prefix}.${pulls}`;
  let messages: StoredMessage[] = [];
  /** How many more messages the broker had when it sent the last one. */
  let pending = 0;
  /** Bytes that the current pull has delivered. */
  let pulled = 0;
  let ending: Exclude<Arrival["kind"], "messages"> | undefined;
  /** Number of messages that the consumer has sent and that all arrived. */
  let delivered = 0;
  let isClosed = false;
  let look = (): void => {};
  const takeStatus = ({ code, description }: MsgHdrs, subject: string): void => {
    // A pull that is bounded in bytes also gets a status after its last message (409 "Batch Completed", measured on 2.15.1), and the next
    // pull may be on its way by then. If the status were taken for the end of that one, more and more pulls would be on their way at once.
    const isOfEarlier = subject !== pulling();
    if (code === HEARTBEAT || isOfEarlier) return;
    if (isRefusal(code, description)) ending = "refused";
    else if (isPlannedEnd(code, description)) ending = "over";
    else ending = code === NO_RESPONDERS && delivered === 0 ? "unknown" : "lost";
  };
  const takeMessage = (message: Msg, place: Place): void => {
    if (place.delivery !== delivered + 1) {
      ending = "gap";
      return;
    }
    delivered++;
    messages.push({ sequence: place.sequence, subject: message.subject, payload: message.data });
    pending = place.pending;
    pulled += sizeOf(message);
    // A pull whose bytes are used up exactly ends without a status (nats-server 2.15.1). Waiting for one made the reader think the broker
    // lost, after 20 s (measured).
    if (pulled === bytesMax) ending = "over";
  };
  const subscription = nats.subscribe(`${prefix}.*`, {
    // Never throws: nats.js would give up the whole connection.
    callback: (error, message) => {
      const status = message.reply ? undefined : message.headers;
      const place = placeOf(message);
      if (error) ending = "lost";
      else if (status) takeStatus(status, message.subject);
      else if (place) takeMessage(message, place);
      else ending = "lost";
      look();
    },
  });
  const hasArrived = (messagesMax: number): boolean =>
    ending !== undefined || messages.length >= messagesMax || (messages.length > 0 && pending === 0);
  const next: Inbox["next"] = async ({ messagesMax, timeoutMs }) => {
    if (!hasArrived(messagesMax)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      look = () => {
        if (hasArrived(messagesMax)) resolve();
      };
      const timer = setTimeout(() => {
        if (messages.length === 0) ending = "lost";
        resolve();
      }, timeoutMs);
      await promise;
      clearTimeout(timer);
    }
    const arrival: Arrival = { kind: ending ?? "messages", messages };
    messages = [];
    if (!isClosed) ending = undefined;
    return arrival;
  };
  const close = (reason: "ended" | "lost"): void => {
    if (isClosed) return;
    isClosed = true;
    ending = reason === "ended" ? "over" : "lost";
    if (!nats.isClosed()) subscription.unsubscribe();
    look();
  };
  const nextPull = (): string => {
    pulls++;
    pulled = 0;
    return pulling();
  };
  return { nextPull, next, close };
};

const HEARTBEAT = 100;
const NO_RESPONDERS = 503;

/** The size that the broker counts against the bound of a pull, with subject and headers. nats.js has it, but not in its types. */
const sizeOf = (message: Msg): number => {
  const size: unknown = "size" in message && typeof message.size === "function" ? message.size() : undefined;
  return typeof size === "number" ? size : 0;
};

interface Place {
  readonly sequence: Sequence;
  /** Its number among the messages that the consumer has sent, from 1. The numbers continue over a hole in the log. */
  readonly delivery: number;
  /** How many messages follow it. */
  readonly pending: number;
}

/** Parsed from the reply subject: 9 tokens, or 11 and more with domain and account (NATS ADR-15). */
const placeOf = (message: Msg): Place | undefined => {
  const tokens = message.reply?.split(".") ?? [];
  const at = tokens.length === 9 ? 5 : 7;
  const [sequence, delivery, pending] = [Number(tokens[at]), Number(tokens[at + 1]), Number(tokens[at + 3])];
  return [sequence, delivery, pending].every(Number.isSafeInteger)
    ? { sequence, delivery, pending }
    : undefined;
};
