import { createInbox, type JetStreamManager, type Msg, type MsgHdrs } from "nats";
import pLimit from "p-limit";
import {
  EVENT_BYTES_MAX,
  LOG_READS_AT_ONCE,
  PROJECTION_BYTES_PER_COMMIT_MAX,
  RECORD_OVERHEAD_BYTES_MAX,
} from "../limits.ts";
import { type LogReader, LogUnavailableError, type StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { API_ERROR, apiErrorCode } from "./api-errors.ts";
import { answered, type BrokerConnection } from "./connection.ts";

/** A broker that sends nothing for so long counts as lost. */
const SILENCE_MS_MAX = 5_000;
/** While no server answers for a stream: after a restart that is over within a moment. */
const UNKNOWN = { asksMax: 20, pauseMs: 25 };
/** Between two requests at the end of a stream: short after a message, longer the longer none comes. */
const REST_MS_MIN = 5;
const REST_MS_MAX = 50;
const LEADER_CHECK_MS = 1_000;

type Stream = "AUDIT" | "SANDBOX" | "CHECKPOINTS";

export interface FollowedLog extends LogReader {
  /** There is a new message, as far as this process knows: whoever rests at the end of the stream asks at once. */
  wake(): void;
}

export const createLogReader = async (
  connection: BrokerConnection,
  stream: Stream = "AUDIT",
): Promise<FollowedLog> => {
  const rests = createRests();
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
      follow({ ...options, bytesMax, connection, manager, stream, rests }),
    wake: rests.end,
  };
};

const UNREADABLE = "The event log could not be read";

/** For all who follow by one reader: all end together, and ending too early costs one more request. */
const createRests = () => {
  const resting = new Set<() => void>();
  let ended = 0;
  return {
    count: (): number => ended,
    /** Does not begin if there was an end since `count`, as while a question was on its way. */
    rest: (milliseconds: number, count = ended): Promise<void> => {
      if (count !== ended) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      resting.add(resolve);
      const timer = setTimeout(resolve, milliseconds);
      return promise.finally(() => {
        clearTimeout(timer);
        resting.delete(resolve);
      });
    },
    end: (): void => {
      ended++;
      for (const resolve of resting) resolve();
    },
  };
};

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
  readonly stream: Stream;
  readonly from: Sequence;
  readonly messagesMax: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  readonly rests: ReturnType<typeof createRests>;
}

/**
 * Follows by batched direct gets (NATS ADR-31), which need no consumer: others could use up their number, delete ours or change them. One batch is
 * asked for at a time, the next while the first is processed. At the end of the stream the reader asks again and again.
 */
async function* follow(options: FollowOptions): AsyncGenerator<readonly StoredMessage[]> {
  const { connection, from, signal, rests } = options;
  const asking = openAsking(options);
  const end = (): void => {
    asking.close("ended");
    rests.end();
  };
  signal.addEventListener("abort", end, { once: true });
  using _listener = connection.onChange(() => asking.close("lost"));
  const leader = createLeaderCheck(options);
  let next = from;
  let unanswered = 0;
  let restMs = REST_MS_MIN;
  let count = rests.count();
  const ask = (): Promise<Answer> => {
    count = rests.count();
    return asking.ask(next);
  };
  let asked = ask();
  try {
    while (!signal.aborted) {
      const { kind, messages, hasMore } = await asked;
      if (kind === "ended") return;
      if (kind === "lost" || (kind === "unknown" && ++unanswered >= UNKNOWN.asksMax))
        throw new LogUnavailableError(UNANSWERED);
      if (kind === "unknown") {
        await rests.rest(UNKNOWN.pauseMs);
        asked = ask();
        continue;
      }
      unanswered = 0;
      const whole = await asFarAsTheLeaderAgrees(options, next, messages);
      const found = whole.length > 0 ? whole : await leader.messagesFrom(next);
      const last = found.at(-1);
      if (last === undefined) {
        await rests.rest(restMs, count);
        restMs = Math.min(restMs * 2, REST_MS_MAX);
        asked = ask();
        continue;
      }
      next = last.sequence + 1;
      restMs = REST_MS_MIN;
      // Before these messages are processed, so that the broker sends the next ones meanwhile.
      const isAsked = hasMore && !signal.aborted;
      if (isAsked) asked = ask();
      yield found;
      if (!isAsked) asked = ask();
    }
  } finally {
    signal.removeEventListener("abort", end);
    asking.close("ended");
  }
}

/**
 * A replica that has lost a message steps over it. In the log none is ever removed, so the leader is asked about a missing one: if it has it, the
 * answer counts only up to there.
 */
const asFarAsTheLeaderAgrees = async (
  { connection, manager, stream }: FollowOptions,
  next: Sequence,
  messages: readonly StoredMessage[],
): Promise<readonly StoredMessage[]> => {
  if (stream !== "AUDIT") return messages;
  const at = messages.findIndex(({ sequence }, index) => sequence !== next + index);
  if (at < 0) return messages;
  const missing = await answered(connection, UNREADABLE, () => readMessage(manager, stream, next + at));
  return missing === undefined ? messages : messages.slice(0, at);
};

/**
 * In nats-server 2.15.1 a replica's catch-up can stall (`bun run chaos --scenario cluster`). So at the end of what replicas send, the leader
 * is asked now and then, and read where it has more.
 */
