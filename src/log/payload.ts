import { Buffer } from "node:buffer";
import { type LogRecord, recordStart } from "./record.ts";

/** A payload as text in three pieces, of which the first and the last are ASCII. Its bytes are made once, in the buffer of the commit. */
export interface PayloadText {
  readonly start: string;
  readonly text: string;
  readonly end: string;
  readonly bytes: number;
}

export const payloadText = (text: string): PayloadText => ({
  start: "",
  text,
  end: "",
  bytes: Buffer.byteLength(text),
});

/** A record: `start` is recordStart, which all records of a request share. */
export const recordPayload = (envelope: Omit<LogRecord, "eventText">, text: string): PayloadText => {
  const start = recordStart(envelope);
  return { start, text, end: RECORD_END, bytes: recordBytes(start, text) };
};

export const RECORD_END = "}";

export const recordBytes = (start: string, text: string): number =>
  start.length + Buffer.byteLength(text) + RECORD_END.length;

export const wholeText = ({ start, text, end }: PayloadText): string => start + text + end;
