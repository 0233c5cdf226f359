/**
 * Lines to a file descriptor, whole and in their order. What cannot be written is dropped: a program must not end, or stand still, because
 * nobody reads what it says or the disk of its output is full. Pino's own destination tries for ever, which nothing survives (sonic-boom 4.2.1).
 */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

export interface LineWriter {
  /** Kept until the next flush, or until `bytesMax` are kept. */
  write(line: string): void;
  /** Hands over what the output takes at once. False where something waits: to be called again. */
  flush(): boolean;
  /** At the end of the process: waits for a reader that is slow. */
  finish(msMax: number): void;
}

type WriteSync = (fd: number, bytes: Uint8Array) => number;

export const createLineWriter = (
  fd: number,
  options: {
    readonly bytesMax: number;
    /** What may wait for a reader that takes nothing; newer lines are dropped. */
    readonly waitingBytesMax: number;
    /** The line that stands where so many found no place. */
    readonly inPlaceOf: (dropped: number) => string;
    readonly write?: WriteSync;
  },
): LineWriter => {
  const { bytesMax, waitingBytesMax, inPlaceOf, write = writeSync } = options;
  let kept = "";
  let waiting: Buffer[] = [];
  let dropped = 0;
  /** What was written last is the beginning of a line. */
  let isTorn = false;
  const writeNoted: WriteSync = (to, bytes) => {
    const count = write(to, bytes);
    if (count > 0) isTorn = bytes[count - 1] !== LINE_FEED;
    return count;
  };
  /** Behind what waits, and where lines were dropped before these, behind the line that says so. The rest of a line that was torn is lost, and it ends there. */
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

/** What is left. The rest of a line that was begun stays in front, so that no line is torn. */
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
 * The same output, written without waiting where that can be had. A pipe whose reader has stopped, or a terminal that was told to (Ctrl-S), keeps
 * whoever writes inside the kernel: no request was answered any more, and no signal either (measured). It is opened anew, because the flag on
 * standard output itself would be that of every process that shares it. Sockets cannot be opened so, nor is there such a path but on Linux;
 * a socket does not wait on Bun, which sets the flag on it where process.stdout is asked for (measured on 1.4.5), and does on Deno.
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
