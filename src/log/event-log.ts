import type { Outcome, Sequence } from "./outcome.ts";
import type { PayloadText } from "./record.ts";

export interface OutgoingRecord extends PayloadText {
  readonly tenant: string;
  readonly subject: string;
  /** See message-id.ts. The broker stores one message per id within the duplicate window. */
  readonly messageId: string;
}

export interface StoredMessage {
  readonly sequence: Sequence;
  readonly subject: string;
  readonly payload: Uint8Array;
}

/** Appends records. Returns one outcome per record, in the same order, after the broker has fsynced what it reports. Never throws. */
export interface RecordAppender {
  append(records: readonly OutgoingRecord[]): Promise<readonly Outcome[]>;
}

/** Reads the log. Throws LogUnavailableError if the broker does not answer. */
export interface LogReader {
  read(sequence: Sequence): Promise<StoredMessage | undefined>;
  /** Sequence of the newest message; 0 for an empty log. */
  lastSequence(): Promise<Sequence>;
  /**
   * Messages from `from` on, in order and without a gap, in groups of at most `messagesMax`; waits for new ones. Ends when `signal` is aborted.
   * Throws LogUnavailableError when the connection is lost; call it again from your position.
   */
  follow(options: {
    readonly from: Sequence;
    readonly messagesMax: number;
    /** Size of a group; default: one commit of the projections. */
    readonly bytesMax?: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<readonly StoredMessage[]>;
}

/** The broker did not answer, or answered that it cannot. The outcome is unknown. */
export class LogUnavailableError extends Error {
  override readonly name = "LogUnavailableError";
}
