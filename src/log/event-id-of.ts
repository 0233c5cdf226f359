import { eventFacts } from "../event/facts.ts";
import { readEvent } from "../event/read-event.ts";
import { decodeRecord } from "./record.ts";

/** The id of the event whose record a message contains, as the views name it; undefined if it is not a record of an event of the tenant. */
export const eventIdOf = (payload: Uint8Array, tenant: string): string | undefined => {
  const record = decodeRecord(payload);
  if (record?.tenant !== tenant) return undefined;
  try {
    return eventFacts(readEvent(record.eventText))?.eventId;
  } catch {
    return undefined;
  }
};
