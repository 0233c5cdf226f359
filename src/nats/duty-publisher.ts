/** Publishes transitions of obligations on the stream OBLIGATIONS, many in one commit like events: one by one, each would cost a sync. */
import { ATOMIC_RECORDS_MIN, COMMIT_RECORDS_MAX } from "../limits.ts";
import { type OutgoingRecord, payloadText } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { isDuplicateInBatch } from "./api-errors.ts";
import { appendSingle, openAppendExchange } from "./append-exchange.ts";
import { answered, type BrokerConnection } from "./connection.ts";

interface DutyMessage {
  readonly tenant: string;
  readonly subject: string;
  readonly messageId: string;
  /** The text of a JSON object. */
  readonly payload: string;
}

export const createDutyPublisher = (connection: BrokerConnection, elapsedMs: () => number) => {
  const exchange = openAppendExchange(connection, elapsedMs);

  const publishEach = async (entries: readonly Entry[]): Promise<void> => {
    for (const { record } of entries) {
      const asked = appendSingle(exchange, record, elapsedMs);
      exchange.flush();
      const outcome = await asked;
      if (outcome.kind === "refused" || outcome.kind === "unknown") throw new Error(outcome.detail);
    }
  };
  const publishAll = async (entries: readonly Entry[]): Promise<void> => {
    // Messages that are sent without a connection are dropped.
    if (!connection.isConnected()) throw new Error("the broker is not connected");
    if (entries.length < ATOMIC_RECORDS_MIN) return publishEach(entries);
    const answer = await exchange.batch(entries);
    if (answer.kind === "stored") return;
    // An atomic batch with a known id is refused whole (NATS ADR-50): it was published and not deleted from the outbox.
    if (answer.kind === "error" && isDuplicateInBatch(answer.code)) return publishEach(entries);
    throw new Error(answer.kind === "duplicate" ? answer.kind : answer.detail);
  };
  return {
    /** Stores messages in their order; one that is stored already is left out. Rejects if the broker does not confirm all of them. */
    publish: async (messages: readonly DutyMessage[]): Promise<void> => {
      const entries = messages.map((message) => ({ record: recordOf(message) }));
      for (let from = 0; from < entries.length; from += COMMIT_RECORDS_MAX)
        await publishAll(entries.slice(from, from + COMMIT_RECORDS_MAX));
    },
    /** Sequence of the newest message that ever existed, even if it has expired; 0 for none. Throws LogUnavailableError. */
    lastPublished: (): Promise<Sequence> =>
      answered(connection, "The stream of obligations could not be read", async () => {
        const manager = await connection.nats.jetstreamManager({ checkAPI: false });
        return (await manager.streams.info("OBLIGATIONS")).state.last_seq;
      }),
    stall: exchange.stall,
  };
};

interface Entry {
  readonly record: OutgoingRecord;
}

const recordOf = ({ payload, ...message }: DutyMessage): OutgoingRecord => ({
  ...message,
  ...payloadText(payload),
});