const createLeaderCheck = ({ connection, manager, stream, messagesMax }: FollowOptions) => {
  let checkedAt = performance.now();
  let missed: Sequence | undefined;
  const messagesFrom = async (next: Sequence): Promise<readonly StoredMessage[]> => {
    if (performance.now() - checkedAt < LEADER_CHECK_MS) return [];
    checkedAt = performance.now();
    const { state } = await answered(connection, UNREADABLE, () => manager.streams.info(stream));
    const isMissed = state.messages > 0 && state.last_seq >= next;
    // A message that has just come reaches the replicas by the next time.
    const isStalled = isMissed && missed === next;
    missed = isMissed ? next : undefined;
    if (!isStalled) return [];
    checkedAt = Number.NEGATIVE_INFINITY;
    const count = Math.min(state.last_seq - next + 1, messagesMax, LOG_READS_AT_ONCE);
    missed = next + count;
    const found = await answered(connection, UNREADABLE, () =>
      Promise.all(Array.from({ length: count }, (_, index) => readMessage(manager, stream, next + index))),
    );
    return found.flatMap((message) => message ?? []);
  };
  return { messagesFrom };
};

const UNANSWERED = "The event log could not be followed: no answer.";

interface Answer {
  /** `unknown`: no server answers for the stream, as while it restarts. */
  readonly kind: "messages" | "unknown" | "lost" | "ended";
  readonly messages: readonly StoredMessage[];
  /** Whether the stream had more when it sent the last one. */
  readonly hasMore: boolean;
}

interface Asking {
  /** The messages from a sequence on: all that were asked for, or those before one that was lost on its way. One request at a time. */
  ask(from: Sequence): Promise<Answer>;
  close(reason: "ended" | "lost"): void;
}

const openAsking = ({ connection: { nats }, stream, messagesMax, bytesMax }: FollowOptions): Asking => {
  const prefix = createInbox();
  let asks = 0;
  let messages: StoredMessage[] = [];
  let waiting = Promise.withResolvers<Answer>();
  let closed: "ended" | "lost" | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const settle = (kind: Answer["kind"], hasMore = false): void => {
    clearTimeout(silence);
    asks++;
    waiting.resolve({ kind, messages, hasMore });
  };
  const takeMessage = (message: Msg): void => {
    const stored = storedIn(message);
    // Each message names the one before it in the answer. A route that breaks loses some of them.
    if (stored?.before === (messages.at(-1)?.sequence ?? 0))
      messages.push({ sequence: stored.sequence, subject: stored.subject, payload: message.data });
    else settle("messages", true);
  };
  const takeStatus = (code: number, headers: MsgHdrs): void => {
    if (code === END_OF_BATCH) settle("messages", Number(headers.get("Nats-Num-Pending")) > 0);
    else if (code === NOT_FOUND) settle("messages");
    else settle(code === NO_RESPONDERS ? "unknown" : "lost");
  };
  const subscription = nats.subscribe(`${prefix}.*`, {
    // Never throws: nats.js would give up the whole connection.
    callback: (error, message) => {
      if (error) {
        settle("lost");
        return;
      }
      if (message.subject !== `${prefix}.${asks}`) return;
      const headers = message.data.length > 0 ? undefined : message.headers;
      if (headers !== undefined && headers.code > 0) takeStatus(headers.code, headers);
      else takeMessage(message);
    },
  });
  const ask: Asking["ask"] = (from) => {
    messages = [];
    if (closed !== undefined || nats.isClosed())
      return Promise.resolve({ kind: closed ?? "lost", messages, hasMore: false });
    asks++;
    waiting = Promise.withResolvers<Answer>();
    silence = setTimeout(() => settle(messages.length > 0 ? "messages" : "lost", true), SILENCE_MS_MAX);
    // The server ends a batch after the message with which it reaches the bound (measured on 2.15.1).
    const boundBytes = Math.max(1, bytesMax - RECORD_BYTES_MAX);
    const request = { seq: from, batch: messagesMax, max_bytes: boundBytes };
    nats.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(request), { reply: `${prefix}.${asks}` });
    return waiting.promise;
  };
  const close: Asking["close"] = (reason) => {
    if (closed !== undefined) return;
    closed = reason;
    if (!nats.isClosed()) subscription.unsubscribe();
    settle(reason);
  };
  return { ask, close };
};

const RECORD_BYTES_MAX = EVENT_BYTES_MAX + RECORD_OVERHEAD_BYTES_MAX;
const END_OF_BATCH = 204;
const NOT_FOUND = 404;
const NO_RESPONDERS = 503;

interface Stored {
  readonly sequence: Sequence;
  readonly subject: string;
  /** The sequence of the message before it in the same answer; 0: it is the first. */
  readonly before: Sequence;
}

/** From the headers that the server adds at the end. Their library parses all of them, which costs several times as much as everything else here (measured). */
const storedIn = (message: Msg): Stored | undefined => {
  const text = headerText(message);
  const [subject, sequence, before] = ["Nats-Subject", "Nats-Sequence", "Nats-Last-Sequence"].map((name) =>
    valueIn(text, name),
  );
  return subject === undefined ? undefined : { subject, sequence: Number(sequence), before: Number(before) };
};

/** The last one counts: a client may have stored a header of the same name. */
const valueIn = (text: string, name: string): string | undefined => {
  const found = text.lastIndexOf(`\n${name}: `);
  if (found < 0) return undefined;
  const start = found + name.length + 3;
  return text.slice(start, text.indexOf("\r", start));
};

/** They lie before the data in the same buffer. nats.js has their size, but not in its types. */
const headerText = (message: Msg): string => {
  const { data, subject } = message;
  const size: unknown = "size" in message && typeof message.size === "function" ? message.size() : undefined;
  const length = typeof size === "number" ? size - subject.length - data.length : 0;
  return Buffer.from(data.buffer, data.byteOffset - length, length).toString();
};
