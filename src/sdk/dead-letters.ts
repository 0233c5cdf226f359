/**
 * Keeps events that the service will never accept, with the reason: one JSON object per line, appended and synced. Several processes may share the
 * file.
 */
import { Buffer } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";
import { textOf } from "./error-text.ts";
import { DEAD_LETTER_BYTES_MAX } from "./limits.ts";
import type { RejectedEvent } from "./reports.ts";

const LINE_FEED = 0x0a;

export type Kept =
  | { readonly kind: "kept" }
  | { readonly kind: "full" }
  | { readonly kind: "failed"; readonly reason: string };

export const DEAD_LETTERS_FULL = "The file of dead letters is full: move it away.";

export interface DeadLetters {
  keep(rejected: readonly RejectedEvent[]): Promise<Kept>;
}

export const createDeadLetterFile = (path: string): DeadLetters => ({
  keep: async (rejected) => {
    try {
      const file = await open(path, "a+", 0o600);
      try {
        const { size } = await file.stat();
        const begin = (await endsInLine(file, size)) ? "\n" : "";
        const lines = Buffer.from(begin + rejected.map((letter) => `${lineOf(letter)}\n`).join(""));
        if (size + lines.length > DEAD_LETTER_BYTES_MAX) return { kind: "full" };
        // Written with one system call: `appendFile` splits long data into several, and another process may write between them.
        for (let at = 0; at < lines.length; ) at += (await file.write(lines, at)).bytesWritten;
        await file.datasync();
      } finally {
        await file.close();
      }
      return { kind: "kept" };
    } catch (error) {
      return { kind: "failed", reason: textOf(error) };
    }
  },
});

/** If a full disk or a power failure cut off the last line, only that line is lost. */
const endsInLine = async (file: FileHandle, size: number): Promise<boolean> => {
  if (size === 0) return false;
  const { bytesRead, buffer } = await file.read(new Uint8Array(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] !== LINE_FEED;
};

/** For clients without a folder: their rejected events are only reported to the callback. */
export const noDeadLetters: DeadLetters = { keep: async () => ({ kind: "kept" }) };

/** The event's own text comes last, byte for byte; bytes that are no JSON are written as a JSON string. */
const lineOf = ({ rejection, text }: RejectedEvent): string => {
  const head = JSON.stringify({ rejected_at: new Date().toISOString(), ...rejection });
  return `${head.slice(0, -1)},"event":${isJson(text) ? text : JSON.stringify(text)}}`;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
