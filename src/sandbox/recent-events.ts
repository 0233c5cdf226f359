/** The newest events of the stream, read from it each time: what one front end has acknowledged is in the next list of any other. */

import { SANDBOX_AGE_MS_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";

export interface RecentEvent {
  readonly sequence: number;
  readonly receivedAt: string;
  readonly expiresAt: string;
  /** As it was sent. */
  readonly eventText: string;
}

export const expiryOf = (receivedAt: string): string =>
  new Date(Date.parse(receivedAt) + SANDBOX_AGE_MS_MAX).toISOString();

/** Newest first. The stream drops from its old end only, so a sequence that is missing ends the list. Throws LogUnavailableError. */
export const recentEvents = async (
  reader: Pick<LogReader, "read" | "lastSequence">,
  limit: number,
): Promise<readonly RecentEvent[]> => {
  const last = await reader.lastSequence();
  const sequences = Array.from({ length: Math.min(limit, last) }, (_, index) => last - index);
  const messages = await Promise.all(sequences.map((sequence) => reader.read(sequence)));
  return messages.flatMap((message): RecentEvent[] => {
    const record = message && decodeRecord(message.payload);
    if (!message || !record) return [];
    const { receivedAt, eventText } = record;
    return [{ sequence: message.sequence, receivedAt, expiresAt: expiryOf(receivedAt), eventText }];
  });
};
