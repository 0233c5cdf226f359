/**
 * The group-committing appender. Records that arrive while a commit is on its way form the next one, so that one fsync acknowledges them
 * all; an idle system commits at once. A commit is an atomic batch (NATS ADR-50) or, below ATOMIC_RECORDS_MIN records, single
 * messages, which are cheaper then. What it holds is bounded: past the bound it says no at once.
 */
import {
  APPEND_ACK_MS_MAX,
  APPEND_BYTES_IN_FLIGHT_MAX,
  APPEND_RECORDS_IN_FLIGHT_MAX,
  ATOMIC_RECORDS_MIN,
  COMMIT_BYTES_MAX,
  COMMIT_RECORDS_MAX,
  COMMITS_IN_FLIGHT_MAX,
} from "../limits.ts";
import type { OutgoingRecord, RecordAppender } from "../log/event-log.ts";
import type { Outcome } from "../log/outcome.ts";
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

/** A record on its way, and where its outcome goes. */
interface Entry {
  readonly record: OutgoingRecord;
  readonly settle: (outcome: Outcome) => void;
}

export const createAppender = (dependencies: AppenderDependencies): RecordAppender => {
  const { connection, onOutcomes, onCommit } = dependencies;
  const committer = createCommitter(dependencies);
  const queue = createQueue();
  let recordsHeld = 0;
  let bytesHeld = 0;
  let commitsInFlight = 0;

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

  const hold = (records: number, bytes: number): void => {
    recordsHeld += records;
    bytesHeld += bytes;
  };

  const append = (records: readonly OutgoingRecord[]): Promise<readonly Outcome[]> => {
    let bytes = 0;
    for (const record of records) bytes += record.payloadBytes;
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
    hold(records.length, bytes);
    const { promise, resolve } = Promise.withResolvers<readonly Outcome[]>();
    const outcomes: Outcome[] = new Array(records.length);
    let open = records.length;
    for (let index = 0; index < records.length; index++) {
      const record = records[index];
      if (!record) continue;
      const settle = (outcome: Outcome): void => {
        if (outcomes[index]) return;
        outcomes[index] = outcome;
        if (--open > 0) return;
        hold(-records.length, -bytes);
        onOutcomes(outcomes);
        resolve(outcomes);
      };
      queue.add({ record, settle });
    }
    pump();
    return promise;
  };

  return { append };
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
  if (!connection.isConnected())
    return { kind: "refused", reason: "unavailable", detail: "The event log is not connected." };
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
        bytes += entries[end]?.record.payloadBytes ?? 0;
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

const createCommitter = ({ connection, logger, elapsedMs }: AppenderDependencies) => {
  const send = createByteSender(connection.nats);
  const inbox = openAckInbox(connection.nats);
  const recent = createRecentIds(elapsedMs);
  let nextBatch = 0;
  const batchPrefix = crypto.randomUUID().slice(0, 8);
  connection.onChange((state) => {
    if (state === "lost") inbox.abandon("the connection was lost");
  });

  const ask = (encode: (reply: string) => Uint8Array): Promise<Acknowledgement> => {
    const { reply, answer } = inbox.expect(APPEND_ACK_MS_MAX);
    send(encode(reply));
    return answer;
  };

  const settle = (entry: Entry, outcome: Outcome): void => {
    if (outcome.kind === "appended" || outcome.kind === "duplicate")
      recent.remember(entry.record.messageId, outcome.sequence);
    entry.settle(outcome);
  };

  const commitSingle = async (entry: Entry): Promise<void> => {
    const deadline = elapsedMs() + APPEND_ACK_MS_MAX;
    for (;;) {
      const answer = await ask((reply) => encodeSingle(entry.record, reply));
      if (!isInProcess(answer)) return settle(entry, outcomeOf(answer));
      if (elapsedMs() > deadline) {
        return settle(entry, {
          kind: "unknown",
          detail: "The same event is still being stored by another request.",
        });
      }
      await new Promise((resolve) => setTimeout(resolve, IN_PROCESS_WAIT_MS));
    }
  };

  const commitBatch = async (entries: readonly Entry[]): Promise<void> => {
    const batchId = `${batchPrefix}-${(nextBatch++).toString(36)}`;
    const records = entries.map(({ record }) => record);
    const answer = await ask((reply) => encodeBatch(records, batchId, reply));
    if (answer.kind === "stored") {
      const first = answer.sequence - entries.length + 1;
      for (const [index, entry] of entries.entries())
        settle(entry, { kind: "appended", sequence: first + index });
      return;
    }
    // One id in it is known to the broker, which does not say which: sent one by one, each is answered for itself.
    if (answer.kind === "error" && isDuplicateInBatch(answer.code)) {
      await Promise.all(entries.map(commitSingle));
      return;
    }
    logger.warn("a commit failed", {
      count: entries.length,
      detail: answer.kind === "duplicate" ? "duplicate" : answer.detail,
    });
    const outcome = outcomeOf(answer);
    for (const entry of entries) entry.settle(outcome);
  };

  const commit = async (entries: readonly Entry[]): Promise<void> => {
    if (!connection.isConnected()) {
      for (const entry of entries)
        entry.settle({ kind: "refused", reason: "unavailable", detail: "The event log is not connected." });
      return;
    }
    recent.turn();
    const { fresh, known, repeated } = sort(entries, recent.sequenceOf);
    for (const { entry, sequence } of known) entry.settle({ kind: "duplicate", sequence });
    if (fresh.length === 0) return;
    if (fresh.length < ATOMIC_RECORDS_MIN) await Promise.all(fresh.map(commitSingle));
    else await commitBatch(fresh);
    // Their first ones are answered now, so these are known; where the first one failed they are tried themselves.
    if (repeated.length > 0) await commit(repeated);
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
        entry.settle({ kind: "unknown", detail: "The event log did not acknowledge the event." });
    }
  };
  return { commit: commitSafely };
};

const IN_PROCESS_WAIT_MS = 20;

/** No message id may stand twice in one batch, and one that is known needs no commit at all. */
const sort = (entries: readonly Entry[], sequenceOf: (messageId: string) => number | undefined) => {
  const fresh: Entry[] = [];
  const known: { entry: Entry; sequence: number }[] = [];
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
