/**
 * Writes whole lines, in order, to a file descriptor. What cannot be written is dropped: a program must not end or hang because nobody
 * reads its output or the disk is full. Pino's own destination retries forever and blocks the process (sonic-boom 4.2.1).
 */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

const WRITE_CHARACTERS = 8 * 1024;
const FULL_PIPE_MS = 10;
const LINE_FEED = 0x0a;

export const createLineWriter = (
  fd: number,
  options: {
    /** What may wait for a reader that takes nothing. Newer lines are dropped until all of it is written. */
    readonly waitingMax: number;
    /** Called when lines can be written again. */
    readonly onDropped: (count: number) => void;
    readonly write?: (fd: number, bytes: Uint8Array) => number;
  },
) => {
  const { waitingMax, onDropped, write = writeSync } = options;
  let lines = "";
  let unwritten = Buffer.alloc(0);
  let dropped = 0;
  /** The last write ended inside a line. */
  let isTorn = false;
  const writeSome = (): boolean => {
    try {
      const count = write(fd, unwritten);
      isTorn = unwritten[count - 1] !== LINE_FEED;
      unwritten = unwritten.subarray(count);
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return false;
      // The rest is lost. The next line does not begin inside the torn one.
      if (isTorn) lines = "\n";
      isTorn = false;
      unwritten = Buffer.alloc(0);
      return true;
    }
  };
  /** Writes as much as the output takes without waiting. False if something is left: call it again. */
  const flush = (): boolean => {
    unwritten = Buffer.concat([unwritten, Buffer.from(lines)]);
    lines = "";
    while (unwritten.length > 0) if (!writeSome()) return false;
    if (dropped === 0) return true;
    const count = dropped;
    dropped = 0;
    onDropped(count);
    return flush();
  };
  return {
    /** Kept until the next flush, or until there is enough for one write. */
    write: (line: string): void => {
      const waiting = unwritten.length + lines.length;
      if (dropped > 0 || (waiting > 0 && waiting + line.length > waitingMax)) dropped++;
      else lines += line;
      if (lines.length >= WRITE_CHARACTERS && unwritten.length === 0) flush();
    },
    flush,
    /** For the end of the process: waits for a slow reader, at most this long. */
    finish: (msMax: number): void => {
      const end = performance.now() + msMax;
      const pause = new Int32Array(new SharedArrayBuffer(4));
      while (!flush() && performance.now() < end) Atomics.wait(pause, 0, 0, FULL_PIPE_MS);
    },
  };
};

/**
 * The same output, opened so that a pipe whose reader has stopped, or a terminal after Ctrl-S, does not block the process (measured). A flag on standard
 * output itself would apply to every process that shares it. Sockets cannot be opened: Bun makes them non-blocking (measured on 1.4.5), Deno does not.
 */
export const withoutWaiting = (fd: number): number => {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
};
