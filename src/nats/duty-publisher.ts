/**
 * Publishes transitions of duties on the stream OBLIGATIONS, many in one commit like events: one by one each would cost a sync. Each commit
 * states the newest message that it builds on, so that a publisher that was paused cannot put old knowledge after newer messages of
 * another.
 */
import { obligationSubject } from "../../streams/subjects.ts";
import { ATOMIC_RECORDS_MIN, COMMIT_RECORDS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { RECORD_END } from "../log/record.ts";
import { isDuplicateInBatch, isWrongLastSequence } from "./api-errors.ts";
import { type Acknowledgement, askSingle, openAppendExchange } from "./append-exchange.ts";
import { answered, type BrokerConnection } from "./connection.ts";
import type { StallReport } from "./stall-clock.ts";

export interface DutyMessage {
  readonly tenant: string;
  readonly assetId: string;
  readonly rule: string;
  readonly transition: string;
  readonly messageId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

interface DutyPublisher extends StallReport {
  /**
   * Stores messages in their order, after the sequence `after`. `overtaken`: another publisher has stored something since; what is not
   * stored yet is not stored. Rejects if the broker does not confirm all messages, or refuses them twice although nothing newer has come.
   */
  publish(messages: readonly DutyMessage[], after: Sequence): Promise<"stored" | "overtaken">;
  /** Sequence of the newest message that ever existed, even if it has expired; 0 for none. Throws LogUnavailableError. */
  lastPublished(): Promise<Sequence>;
}

export const createDutyPublisher = (connection: BrokerConnection, elapsedMs: () => number): DutyPublisher => {
  const exchange = openAppendExchange(connection, elapsedMs);

  const publishEach = async (entries: readonly Entry[], after: Sequence): Promise<Sequence | "overtaken"> => {
    let last = after;
    for (const { record } of entries) {
      const asked = askSingle(exchange, record, elapsedMs, last);
      exchange.flush();
      const answer = await asked;
      if (answer === "in process") throw new Error("the same message is still being stored");
      if (answer.kind === "stored") last = answer.sequence;
      else if (isOvertaken(answer)) return "overtaken";
      else if (answer.kind !== "duplicate") throw new Error(answer.detail);
    }
    return last;
  };
  const commit = async (entries: readonly Entry[], after: Sequence): Promise<Sequence | "overtaken"> => {
    // Messages that are sent without a connection are dropped.
    if (!connection.isConnected()) throw new Error("the broker is not connected");
    if (entries.length < ATOMIC_RECORDS_MIN) return publishEach(entries, after);
    const answer = await exchange.batch(entries, after);
    if (answer.kind === "stored") return answer.sequence;
    if (isOvertaken(answer)) return "overtaken";
    // Another publisher has stored some of them without recording it.
    if (answer.kind === "error" && isDuplicateInBatch(answer.code)) return publishEach(entries, after);
    throw new Error(answer.kind === "duplicate" ? answer.kind : answer.detail);
  };
  const lastPublished: DutyPublisher["lastPublished"] = () =>
    answered(connection, "The stream of obligations could not be read", async () => {
      const manager = await connection.nats.jetstreamManager({ checkAPI: false });
      return (await manager.streams.info("OBLIGATIONS")).state.last_seq;
    });
  /** The sequence after which a commit was refused although nothing newer was visible. */
  let refusedBehind: Sequence | undefined;
  /** An overtaken publisher rests silently. Throws for a broker that refuses everything, which must not look like that. */
  const expectNewerThan = async (last: Sequence): Promise<void> => {
    const newest = await lastPublished();
    if (newest > last) return;
    if (refusedBehind === last)
      throw new Error(
        `what follows ${last} was refused twice, and the stream holds nothing newer than ${newest}`,
      );
    // With three brokers a message that is being stored already counts, and is not visible yet (measured: that is so for three in five
    // overtaken publishers).
    refusedBehind = last;
  };
  const publish: DutyPublisher["publish"] = async (messages, after) => {
    let last = after;
    for (let from = 0; from < messages.length; from += COMMIT_RECORDS_MAX) {
      const entries = messages
        .slice(from, from + COMMIT_RECORDS_MAX)
        .map((message) => ({ record: recordOf(message) }));
      const committed = await commit(entries, last);
      if (committed === "overtaken") {
        await expectNewerThan(last);
        return committed;
      }
      last = committed;
    }
    return "stored";
  };
  return { publish, lastPublished, stall: exchange.stall };
};

interface Entry {
  readonly record: OutgoingRecord;
}

const isOvertaken = (answer: Acknowledgement): boolean =>
  answer.kind === "error" && isWrongLastSequence(answer.code);

const encoder = new TextEncoder();

/** append-wire.ts ends each message with the brace that ends a record. Here that is the last brace of the payload. */
const recordOf = ({ messageId, payload, ...duty }: DutyMessage): OutgoingRecord => {
  const source = encoder.encode(JSON.stringify(payload));
  return {
    subject: obligationSubject(duty),
    messageId,
    start: "",
    event: { source, from: 0, to: source.length - RECORD_END.length },
  };
};
