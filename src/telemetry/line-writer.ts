/**
 * Lines to a file descriptor, each attempt at once and whole. What cannot be written is dropped: a program must not end, or stand still, because
 * nobody reads what it says or the disk of its output is full. Pino's own destination tries for ever, which nothing survives (sonic-boom 4.2.1).
 */
import { writeSync } from "node:fs";

export interface LineWriter {
  /** Kept until the next flush, or until `bytesMax` are kept. */
  write(line: string): void;
  flush(): void;
}

type WriteSync = (fd: number, bytes: Uint8Array) => number;

export const createLineWriter = (
  fd: number,
  options: { readonly bytesMax: number; readonly write?: WriteSync },
): LineWriter => {
  const { bytesMax, write = writeSync } = options;
  let kept = "";
  const flush = (): void => {
    let bytes = Buffer.from(kept);
    kept = "";
    while (bytes.length > 0) {
      const written = writeSome(write, fd, bytes);
      if (written === undefined) return;
      bytes = bytes.subarray(written);
    }
  };
  return {
    write: (line) => {
      kept += line;
      if (kept.length >= bytesMax) flush();
    },
    flush,
  };
};

/** Undefined where it never will. */
const writeSome = (write: WriteSync, fd: number, bytes: Uint8Array): number | undefined => {
  try {
    return write(fd, bytes);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return undefined;
    // A pipe that others made non-blocking is full: its reader is slow, and lines have an order.
    Atomics.wait(PAUSE, 0, 0, FULL_PIPE_MS);
    return 0;
  }
};

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const FULL_PIPE_MS = 10;
