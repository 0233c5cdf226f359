/** The answer to a duplicate, rebuilt from the log: there is no second memory of answers that could be lost or disagree. */
import { eventIdOf } from "../../log/event-id-of.ts";
import { type LogReader, LogUnavailableError, type StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord } from "../../log/record.ts";
import { sameContent } from "../../log/same-content.ts";
import { receiptOfPayload } from "./receipt.ts";

export type Replay =
  /** What was sent now is what was stored then. */
  | { readonly kind: "same"; readonly first: FirstAnswer }
  | { readonly kind: "different" }
  /** `isLogAway`: the log does not answer, so no other record could be read now either. */
  | { readonly kind: "unavailable"; readonly detail: string; readonly isLogAway: boolean };

/** What was answered the first time. The event_id is spelt as it was then: a UUID may have been sent in other case. */
interface FirstAnswer {
  readonly eventId: string;
  readonly receivedAt: string;
  readonly leafHash: string;
}

/** What was sent now. */
interface SentAgain {
  readonly tenant: string;
  /** Its identity, in canonical form (event/formats.ts); undefined if an Idempotency-Key is its identity. */
  readonly eventId: string | undefined;
  readonly eventText: string;
}

export const replayDuplicate = async (
  reader: LogReader,
  sequence: Sequence,
  sent: SentAgain,
  /** Runs the comparison once, when it is its turn: comparing two of the largest events takes 0.1 s (measured). */
  inTurn: (compare: () => Replay) => Replay | Promise<Replay> = (compare) => compare(),
): Promise<Replay> => {
  try {
    const message = await reader.read(sequence);
    return await inTurn(() => replayOf(message, sent));
  } catch (error) {
    if (error instanceof LogUnavailableError)
      return { kind: "unavailable", detail: error.message, isLogAway: true };
    throw error;
  }
};

const replayOf = (message: StoredMessage | undefined, sent: SentAgain): Replay => {
  const { tenant, eventId, eventText } = sent;
  const record = message && decodeRecord(message.payload);
  if (!(message && record) || record.tenant !== tenant) return UNREADABLE;
  // If the log was replaced by another one, any event may be at this sequence. That is no reason to refuse this event forever.
  const isOther = eventId !== undefined && record.eventText !== eventText;
  if (isOther && eventIdOf(message.payload, tenant) !== eventId) return UNREADABLE;
  if (!sameContent(record.eventText, eventText)) return { kind: "different" };
  const { receivedAt } = record;
  const leafHash = receiptOfPayload(message.payload);
  return { kind: "same", first: { eventId: eventIdIn(record.eventText), receivedAt, leafHash } };
};

const UNREADABLE: Replay = {
  kind: "unavailable",
  detail: "The event with the same identity could not be read back.",
  isLogAway: false,
};

const eventIdIn = (eventText: string): string => {
  const { event_id: eventId }: { readonly event_id?: unknown } = JSON.parse(eventText);
  if (typeof eventId !== "string") throw new Error("what is the same as a valid event has an event_id");
  return eventId;
};
