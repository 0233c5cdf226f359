/**
 * The group-committing appender. Records that arrive during a commit form the next one, so that one fsync acknowledges them all. A commit is an
 * atomic batch (NATS ADR-50) or, below ATOMIC_RECORDS_MIN records, single messages. What is held is bounded, and no call waits longer than
 * APPEND_ACK_MS_MAX.
 */
import { createMemoryQuota, quotaBounds } from "../access/memory-quota.ts";
import {
  APPEND_ACK_MS_MAX,
  APPEND_BYTES_HELD_MAX,
  APPEND_RECORDS_HELD_MAX,
  ATOMIC_RECORDS_MIN,
  COMMIT_BYTES_MAX,
  COMMIT_RECORDS_MAX,
  COMMITS_IN_FLIGHT_MAX,
  DUPLICATE_WINDOW_MS,
  RECENT_IDS_MAX,
} from "../limits.ts";
import type { OutgoingRecord, RecordAppender } from "../log/event-log.ts";
import type { Outcome, Sequence } from "../log/outcome.ts";
import { createDeadline } from "../runtime/deadline.ts";
import { stackOf } from "../runtime/error-text.ts";
import type { Logger } from "../telemetry/logger.ts";
import { isDuplicateInBatch } from "./api-errors.ts";
import {
  type AppendExchange,
  appendSingle,
  NOT_ACKNOWLEDGED,
  NOT_CONNECTED,
  openAppendExchange,
  outcomeOf,
} from "./append-exchange.ts";
import type { BrokerConnection } from "./connection.ts";
import type { StallReport } from "./stall-clock.ts";

interface AppenderDependencies {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
  readonly elapsedMs: () => number;
  /** Why the stream must not be written, as last seen; undefined if it may be. */
  readonly closedBecause?: () => string | undefined;
  readonly onOutcomes: (outcomes: readonly Outcome[]) => void;
  readonly onCommit: (records: number) => void;
}

interface Held {
  readonly tenant: string;
  readonly records: number;
  readonly bytes: number;
}

/** One call to `append` with the outcomes that it waits for. */
interface Parcel extends Held {
  readonly outcomes: Outcome[];
  /** Records without an outcome. */
  open: number;
  /** How many are in a commit: the first ones, because the queue keeps their order. */
  sent: number;
  readonly met: () => void;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
}

interface Entry {
  readonly record: OutgoingRecord;
  readonly parcel: Parcel;
  readonly index: number;
}

type Settle = (entry: Pick<Entry, "parcel" | "index">, outcome: Outcome) => void;

type LogAppender = RecordAppender & StallReport & Pick<AppendExchange, "isAwaited">;

export const createAppender = (dependencies: AppenderDependencies): LogAppender => {
  const { connection, closedBecause = () => undefined, onOutcomes, onCommit } = dependencies;
  const queue = createQueue();
  const held = createHeld();
  const deadline = createDeadline(APPEND_ACK_MS_MAX);
  let commitsInFlight = 0;

  /** Only the first outcome of a record counts. */
  const settle: Settle = ({ parcel, index }, outcome) => {
    if (parcel.outcomes[index]) return;
    parcel.outcomes[index] = outcome;
    if (--parcel.open > 0) return;
    parcel.met();
    held.giveBack(parcel);
    onOutcomes(parcel.outcomes);
    parcel.resolve(parcel.outcomes);
  };
  const committer = createCommitter(dependencies, settle);
  /** A commit without an answer takes as long as a call may, and later calls would wait for it and for their own. */
  const expire = (parcel: Parcel): void => {
    for (let index = 0; index < parcel.records; index++)
      settle({ parcel, index }, index < parcel.sent ? NOT_ACKNOWLEDGED : NOT_SENT);
    queue.dropSettled();
  };

  const pump = (): void => {
    // A second commit runs beside the first only when it is full: otherwise waiting makes it larger, and fsyncs are the cost.
    while (
      queue.size() > 0 &&
      (commitsInFlight === 0 ||
        (commitsInFlight < COMMITS_IN_FLIGHT_MAX && queue.size() >= COMMIT_RECORDS_MAX))
    ) {
      const entries = queue.take();
      commitsInFlight++;
      onCommit(entries.length);
      void committer.commit(entries, () => {
        commitsInFlight--;
        pump();
      });
    }
  };

  const admit = (asked: Held): Outcome | undefined => {
    if (!connection.isConnected()) return NOT_CONNECTED;
    const closed = closedBecause();
    if (closed !== undefined) return { kind: "refused", reason: "unavailable", detail: closed };
    return held.take(asked) ? undefined : OVERLOADED;
  };

  const append = (records: readonly OutgoingRecord[]): Promise<readonly Outcome[]> => {
    const [first] = records;
    if (!first) return Promise.resolve([]);
    const { tenant } = first;
    let bytes = 0;
    for (const record of records) bytes += record.bytes;
    const refusal = admit({ tenant, records: records.length, bytes });
    if (refusal) {
      const refusals = records.map(() => refusal);
      onOutcomes(refusals);
      return Promise.resolve(refusals);
    }
    return new Promise((resolve) => {
      const outcomes: Outcome[] = new Array(records.length);
      const parcel: Parcel = {
        tenant,
        outcomes,
        records: records.length,
        bytes,
        open: records.length,
        sent: 0,
        met: deadline(() => expire(parcel)),
        resolve,
      };
      let index = 0;
      for (const record of records) queue.add({ record, parcel, index: index++ });
      pump();
    });
  };

  return { append, stall: committer.stall, isAwaited: committer.isAwaited };
};

