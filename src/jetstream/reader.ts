/** Reading the log: single messages by sequence, and following it in order from any sequence on. */
import { setTimeout as delay } from "node:timers/promises";
import {
  AckPolicy,
  createInbox,
  DeliverPolicy,
  type JetStreamManager,
  type Msg,
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

/** How long one pull waits for messages: a broker that is gone without a word is noticed after twice this. */
const PULL_MS_MAX = 5_000;
/** A consumer whose reader died is removed by the broker after this. */
const CONSUMER_IDLE_MS_MAX = 60_000;
/**
 * A consumer that was just made is on one server of a cluster, and another may not know it yet: it answers the first pull with 503, no responders. Some
 * times a minute where nothing is wrong (measured on three brokers of 2.15.1, on a busy machine), and over within a moment.
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
    // Asks the leader: a direct get may be answered by a replica that does not have the newest message yet (NATS ADR-31).
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
 * By one consumer after another: a consumer lives on one replica, and one that is behind gives nothing and says nothing of it. Under load and restarts
 * nats-server 2.15.1 tells of replicas whose catching up stalls (`bun run chaos --scenario cluster`). And what it has sent to a server whose route breaks
 * just then is lost, while the next pull goes on behind it (measured on 2.15.1: 3 times in 20 breaks, with five readers).
 */
async function* follow(options: FollowOptions): AsyncGenerator<readonly StoredMessage[]> {
  let from = options.from;
  while (!options.signal.aborted) from = yield* followConsumer({ ...options, from });
}

/**
 * A throw-away consumer without acknowledgements: where the reader stands is its own affair, kept with its rows. One group
 * is pulled at a time, which is the back pressure: the broker never sends more than was asked for. Ends where the signal is aborted, something
 * was lost on its way, or the leader of the log has had a message for as long as a pull takes that this consumer does not give. Returns the sequence that
 * comes next.
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
  const pull = (): void =>
    nats.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
      JSON.stringify({
        batch: messagesMax,
        max_bytes: bytesMax,
        expires: nanos(PULL_MS_MAX),
      }),
      { reply: inbox.nextPull() },
    );
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
      const hasExpired = kind === "over" && messages.length === 0;
      if (hasExpired && missed === next) return next;
      left = kind === "over" ? 0 : left - messages.length;
      if (left === 0 && kind !== "gap" && !signal.aborted) {
        // Before these are worked on, so that the broker sends the next ones meanwhile.
        pull();
        left = messagesMax;
      }
      next = (messages.at(-1)?.sequence ?? next - 1) + 1;
      if (messages.length > 0) yield messages;
      if (kind === "gap") return next;
      missed = hasExpired && !signal.aborted && (await holds(options, next)) ? next : undefined;
    }
    return next;
  } finally {
    signal.removeEventListener("abort", end);
    inbox.close("ended");
    // A courtesy, not waited for: the broker removes an idle consumer by itself.
    if (connection.isConnected()) void manager.consumers.delete(stream, name).catch(() => undefined);
  }
}

/** Whether the stream's leader has a message from `sequence` on; no answer is no. What a stream lets expire goes from its beginning. */
const holds = async (
  { connection, manager, stream }: Pick<FollowOptions, "connection" | "manager" | "stream">,
  sequence: Sequence,
): Promise<boolean> => {
  const info = await connection.untilLost(() => manager.streams.info(stream)).catch(() => undefined);
  return info !== undefined && info.state.messages > 0 && info.state.last_seq >= sequence;
};

interface Arrival {
  /**
   * `messages`: more of the pull may come. `over`: the pull, or the whole following, has ended. `gap`: what was sent behind these did not come. `unknown`:
   * nobody takes pulls for the consumer, which has given nothing yet.
   */
  readonly kind: "messages" | "over" | "gap" | "lost" | "unknown";
  readonly messages: readonly StoredMessage[];
}

interface Inbox {
  /** Where the next pull is answered. Of the one before only messages count from here on. */
  nextPull(): string;
  /**
   * What has arrived since the last call; waits when that is nothing, and as long as the broker has more, up to `messagesMax`: many small groups cost
   * their reader more than few large ones. A lone message is handed on at once.
   */
  next(wanted: { readonly messagesMax: number; readonly timeoutMs: number }): Promise<Arrival>;
  close(reason: "ended" | "lost"): void;
}

/** Statuses that end one pull as planned: 404 nothing there, 408 expired, 409 as long as it is about a limit (NATS ADR-37). */
const isPlannedEnd = (code: number, description: string): boolean =>
  code === 404 || code === 408 || (code === 409 && !description.toLowerCase().includes("deleted"));

/** `bytesMax`: what a pull may bring. */
const openInbox = (nats: NatsConnection, bytesMax: number): Inbox => {
  const prefix = createInbox();
  let pulls = 0;
  const pulling = (): string => `${prefix}.${pulls}`;
  let messages: StoredMessage[] = [];
  /** How many more the broker had when it sent the last one. */
  let pending = 0;
  /** Bytes that the last pull has brought. */
  let pulled = 0;
  let ending: Exclude<Arrival["kind"], "messages"> | undefined;
  /** Messages that the consumer has sent, and all of which came. */
  let delivered = 0;
  let isClosed = false;
  let look = (): void => {};
  const subscription = nats.subscribe(`${prefix}.*`, {
    // Never throws: nats.js would give up the whole connection.
    callback: (error, message) => {
      const status = message.reply ? undefined : message.headers;
      const place = placeOf(message);
      // A pull that is bounded in bytes is told to have ended after its last message as well (409 "Batch Completed", measured on
      // 2.15.1), and the next one may be on its way by then: taken for the end of that, more and more pulls would be on their way
      // at once.
      const isOfEarlier = status !== undefined && message.subject !== pulling();
      if (error || (!status && !place)) ending = "lost";
      else if (status && status.code !== HEARTBEAT && !isOfEarlier) {
        if (isPlannedEnd(status.code, status.description)) ending = "over";
        else ending = status.code === NO_RESPONDERS && delivered === 0 ? "unknown" : "lost";
      } else if (place && place.delivery !== delivered + 1) {
        ending = "gap";
      } else if (place) {
        delivered++;
        messages.push({ sequence: place.sequence, subject: message.subject, payload: message.data });
        pending = place.pending;
        pulled += sizeOf(message);
        // A pull of whose bytes none is left ends without a word (nats-server 2.15.1): waited for, it seemed lost after 20 s (measured).
        if (pulled === bytesMax) ending = "over";
      }
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

/** As the broker counts it against the bound of a pull, with subject and headers. nats.js counts like it, and does not say so in its types. */
const sizeOf = (message: Msg): number => {
  const size: unknown = "size" in message && typeof message.size === "function" ? message.size() : undefined;
  return typeof size === "number" ? size : 0;
};

interface Place {
  readonly sequence: Sequence;
  /** Which of the messages that its consumer has sent it is, from 1: they count on over a hole in the log. */
  readonly delivery: number;
  /** How many are behind it. */
  readonly pending: number;
}

/** The reply subject tells it: 9 tokens, or 11 and more with domain and account (NATS ADR-15). */
const placeOf = (message: Msg): Place | undefined => {
  const tokens = message.reply?.split(".") ?? [];
  const at = tokens.length === 9 ? 5 : 7;
  const [sequence, delivery, pending] = [Number(tokens[at]), Number(tokens[at + 1]), Number(tokens[at + 3])];
  return [sequence, delivery, pending].every(Number.isSafeInteger)
    ? { sequence, delivery, pending }
    : undefined;
};
