/** Records out, acknowledgements in. Knows nothing of what they mean: that is the appender's. */
import type { Buffer } from "node:buffer";
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { type Acknowledgement, openAckInbox } from "./ack-inbox.ts";
import { isDuplicateInBatch, isWrongLastSequence } from "./api-errors.ts";
import { createByteSender, encodeBatch, encodeSingle } from "./append-wire.ts";
import type { BrokerConnection } from "./connection.ts";
import { createStallClock, type StallReport } from "./stall-clock.ts";

/** Answers come in at most APPEND_ACK_MS_MAX, or are `none` at once where the connection is lost. Never rejects. */
export interface AppendExchange extends StallReport {
  /** Goes out at the end of the turn, or with `flush`. `after`: refused where the last sequence of the stream is another. */
  single(record: OutgoingRecord, after?: Sequence): Promise<Acknowledgement>;
  flush(): void;
  /** An atomic batch: `stored` with the sequence of its last record. */
  batch(entries: readonly { readonly record: OutgoingRecord }[], after?: Sequence): Promise<Acknowledgement>;
  /** Something was sent that is not answered yet. */
  isAwaited(): boolean;
}

export const openAppendExchange = (connection: BrokerConnection, elapsedMs: () => number): AppendExchange => {
  const wire = createByteSender(connection.nats);
  const inbox = openAckInbox(connection.nats);
  const batchPrefix = crypto.randomUUID().slice(0, 8);
  /** Of batches that were answered. Fresh memory for each cost more than filling it (measured). */
  const spareBuffers: Buffer[] = [];
  let nextBatch = 0;
  const clock = createStallClock(elapsedMs);
  connection.onChange((state) => {
    if (state === "lost") inbox.abandon("the connection was lost");
    clock.cleared();
  });
  const note = (answer: Acknowledgement): Acknowledgement => {
    if (answer.kind === "stored") clock.cleared();
    // These are refused by a log that stores, and by one that does not.
    else if (answer.kind !== "duplicate" && !(answer.kind === "error" && isNoFault(answer.code)))
      clock.failed();
    return answer;
  };
  return {
    stall: clock.stall,
    isAwaited: inbox.isWaiting,
    flush: wire.flush,
    single: async (record, after) => {
      const { reply, answer } = inbox.expect(APPEND_ACK_MS_MAX);
      wire.send(encodeSingle(record, reply, after));
      return note(await answer);
    },
    batch: async (entries, after) => {
      const batchId = `${batchPrefix}-${(nextBatch++).toString(36)}`;
      const { reply, answer } = inbox.expect(APPEND_ACK_MS_MAX);
      const bytes = encodeBatch(entries, { batchId, reply, spare: spareBuffers.pop(), after });
      wire.send(bytes);
      wire.flush();
      const acknowledgement = note(await answer);
      // The broker has read it all when it answers, so nobody looks at these bytes any more. Without an answer somebody may.
      if (acknowledgement.kind !== "none") spareBuffers.push(bytes);
      return acknowledgement;
    },
  };
};

const isNoFault = (code: number): boolean => isDuplicateInBatch(code) || isWrongLastSequence(code);
