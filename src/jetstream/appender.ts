/**
 * The group-committing appender. Records that arrive while a commit is on its way form the next one, so that one fsync acknowledges them
 * all; an idle system commits at once. A commit is an atomic batch (NATS ADR-50) or, below ATOMIC_RECORDS_MIN records, single
 * messages, which are cheaper then. What it holds is bounded: past the bound it says no at once.
 */
import type { Buffer } from "node:buffer";
import {
  APPEND_ACK_MS_MAX,
  APPEND_BYTES_IN_FLIGHT_MAX,
  APPEND_RECORDS_IN_FLIGHT_MAX,
  ATOMIC_RECORDS_MIN,
  COMMIT_BYTES_MAX,
  COMMIT_RECORDS_MAX,
  COMMITS_IN_FLIGHT_MAX,
} from "../limits.ts";
import { type OutgoingRecord, payloadBytes, type RecordAppender } from "../log/event-log.ts";
import type { Outcome, Sequence } from "../log/outcome.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type Acknowledgement, openAckInbox } from "./ack-inbox.ts";
import { API_ERROR, isDuplicateInBatch } from "./api-errors.ts";
import { createByteSender, encodeBatch, encodeSingle } from "./append-wire.ts";
import type { BrokerConnection } from "./connection.ts";
import { createRecentIds } from "./recent-ids.ts";

export interface AppenderDependencies {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
  readonly elapsedMs: () => number;
  readonly onOutcomes: (outcomes: readonly Outcome[]) => void;
  readonly onCommit: (records: number) => void;
}

/** What one call to `append` is waiting for. */
interface Parcel {
  readonly outcomes: Outcome[];
  readonly records: number;
  readonly bytes: number;
  /** Records without an outcome. */
  open: number;
  readonly resolve: (outcomes: readonly Outcome[]) => void;
}

/** A record on its way, and where its outcome goes. */
interface Entry {
  readonly record: OutgoingRecord;
  readonly parcel: Parcel;
  readonly index: number;
}

type Settle = (entry: Entry, outcome: Outcome) => void;

export const createAppender = (dependencies: AppenderDependencies): RecordAppender => {
  const { connection, onOutcomes, onCommit } = dependencies;
  const queue = createQueue();
  let recordsHeld = 0;
  let bytesHeld = 0;
  let commitsInFlight = 0;

  /** Only the first outcome of a record counts. */
  const settle: Settle = ({ parcel, index }, outcome) => {
    if (parcel.outcomes[index]) return;
    parcel.outcomes[index] = outcome;
    if (--parcel.open > 0) return;
    recordsHeld -= parcel.records;
    bytesHeld -= parcel.bytes;
    onOutcomes(parcel.outcomes);
    parcel.resolve(parcel.outcomes);
  };
  const committer = createCommitter(dependencies, settle);

  const pump = (): void => {
    // A second commit beside a running one only when it is full: otherwise waiting makes it larger, and fsyncs are what costs.
    while (
      queue.size() > 0 &&
      (commitsInFlight === 0 ||
        (commitsInFlight < COMMITS_IN_FLIGHT_MAX && queue.size() >= COMMIT_RECORDS_MAX))
    ) {
      const entries = queue.take();
      commitsInFlight++;
      onCommit(entries.length);
      void committer.commit(entries).then(() => {
        commitsInFlight--;
        pump();
      });
    }
  };

  const append = (records: readonly OutgoingRecord[]): Promise<readonly Outcome[]> => {
    let bytes = 0;
    for (const record of records) bytes += payloadBytes(record);
    const refusal = refusalFor({
      connection,
      records: recordsHeld + records.length,
      bytes: bytesHeld + bytes,
    });
    if (refusal) {
      const refusals = records.map(() => refusal);
      onOutcomes(refusals);
      return Promise.resolve(refusals);
    }
    if (records.length === 0) return Promise.resolve([]);
    recordsHeld += records.length;
    bytesHeld += bytes;
    return new Promise((resolve) => {
      const outcomes: Outcome[] = new Array(records.length);
      const parcel = { outcomes, records: records.length, bytes, open: records.length, resolve };
      for (const [index, record] of records.entries()) queue.add({ record, parcel, index });
      pump();
    });
  };

  return { append };
};

