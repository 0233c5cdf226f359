/** The answer to a duplicate, rebuilt from the log: there is no other memory of earlier answers that could be lost or disagree. */
import { type LogReader, LogUnavailableError, type StoredMessage } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { decodeRecord } from "../log/record.ts";
import { sameContent } from "../log/same-content.ts";
import { receiptOfPayload } from "./receipt.ts";

export type Replay =
  /** What was sent now is what was stored then. */
  | { readonly kind: "same"; readonly first: FirstAnswer }
  | { readonly kind: "different" }
  /** `isLogAway`: no other one could be read now either. */
  | { readonly kind: "unavailable"; readonly detail: string; readonly isLogAway: boolean };

/** What was answered then. The event_id is as it was written then: a UUID may have come in letters of another case. */
export interface FirstAnswer {
  readonly eventId: string;
  readonly receivedAt: string;
  readonly leafHash: string;
}

export const replayDuplicate = async (
  reader: LogReader,
  sequence: Sequence,
  eventText: string,
  /** Calls what it is given once, when it is its turn: to hold two of the largest events against each other takes 0.1 s (measured). */
  inTurn: (compare: () => Replay) => Replay | Promise<Replay> = (compare) => compare(),
): Promise<Replay> => {
  try {
    const message = await reader.read(sequence);
    return await inTurn(() => replayOf(message, eventText));
  } catch (error) {
    if (error instanceof LogUnavailableError)
      return { kind: "unavailable", detail: error.message, isLogAway: true };
    throw error;
  }
};

const replayOf = (message: StoredMessage | undefined, eventText: string): Replay => {
  const record = message && decodeRecord(message.payload);
  if (!(message && record))
    return {
      kind: "unavailable",
      detail: "The event with the same identity could not be read back.",
      isLogAway: false,
    };
  if (!sameContent(record.eventText, eventText)) return { kind: "different" };
  const { receivedAt } = record;
  const leafHash = receiptOfPayload(message.payload);
  return { kind: "same", first: { eventId: eventIdIn(record.eventText), receivedAt, leafHash } };
};

const eventIdIn = (eventText: string): string => {
  const { event_id: eventId }: { readonly event_id?: unknown } = JSON.parse(eventText);
  if (typeof eventId !== "string") throw new Error("what is the same as a valid event has an event_id");
  return eventId;
};
