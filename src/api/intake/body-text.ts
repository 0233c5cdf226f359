/** Bytes → text, with the bytes kept: events are stored as copies of the bytes and not encoded again. */
import type { EventBytes } from "../../log/event-log.ts";
import type { JsonSlice } from "./json/slice.ts";

/** A body as text to read and as bytes to keep. */
export interface BodyText {
  readonly text: string;
  readonly bytes: Uint8Array;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** RFC 8259 §8.1: UTF-8; a byte order mark is ignored. Undefined if it is not UTF-8. */
export const readBodyText = (bytes: Uint8Array): BodyText | undefined => {
  try {
    return { text: decoder.decode(bytes), bytes };
  } catch {
    return undefined;
  }
};

/** If there are as many characters as bytes, the body is ASCII: positions in the text are positions in the bytes. */
export const bytesOf = (body: BodyText, { text, start }: JsonSlice): EventBytes => {
  if (body.text.length === body.bytes.length)
    return { source: body.bytes, from: start, to: start + text.length };
  const source = encoder.encode(text);
  return { source, from: 0, to: source.length };
};