const createHeld = () => {
  const records = createMemoryQuota(quotaBounds(APPEND_RECORDS_HELD_MAX));
  const bytes = createMemoryQuota(quotaBounds(APPEND_BYTES_HELD_MAX));
  return {
    /** False if it does not fit; then nothing is taken. */
    take: (asked: Held): boolean => {
      if (!records.take(asked.tenant, asked.records)) return false;
      if (bytes.take(asked.tenant, asked.bytes)) return true;
      records.take(asked.tenant, -asked.records);
      return false;
    },
    giveBack: (answered: Held): void => {
      records.take(answered.tenant, -answered.records);
      bytes.take(answered.tenant, -answered.bytes);
    },
  };
};

const createQueue = () => {
  const entries: Entry[] = [];
  return {
    size: () => entries.length,
    add: (entry: Entry) => void entries.push(entry),
    take: (): readonly Entry[] => {
      let count = 0;
      let bytes = 0;
      for (const { record } of entries) {
        bytes += record.bytes;
        if (count === COMMIT_RECORDS_MAX || (bytes > COMMIT_BYTES_MAX && count > 0)) break;
        count++;
      }
      const taken = entries.splice(0, count);
      for (const { parcel } of taken) parcel.sent++;
      return taken;
    },
    /** The oldest expire first, so they are in front. */
    dropSettled: (): void => {
      let count = 0;
      while (entries[count]?.parcel.open === 0) count++;
      entries.splice(0, count);
    },
  };
};

const createCommitter = ({ connection, logger, elapsedMs }: AppenderDependencies, settle: Settle) => {
  const exchange = openAppendExchange(connection, elapsedMs);
  const recent = createRecentIds(elapsedMs);
  // After a reconnect the broker may have an older copy of the log, without these ids.
  connection.onChange(recent.forgetAll);

  const commitSingle = async (entry: Entry): Promise<void> => {
    const { record } = entry;
    const outcome = await appendSingle(exchange, record, elapsedMs);
    // A duplicate is not remembered: the broker remembers its id since it was stored, not from now on.
    if (outcome.kind === "appended") recent.remember([record.messageId], outcome.sequence);
    settle(entry, outcome);
  };

  const commitEach = async (entries: readonly Entry[]): Promise<void> => {
    const committed = entries.map(commitSingle);
    exchange.flush();
    await Promise.all(committed);
  };

  const commitBatch = async (
    entries: readonly Entry[],
    acknowledged: () => void,
  ): Promise<"answered" | "has duplicates"> => {
    const answer = await exchange.batch(entries);
    if (answer.kind === "error" && isDuplicateInBatch(answer.code)) return "has duplicates";
    if (answer.kind === "stored") {
      const messageIds = entries.map(({ record }) => record.messageId);
      let sequence = answer.sequence - entries.length + 1;
      recent.remember(messageIds, sequence);
      acknowledged();
      for (const entry of entries) settle(entry, { kind: "appended", sequence: sequence++ });
      return "answered";
    }
    const detail = answer.kind === "duplicate" ? "duplicate" : answer.detail;
    // Only the first of a series of failures: without a leader there are a hundred a second.
    if (exchange.stall()?.lastedMs === 0) logger.warn("a commit failed", { count: entries.length, detail });
    const outcome = outcomeOf(answer);
    for (const entry of entries) settle(entry, outcome);
    return "answered";
  };

  const commit = async (entries: readonly Entry[], acknowledged: () => void): Promise<void> => {
    if (!connection.isConnected()) {
      for (const entry of entries) settle(entry, NOT_CONNECTED);
      return;
    }
    if (entries.length < ATOMIC_RECORDS_MIN) return commitEach(entries);
    if ((await commitBatch(entries, acknowledged)) === "has duplicates") await commitSorted(entries);
  };

  /** For commits with duplicates: known ids are answered from memory, and the rest can still be one batch. */
  const commitSorted = async (entries: readonly Entry[]): Promise<void> => {
    const { fresh, known, repeated } = sort(entries, recent.sequenceOf);
    for (const { entry, sequence } of known) settle(entry, { kind: "duplicate", sequence });
    // If only the broker knows the id, it does not say which one. Sent one by one, each record gets its own answer.
    const isBatch = fresh.length >= ATOMIC_RECORDS_MIN && fresh.length < entries.length;
    if (!isBatch || (await commitBatch(fresh, () => {})) === "has duplicates") await commitEach(fresh);
    // Its repeats get the outcome of the first. Tried one after another, each could wait for a whole timeout.
    for (const { entry, first } of repeated) settle(entry, repeatOf(first.parcel.outcomes[first.index]));
  };

  /** Whatever goes wrong, each record gets an outcome, and the next commit its turn, exactly once. */
  const commitSafely = async (entries: readonly Entry[], done: () => void): Promise<void> => {
    const doneOnce = once(done);
    try {
      // The next commit is sent before this one's answers are written: the broker would idle that long (measured).
      await commit(entries, doneOnce);
    } catch (error) {
      logger.error("a commit broke", { count: entries.length, detail: stackOf(error) });
      for (const entry of entries) settle(entry, NOT_ACKNOWLEDGED);
    }
    doneOnce();
  };
  return { commit: commitSafely, stall: exchange.stall, isAwaited: exchange.isAwaited };
};

