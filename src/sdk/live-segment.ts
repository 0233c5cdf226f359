/** A segment that is being written to, through an open file. */
import { fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { OpenFile } from "./file-sync.ts";
import { EVENTS_SUFFIX, type Segment } from "./segment.ts";

/** Creates the file of a segment; `path` has no suffix. */
export const openEvents = (path: string): number => {
  // The folder may have been removed meanwhile.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path + EVENTS_SUFFIX, "ax+", 0o600);
};

export class LiveSegment implements OpenFile {
  readonly segment: Segment;
  readonly fd: number;
  /** The file ends with part of a frame that cannot be removed: nothing may be written behind it. */
  isTorn = false;
  readonly #leave: (segment: Segment) => void;

  /** `leave` ends writing to the segment. */
  constructor(segment: Segment, fd: number, leave: (segment: Segment) => void) {
    this.segment = segment;
    this.fd = fd;
    this.#leave = leave;
  }

  get path(): string {
    return this.segment.path + EVENTS_SUFFIX;
  }

  get isSettled(): boolean {
    return this.segment.left === 0;
  }

  onUnsynced(reason: string): void {
    this.segment.unsynced = reason;
    // New entries go to another file, so that they are not lost with this one.
    this.#leave(this.segment);
  }

  /** Writes one entry. Throws if not all of it can be written. */
  append(frame: Uint8Array): void {
    const { segment, fd } = this;
    let written = 0;
    try {
      while (written < frame.length) written += writeSync(fd, frame, written, frame.length - written);
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    segment.size += frame.length;
    segment.entries++;
  }

  /** Asks the file for its size: when a write throws, Deno does not say how much it wrote before (2.9.6). */
  #takeBack(): void {
    const { fd, segment } = this;
    try {
      if (fstatSync(fd).size > segment.size) ftruncateSync(fd, segment.size);
    } catch {
      this.isTorn = true;
    }
  }

  /** Moves the segment to another file with these bytes; see `Segment.moved`. */
  moveTo(path: string, bytes: Uint8Array): void {
    writeFileSync(this.fd, bytes);
    this.segment.moved(path, bytes);
  }

  /** Whether the file is in no folder any more. */
  get isRemoved(): boolean {
    return fstatSync(this.fd).nlink === 0;
  }

  /** Everything in the file, even if it was removed. */
  read(): Uint8Array {
    const bytes = new Uint8Array(this.segment.size);
    let filled = 0;
    for (let read = -1; read !== 0 && filled < bytes.length; ) {
      read = readSync(this.fd, bytes, filled, bytes.length - filled, filled);
      filled += read;
    }
    return bytes.subarray(0, filled);
  }
}
