/**
 * Writes whole lines, in order, to a file descriptor. What cannot be written is dropped: a program must not end or hang because nobody
 * reads its output or the disk is full. Pino's own destination retries forever and blocks the process (sonic-boom 4.2.1).
 */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

export interface LineWriter {
  /** Kept until the next flush, or until `bytesMax` are kept. */
  write(line: string): void;
  /** Writes as much as the output takes without waiting. False if something is left: call it again. */
  flush(): boolean;
  /** For the end of the process: waits for a slow reader, at most this long. */
  finish(msMax: number): void;
}

type WriteSync = (fd: number, bytes: Uint8Array) => number;

export const createLineWriter = (
  fd: number,
  options: {
    readonly bytesMax: number;
    /** Bytes that may wait for a reader that takes nothing. Newer lines are dropped. */
    readonly waitingBytesMax: number;
    /** The line that is written in the place of this many dropped lines. */
    readonly inPlaceOf: (dropped: number) => string;
    readonly write?: WriteSync;
  },
): LineWriter => {
  const { bytesMax, waitingBytesMax, inPlaceOf, write = writeSync } = options;
  let kept = "";
  let waiting: Buffer[] = [];
  let dropped = 0;
  /** The last write ended inside a line. */
  let isTorn = false;
  const writeNoted: WriteSync = (to, bytes) => {
    const count = write(to, bytes);
    if (count > 0) isTorn = bytes[count - 1] !== LINE_FEED;
    return count;
  };
  /** Appends lines to the waiting ones, after the line that reports dropped ones. A torn line is ended first; its rest is lost. */
  const queue = (lines: string): void => {
    const end = isTorn && waiting.length === 0 ? "\n" : "";
    const bytes = Buffer.from(end + (dropped > 0 ? inPlaceOf(dropped) : "") + lines);
    const waitingBytes = waiting.reduce((sum, { length }) => sum + length, 0);
    if (waiting.length > 0 && waitingBytes + bytes.length > waitingBytesMax) {
      dropped += lines.split("\n").length - 1;
      return;
    }
    dropped = 0;
    waiting.push(bytes);
  };
  const flush = (): boolean => {
    if (kept !== "") queue(kept);
    kept = "";
    waiting = writeAll(writeNoted, fd, waiting);
    if (waiting.length === 0 && dropped > 0) {
      queue("");
      waiting = writeAll(writeNoted, fd, waiting);
    }
    return waiting.length === 0;
  };
  return {
    write: (line) => {
      kept += line;
      if (kept.length >= bytesMax) flush();
    },
    flush,
    finish: (msMax) => {
      const end = performance.now() + msMax;
      while (!flush() && performance.now() < end) Atomics.wait(PAUSE, 0, 0, FULL_PIPE_MS);
    },
  };
};

/** Returns what is left. The rest of a begun line stays in front, so that no line is torn. */
const writeAll = (write: WriteSync, fd: number, chunks: readonly Buffer[]): Buffer[] => {
  for (const [index, chunk] of chunks.entries()) {
    let bytes = chunk;
    while (bytes.length > 0) {
      const outcome = writeSome(write, fd, bytes);
      if (outcome === "never") return [];
      if (outcome === "full") return [bytes, ...chunks.slice(index + 1)];
      bytes = bytes.subarray(outcome);
    }
  }
  return [];
};

const writeSome = (write: WriteSync, fd: number, bytes: Uint8Array): number | "full" | "never" => {
  try {
    return write(fd, bytes);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EAGAIN" ? "full" : "never";
  }
};

/**
 * The same output, opened so that writing does not wait, where that is possible. A pipe whose reader has stopped, or a terminal after
 * Ctrl-S, blocks the writer inside the kernel: no request and no signal was handled any more (measured). The output is opened again,
 * because a flag on standard output itself would apply to every process that shares it. Sockets cannot be opened this way, and the path
 * exists on Linux only. Bun makes a socket non-blocking when process.stdout is used (measured on 1.4.5); Deno does not.
 */
export const withoutWaiting = (fd: number): number => {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
};

const LINE_FEED = 0x0a;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const FULL_PIPE_MS = 10;
