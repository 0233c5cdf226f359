/** The answer to a repeat, rebuilt from the log: there is no second memory of answers that could be lost or disagree. */

import { INTAKE_TURN_MS_MAX } from "../../limits.ts";
import { type LogReader, LogUnavailableError, type StoredMessage } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { decodeRecord, eventIdOf } from "../../log/record.ts";
import { sameContent } from "../../log/same-content.ts";
import { encodeBase64 } from "../../proof/primitives.ts";
import { leafHash } from "../../proof/rfc6962.ts";
import { createPauses } from "../../runtime/pauses.ts";

/** Of an event in the log, in the terms of the answer. */
export interface Receipt {
  /** As spelt when first stored. */
  readonly event_id: string;
  readonly sequence: Sequence;
  readonly received_at: string;
  /** Empty if no receipt was asked for. */
  readonly leaf_hash: string;
  readonly duplicate: boolean;
}

/** The result of a judged event. Conflict: the log has another event with the same identity. */
export type Settled =
  | { readonly kind: "stored"; readonly receipt: Receipt }
  | { readonly kind: "conflict"; readonly identity: "event_id" | "idempotency_key" }
  | { readonly kind: "overloaded"; readonly detail: string }
  | { readonly kind: "unavailable"; readonly detail: string };

export interface Repeat {
  readonly position: number;
  readonly sequence: Sequence;
  readonly event: { readonly identity: string; readonly text: string };
  /** Its Idempotency-Key is its identity, not its event_id. */
  readonly isKeyed: boolean;
}

const READS_AT_ONCE = 16;

/**
 * Puts the result of each repeat into `settled`. If the log does not answer for one, the others are not tried: each could wait as long.
 * Comparing two of the largest events takes 0.1 s (measured), so others run in between.
 */
export const readRepeats = async (parts: {
  readonly reader: Pick<LogReader, "read">;
  readonly tenant: string;
  readonly repeats: readonly Repeat[];
  readonly settled: Settled[];
}): Promise<void> => {
  const { reader, tenant, repeats, settled } = parts;
  const pause = createPauses(INTAKE_TURN_MS_MAX);
  for (let from = 0; from < repeats.length; from += READS_AT_ONCE) {
    const some = repeats.slice(from, from + READS_AT_ONCE);
    let messages: readonly (StoredMessage | undefined)[];
    try {
      messages = await Promise.all(some.map(({ sequence }) => reader.read(sequence)));
    } catch (error) {
      if (!(error instanceof LogUnavailableError)) throw error;
      for (const { position } of repeats.slice(from))
        settled[position] = { kind: "unavailable", detail: error.message };
      return;
    }
    for (const [index, repeat] of some.entries()) {
      const paused = pause();
      if (paused) await paused;
      settled[repeat.position] = compare(messages[index], tenant, repeat);
    }
  }
};

const compare = (message: StoredMessage | undefined, tenant: string, repeat: Repeat): Settled => {
  const { sequence, isKeyed } = repeat;
  const { identity, text } = repeat.event;
  const stored = message && decodeRecord(message.payload);
  if (!(message && stored) || stored.tenant !== tenant) return UNREADABLE;
  // If the log was replaced, any event may be at this sequence, which is no reason to refuse this one forever.
  const isOther = !isKeyed && stored.eventText !== text;
  if (isOther && eventIdOf(message.payload, tenant) !== identity) return UNREADABLE;
  if (!sameContent(stored.eventText, text))
    return { kind: "conflict", identity: isKeyed ? "idempotency_key" : "event_id" };
  const { receivedAt, eventText } = stored;
  return {
    kind: "stored",
    receipt: {
      event_id: eventIdIn(eventText),
      sequence,
      received_at: receivedAt,
      leaf_hash: encodeBase64(leafHash(message.payload)),
      duplicate: true,
    },
  };
};

const UNREADABLE: Settled = {
  kind: "unavailable",
  detail: "The event with the same identity could not be read back.",
};

/** A UUID may have been sent in another case. */
const eventIdIn = (eventText: string): string => {
  const { event_id: eventId }: { readonly event_id?: unknown } = JSON.parse(eventText);
  if (typeof eventId !== "string") throw new Error("a repeat of a valid event has an event_id");
  return eventId;
};
