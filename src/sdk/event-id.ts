import { isJsonObject } from "./json-object.ts";

/** The `event_id` in the text of an event; undefined if it cannot be read. */
export const eventIdIn = (text: string): string | undefined => {
  try {
    const event: unknown = JSON.parse(text);
    return isJsonObject(event) && typeof event.event_id === "string" ? event.event_id : undefined;
  } catch {
    return undefined;
  }
};
