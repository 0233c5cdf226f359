import { eventFacts } from "../event/facts.ts";
import { readEvent } from "../event/read-event.ts";
import { decodeRecord } from "./record.ts";

/** Of which event a message's payload is the record, as the views name it; undefined where it is of no event of the tenant. */
export const eventIdOf = (payload: Uint8Array, tenant: string): string | undefined => {
  const record = decodeRecord(payload);
  if (record?.tenant !== tenant) return undefined;
  try {
    return eventFacts(readEvent(record.eventText))?.eventId;
  } catch {
    return undefined;
  }
};
