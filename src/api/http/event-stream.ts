/** Server-Sent Events by the HTML standard (§9.2): pure text, in and out. */
import { STREAM_RETRY_MS } from "../../limits.ts";
import type { StoredEvent } from "../../views/events/queries.ts";
import { storedEventText } from "./stored-event.ts";

/** Clients remember an id without data and show nothing: one that is cut off before its first event misses none. */
export const streamOpening = (sequence: number): string => `retry: ${STREAM_RETRY_MS}\nid: ${sequence}\n\n`;

export const streamKeepAlive = (sequence: number): string => `: keep-alive\nid: ${sequence}\n\n`;

/** A line break ends a field, so an event with raw line breaks takes several. Clients join them again with a line feed. */
export const streamMessage = (stored: StoredEvent): string => {
  const lines = storedEventText(stored).split(LINE_BREAK);
  return `id: ${stored.sequence}\nevent: audit\n${lines.map((line) => `data: ${line}\n`).join("")}\n`;
};

const LINE_BREAK = /\r\n|\r|\n/;

/** The sequence that a client has seen; undefined if the text is no sequence. */
export const readSequence = (text: string): number | undefined => {
  const sequence = WHOLE_NUMBER.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(sequence) ? sequence : undefined;
};

/** As it is written in one way only: without a sign, an exponent, or zeros in front. */
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,15})$/;
