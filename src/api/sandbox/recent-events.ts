/** The newest events of the stream, read from it each time: what one front end has acknowledged is in the next list of any other. */

import { PAGE_BYTES_MAX, SANDBOX_AGE_MS_MAX, SANDBOX_READS_AT_ONCE } from "../../limits.ts";
import type { LogReader } from "../../log/event-log.ts";
import { decodeRecord } from "../../log/record.ts";

export interface RecentEvent {
  readonly sequence: number;
  readonly receivedAt: string;
  readonly expiresAt: string;
  /** As it was sent. */
  readonly eventText: string;
  /** The whole message: the event, and what was added to it. */
  readonly record: Uint8Array;
}

export type RecentReader = Pick<LogReader, "read" | "lastSequence">;

export const expiryOf = (receivedAt: string): string =>
  new Date(Date.parse(receivedAt) + SANDBOX_AGE_MS_MAX).toISOString();

/**
 * Newest first, fewer than `limit` where they are large. The stream drops from its old end only, so a sequence that is missing ends the list. Throws
 * LogUnavailableError.
 */
export const recentEvents = async (reader: RecentReader, limit: number): Promise<readonly RecentEvent[]> => {
  const events: RecentEvent[] = [];
  let bytes = 0;
  let next = await reader.lastSequence();
  while (next > 0 && events.length < limit) {
    const count = Math.min(next, limit - events.length, SANDBOX_READS_AT_ONCE);
    const sequences = Array.from({ length: count }, (_, index) => next - index);
    for (const message of await Promise.all(sequences.map((sequence) => reader.read(sequence)))) {
      if (!message) return events;
      const record = decodeRecord(message.payload);
      if (!record) continue;
      const { receivedAt, eventText } = record;
      bytes += Buffer.byteLength(eventText);
      if (events.length > 0 && bytes > PAGE_BYTES_MAX) return events;
      events.push({
        sequence: message.sequence,
        receivedAt,
        expiresAt: expiryOf(receivedAt),
        eventText,
        record: message.payload,
      });
    }
    next -= count;
  }
  return events;
};
