import { eventFacts, type JsonObject } from "../event/facts.ts";
import { decodeRecord } from "./record.ts";

/** Of which event a message's payload is the record, as the views name it; undefined where it is of no event of the tenant. */
export const eventIdOf = (payload: Uint8Array, tenant: string): string | undefined => {
  const record = decodeRecord(payload);
  if (record?.tenant !== tenant) return undefined;
  try {
    const event: JsonObject = Object(JSON.parse(record.eventText));
    return eventFacts(event)?.eventId;
  } catch {
    return undefined;
  }
};
