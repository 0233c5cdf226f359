/** A segment that is written to, through a file that is open. */
import { fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { OpenFile } from "./file-sync.ts";
import { EVENTS_SUFFIX, type Segment } from "./segment.ts";

/** Makes the file of a segment; `path` has no suffix. */
export const openEvents = (path: string): number => {
  // The folder may have been removed under us.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path + EVENTS_SUFFIX, "ax+", 0o600);
};

export class LiveSegment implements OpenFile {
  readonly segment: Segment;
  readonly fd: number;
  /** A part of a frame stands at its end and cannot be taken back: nothing may stand behind it. */
  isTorn = false;
  readonly #leave: (segment: Segment) => void;

  /** `leave` ends that it is written to. */
  constructor(segment: Segment, fd: number, leave: (segment: Segment) => void) {
    this.segment = segment;
    this.fd = fd;
    this.#leave = leave;
  }

  get path(): string {
    return this.segment.path + EVENTS_SUFFIX;
  }

  onUnsynced(reason: string): void {
    this.segment.unsynced = reason;
    // What comes from now on is not to share its fate.
    this.#leave(this.segment);
  }

  /** One entry. Throws where not all of it can be written. */
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

  /** The file is asked: of a call that throws Deno does not say what it wrote before (2.9.6). */
  #takeBack(): void {
    const { fd, segment } = this;
    try {
      if (fstatSync(fd).size > segment.size) ftruncateSync(fd, segment.size);
    } catch {
      this.isTorn = true;
    }
  }

  /** Another file takes its place, with these bytes; see `Segment.moved`. */
  moveTo(path: string, bytes: Uint8Array): void {
    writeFileSync(this.fd, bytes);
    this.segment.moved(path, bytes);
  }

  /** It is in no folder any more. */
  get isRemoved(): boolean {
    return fstatSync(this.fd).nlink === 0;
  }

  /** All of it that is still there, also where it is removed. */
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