const NOT_CONNECTED: Outcome = {
  kind: "refused",
  reason: "unavailable",
  detail: "The event log is not connected.",
};

const refusalFor = ({
  connection,
  records,
  bytes,
}: {
  connection: BrokerConnection;
  records: number;
  bytes: number;
}): Outcome | undefined => {
  if (!connection.isConnected()) return NOT_CONNECTED;
  if (records <= APPEND_RECORDS_IN_FLIGHT_MAX && bytes <= APPEND_BYTES_IN_FLIGHT_MAX) return undefined;
  return { kind: "refused", reason: "overloaded", detail: "More events are in flight than can be taken." };
};

/** First in, first out; taking from the front costs nothing per entry left behind. */
const createQueue = () => {
  let entries: Entry[] = [];
  let start = 0;
  return {
    size: () => entries.length - start,
    add: (entry: Entry) => void entries.push(entry),
    /** What one commit holds: bounded records and bytes, at least one. */
    take: (): readonly Entry[] => {
      let end = start;
      let bytes = 0;
      while (end < entries.length && end - start < COMMIT_RECORDS_MAX) {
        const entry = entries[end];
        if (!entry) break;
        bytes += payloadBytes(entry.record);
        if (bytes > COMMIT_BYTES_MAX && end > start) break;
        end++;
      }
      const taken = entries.slice(start, end);
      start = end;
      if (start === entries.length) [entries, start] = [[], 0];
      else if (start > entries.length / 2) [entries, start] = [entries.slice(start), 0];
      return taken;
    },
  };
};

