/** Inserts missing members at the beginning of an event; the rest of its text stays as it is. */
import { asRecord, parseJson } from "../json.ts";

export const fillEvent = (
  text: string,
  make: { readonly eventId: () => string; readonly timestamp: () => string },
): string => {
  const event = asRecord(parseJson(text));
  if (!event) return text;
  const missing = {
    ...(event.event_id === undefined && { event_id: make.eventId() }),
    ...(event.timestamp === undefined && { timestamp: make.timestamp() }),
  };
  if (Object.keys(missing).length === 0) return text;
  const rest = text.slice(text.indexOf("{") + 1);
  const isEmpty = Object.keys(event).length === 0;
  return `${JSON.stringify(missing).slice(0, -1)}${isEmpty ? "" : ","}${rest}`;
};