const once = (action: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
};

const OVERLOADED: Outcome = {
  kind: "refused",
  reason: "overloaded",
  detail: "More events are in flight than can be accepted.",
};

const NOT_SENT: Outcome = {
  kind: "refused",
  reason: "unavailable",
  detail: "The event log does not answer. The event was not sent to it.",
};

/** The outcome of a record whose id an earlier record of the same commit has. */
const repeatOf = (first: Outcome | undefined): Outcome => {
  if (first === undefined) throw new Error("the first of a message id is answered before its repeats");
  return first.kind === "appended" ? { kind: "duplicate", sequence: first.sequence } : first;
};

/** No message id may occur twice in one batch, and a known one needs no commit at all. */
const sort = (entries: readonly Entry[], sequenceOf: (messageId: string) => Sequence | undefined) => {
  const fresh: Entry[] = [];
  const known: { entry: Entry; sequence: Sequence }[] = [];
  const repeated: { entry: Entry; first: Entry }[] = [];
  const firsts = new Map<string, Entry>();
  for (const entry of entries) {
    const { messageId } = entry.record;
    const sequence = sequenceOf(messageId);
    const first = firsts.get(messageId);
    if (sequence !== undefined) known.push({ entry, sequence });
    else if (first) repeated.push({ entry, first });
    else {
      fresh.push(entry);
      firsts.set(messageId, entry);
    }
  }
  return { fresh, known, repeated };
};

interface RecentIds {
  /** Ids of one commit, whose sequences count up from `first`. */
  remember(messageIds: readonly string[], first: Sequence): void;
  sequenceOf(messageId: string): Sequence | undefined;
  forgetAll(): void;
}

interface Generation {
  readonly since: number;
  waiting: { readonly messageIds: readonly string[]; readonly first: Sequence }[];
  readonly index: Map<string, Sequence>;
  ids: number;
}

const generation = (since: number): Generation => ({ since, waiting: [], index: new Map(), ids: 0 });

/** `elapsedMs`: a clock that never goes back. Two generations: the older one is forgotten a window after it began, so no entry needs a time. */
export const createRecentIds = (elapsedMs: () => number): RecentIds => {
  let young = generation(elapsedMs());
  let old = generation(elapsedMs());
  const turn = (): void => {
    const now = elapsedMs();
    if (now - young.since >= DUPLICATE_WINDOW_MS / 2 || young.ids >= RECENT_IDS_MAX / 2) {
      old = young;
      young = generation(now);
    }
    if (now - old.since >= DUPLICATE_WINDOW_MS) old = generation(now);
  };
  return {
    remember: (messageIds, first) => {
      turn();
      young.waiting.push({ messageIds, first });
      young.ids += messageIds.length;
    },
    sequenceOf: (messageId) => {
      turn();
      return find(young, messageId) ?? find(old, messageId);
    },
    forgetAll: () => {
      young = generation(elapsedMs());
      old = generation(elapsedMs());
    },
  };
};

const find = (from: Generation, messageId: string): Sequence | undefined => {
  for (const { messageIds, first } of from.waiting) {
    for (const [index, id] of messageIds.entries()) from.index.set(id, first + index);
  }
  from.waiting = [];
  return from.index.get(messageId);
};