const createCommitter = ({ connection, logger, elapsedMs }: AppenderDependencies, settle: Settle) => {
  const wire = createByteSender(connection.nats);
  const inbox = openAckInbox(connection.nats);
  const recent = createRecentIds(elapsedMs);
  /** Buffers of commits that were answered. Fresh memory for each commit cost more than filling it (measured). */
  const spareBuffers: Buffer[] = [];
  let commitsToLookThrough = 0;
  let nextBatch = 0;
  const batchPrefix = crypto.randomUUID().slice(0, 8);
  connection.onChange((state) => {
    if (state === "lost") inbox.abandon("the connection was lost");
  });

  const commitSingle = async (entry: Entry): Promise<void> => {
    const deadline = elapsedMs() + APPEND_ACK_MS_MAX;
    for (;;) {
      const { reply, answer } = inbox.expect(APPEND_ACK_MS_MAX);
      wire.send(encodeSingle(entry.record, reply));
      const acknowledgement = await answer;
      if (!isInProcess(acknowledgement)) {
        const outcome = outcomeOf(acknowledgement);
        if (outcome.kind === "appended" || outcome.kind === "duplicate")
          recent.remember([entry.record.messageId], outcome.sequence);
        return settle(entry, outcome);
      }
      if (elapsedMs() > deadline) {
        return settle(entry, {
          kind: "unknown",
          detail: "The same event is still being stored by another request.",
        });
      }
      await new Promise((resolve) => setTimeout(resolve, IN_PROCESS_WAIT_MS));
    }
  };

  const commitBatch = async (entries: readonly Entry[]): Promise<"done" | "has duplicates"> => {
    const batchId = `${batchPrefix}-${(nextBatch++).toString(36)}`;
    const { reply, answer: acknowledgement } = inbox.expect(APPEND_ACK_MS_MAX);
    const bytes = encodeBatch(entries, { batchId, reply, spare: spareBuffers.pop() });
    wire.send(bytes);
    wire.flush();
    const answer = await acknowledgement;
    // The broker has read it all when it answers, so nobody looks at these bytes any more.
    if (answer.kind !== "none") spareBuffers.push(bytes);
    if (answer.kind === "stored") {
      const first = answer.sequence - entries.length + 1;
      recent.remember(
        entries.map(({ record }) => record.messageId),
        first,
      );
      let sequence = first;
      for (const entry of entries) settle(entry, { kind: "appended", sequence: sequence++ });
      return "done";
    }
    if (answer.kind === "error" && isDuplicateInBatch(answer.code)) return "has duplicates";
    logger.warn("a commit failed", {
      count: entries.length,
      detail: answer.kind === "duplicate" ? "duplicate" : answer.detail,
    });
    const outcome = outcomeOf(answer);
    for (const entry of entries) settle(entry, outcome);
    return "done";
  };

  const commitEach = async (entries: readonly Entry[]): Promise<void> => {
    await Promise.all(entries.map(commitSingle));
  };

  const commit = async (entries: readonly Entry[]): Promise<void> => {
    if (!connection.isConnected()) {
      for (const entry of entries) settle(entry, NOT_CONNECTED);
      return;
    }
    if (entries.length < ATOMIC_RECORDS_MIN) return commitEach(entries);
    if (commitsToLookThrough === 0 && (await commitBatch(entries)) === "done") return;
    await commitSorted(entries);
  };

  /** Where clients repeat themselves: what is known is answered from memory, and the rest can still be one batch. */
  const commitSorted = async (entries: readonly Entry[]): Promise<void> => {
    const { fresh, known, repeated } = sort(entries, recent.sequenceOf);
    for (const { entry, sequence } of known) settle(entry, { kind: "duplicate", sequence });
    const isAsBefore = fresh.length === entries.length;
    commitsToLookThrough = isAsBefore
      ? Math.max(0, commitsToLookThrough - 1)
      : LOOKED_THROUGH_AFTER_DUPLICATE;
    if (fresh.length < ATOMIC_RECORDS_MIN) await commitEach(fresh);
    // An id that only the broker knows; it does not say which: sent one by one, each is answered for itself.
    else if ((await commitBatch(fresh)) === "has duplicates") await commitEach(fresh);
    // Their first ones are answered now, so these are known; where the first one failed they are tried themselves.
    if (repeated.length > 0) await commitSorted(repeated);
  };

  /** Never rejects: whatever goes wrong in here, each record gets an answer, and the next commit its turn. */
  const commitSafely = async (entries: readonly Entry[]): Promise<void> => {
    try {
      await commit(entries);
    } catch (error) {
      logger.error("a commit broke", {
        count: entries.length,
        detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      for (const entry of entries)
        settle(entry, { kind: "unknown", detail: "The event log did not acknowledge the event." });
    }
  };
  return { commit: commitSafely };
};

const IN_PROCESS_WAIT_MS = 20;

/** Who repeats one event mostly repeats others too: so many commits are looked through before they are sent, and not after they failed. */
const LOOKED_THROUGH_AFTER_DUPLICATE = 64;

/** No message id may stand twice in one batch, and one that is known needs no commit at all. */
const sort = (entries: readonly Entry[], sequenceOf: (messageId: string) => Sequence | undefined) => {
  const fresh: Entry[] = [];
  const known: { entry: Entry; sequence: Sequence }[] = [];
  const repeated: Entry[] = [];
  const ids = new Set<string>();
  for (const entry of entries) {
    const { messageId } = entry.record;
    const sequence = sequenceOf(messageId);
    if (sequence !== undefined) known.push({ entry, sequence });
    else if (ids.has(messageId)) repeated.push(entry);
    else fresh.push(entry);
    ids.add(messageId);
  }
  return { fresh, known, repeated };
};

/** R3: the id is on its way in another message, which may still fail; 2.15 says so by error, older servers by sequence 0. */
const isInProcess = (answer: Acknowledgement): boolean =>
  (answer.kind === "error" && answer.code === API_ERROR.duplicateInProcess) ||
  (answer.kind === "duplicate" && answer.sequence === 0);

const outcomeOf = (answer: Acknowledgement): Outcome => {
  switch (answer.kind) {
    case "stored":
      return { kind: "appended", sequence: answer.sequence };
    case "duplicate":
      return { kind: "duplicate", sequence: answer.sequence };
    case "error":
      return { kind: "refused", reason: "unavailable", detail: "The event log did not take the event." };
    case "none":
      return { kind: "unknown", detail: "The event log did not acknowledge the event." };
  }
};
