/** Sends records and receives acknowledgements. What they mean is decided by the appender. */
import type { Buffer } from "node:buffer";
import { APPEND_ACK_MS_MAX } from "../limits.ts";
import type { OutgoingRecord } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { type Acknowledgement, openAckInbox } from "./ack-inbox.ts";
import { isDuplicateInBatch, isWrongLastSequence } from "./api-errors.ts";
import { createByteSender, encodeBatch, encodeSingle } from "./append-wire.ts";
import type { BrokerConnection } from "./connection.ts";
import { createStallClock, type StallReport } from "./stall-clock.ts";

/** Every call is answered within APPEND_ACK_MS_MAX, or with `none` as soon as the connection is lost. Never rejects. */
export interface AppendExchange extends StallReport {
  /** Sent at the end of the turn, or with `flush`. `after`: refused unless this is the last sequence of the stream. */
  single(record: OutgoingRecord, after?: Sequence): Promise<Acknowledgement>;
  flush(): void;
  /** An atomic batch: `stored` with the sequence of its last record. */
  batch(entries: readonly { readonly record: OutgoingRecord }[], after?: Sequence): Promise<Acknowledgement>;
  /** Whether something that was sent has no answer yet. */
  isAwaited(): boolean;
}

export const openAppendExchange = (connection: BrokerConnection, elapsedMs: () => number): AppendExchange => {
  const wire = createByteSender(connection.nats);
  const inbox = openAckInbox(connection.nats);
  const batchPrefix = crypto.randomUUID().slice(0, 8);
  /** Buffers of answered batches. New memory for each batch cost more than filling it (measured). */
  const spareBuffers: Buffer[] = [];
  let nextBatch = 0;
  const clock = createStallClock(elapsedMs);
  connection.onChange((state) => {
    if (state === "lost") inbox.abandon("the connection was lost");
    clock.cleared();
  });
  const note = (answer: Acknowledgement): Acknowledgement => {
    if (answer.kind === "stored") clock.cleared();
    // Duplicates and wrong revisions are refused whether the log can store or not.
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
      // An answer means that the broker has read all bytes, so the buffer is free. Without an answer it may still be read.
      if (acknowledgement.kind !== "none") spareBuffers.push(bytes);
      return acknowledgement;
    },
  };
};

const isNoFault = (code: number): boolean => isDuplicateInBatch(code) || isWrongLastSequence(code);
