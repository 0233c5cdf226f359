/**
 * Transitions of duties, on the stream OBLIGATIONS. They go as events do, many in one commit: one by one each would have a sync of its own. Each says what it was
 * built on: a publisher that was paused must not put what it knew behind what another one has told since.
 */
import { obligationSubject } from "../../streams/subjects.ts";
import { ATOMIC_RECORDS_MIN, COMMIT_RECORDS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { RECORD_END } from "../log/record.ts";
import type { Acknowledgement } from "./ack-inbox.ts";
import { answered } from "./answered.ts";
import { isDuplicateInBatch, isWrongLastSequence } from "./api-errors.ts";
import { openAppendExchange } from "./append-exchange.ts";
import { askSingle } from "./append-single.ts";
import type { BrokerConnection } from "./connection.ts";
import type { StallReport } from "./stall-clock.ts";

export interface DutyMessage {
  readonly tenant: string;
  readonly assetId: string;
  readonly deadline: string;
  readonly transition: string;
  readonly messageId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface DutyPublisher extends StallReport {
  /**
   * Stores messages in their order, behind `after` and what it stores itself. `overtaken`: another one has stored something since, and those that are not stored yet
   * are not. Rejects where the broker did not say that all of them are stored, now or before, and where it refuses them again though nothing newer has come.
   */
  publish(messages: readonly DutyMessage[], after: Sequence): Promise<"stored" | "overtaken">;
  /** Of the newest message there ever was, also where it is too old to be kept; 0 where none was. Throws LogUnavailableError. */
  lastPublished(): Promise<Sequence>;
}

export const createDutyPublisher = (connection: BrokerConnection, elapsedMs: () => number): DutyPublisher => {
  const exchange = openAppendExchange(connection, elapsedMs);

  const each = async (entries: readonly Entry[], after: Sequence): Promise<Sequence | "overtaken"> => {
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
    // What is sent while there is no connection is dropped.
    if (!connection.isConnected()) throw new Error("the broker is not connected");
    if (entries.length < ATOMIC_RECORDS_MIN) return each(entries, after);
    const answer = await exchange.batch(entries, after);
    if (answer.kind === "stored") return answer.sequence;
    if (isOvertaken(answer)) return "overtaken";
    // Some of them were stored by one who did not record it.
    if (answer.kind === "error" && isDuplicateInBatch(answer.code)) return each(entries, after);
    throw new Error(answer.kind === "duplicate" ? answer.kind : answer.detail);
  };
  const lastPublished: DutyPublisher["lastPublished"] = () =>
    answered(connection, "The stream of duties could not be read", async () => {
      const manager = await connection.nats.jetstreamManager({ checkAPI: false });
      return (await manager.streams.info("OBLIGATIONS")).state.last_seq;
    });
  /** Behind this nothing newer was there when something was refused. */
  let refusedBehind: Sequence | undefined;
  const publish: DutyPublisher["publish"] = async (messages, after) => {
    let last = after;
    for (let from = 0; from < messages.length; from += COMMIT_RECORDS_MAX) {
      const entries = messages
        .slice(from, from + COMMIT_RECORDS_MAX)
        .map((each) => ({ record: recordOf(each) }));
      const committed = await commit(entries, last);
      if (committed === "overtaken") {
        // Who is overtaken says nothing and rests: a broker that refuses everything would never be noticed.
        const newest = await lastPublished();
        if (newest > last) return committed;
        if (refusedBehind === last)
          throw new Error(
            `what follows ${last} was refused twice, and the stream holds nothing newer than ${newest}`,
          );
        // What three brokers are storing just now is counted, and not shown yet (measured: three in five of those who are overtaken meet that).
        refusedBehind = last;
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

/** The appender ends what it sends with the brace that ends a record, which is that of the payload here. */
const recordOf = ({ messageId, payload, ...duty }: DutyMessage): OutgoingRecord => {
  const source = encoder.encode(JSON.stringify(payload));
  return {
    subject: obligationSubject(duty),
    messageId,
    start: "",
    event: { source, from: 0, to: source.length - RECORD_END.length },
  };
};
