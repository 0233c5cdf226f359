/**
 * The files that a client writes to: which one the next entry goes into, when the next file begins, and what becomes of one that nothing more is written
 * to. There are two by turns: a write to a file that is being synced takes up to 100 µs, one to another file 20 (measured, 99th percentile).
 */
import { join } from "node:path";
import { textOf } from "./error-text.ts";
import type { FileSync } from "./file-sync.ts";
import { FRAME_BYTES, writeFrame } from "./frame.ts";
import type { Lease } from "./lease.ts";
import { EVENT_BYTES_MAX, RUNS_MAX, SEGMENT_BYTES_MAX } from "./limits.ts";
import { LiveSegment, openEvents } from "./live-segment.ts";
import { Segment } from "./segment.ts";
import type { SegmentList } from "./segment-list.ts";
import { uuid7 } from "./uuid.ts";

interface Parts {
  readonly directory: string;
  /** Of all files of the outbox. */
  readonly bytesMax: number;
  readonly lease: Lease;
  readonly segments: SegmentList;
  readonly files: FileSync;
  /** Nothing more is written to it. */
  readonly onLeft: (segment: Segment) => void;
  /** Its file is gone, and what was in it cannot be kept. */
  readonly onLost: (segment: Segment, reason: string) => void;
}

export class Writing {
  readonly #parts: Parts;
  readonly #segmentBytesMax: number;
  readonly #frame = new Uint8Array(EVENT_BYTES_MAX + FRAME_BYTES);
  /** Undefined while none can be written to; the next entry tries again. */
  #live: LiveSegment | undefined;
  /** Written to while the other is synced. */
  #spare: LiveSegment | undefined;

  /** Throws where no file can be made. */
  constructor(parts: Parts) {
    this.#parts = parts;
    this.#segmentBytesMax = Math.min(SEGMENT_BYTES_MAX, Math.ceil(parts.bytesMax / 8));
    this.#live = this.#openSegment();
  }

  /** False where the bound is reached; throws where it cannot be written. It may have been sent since `sinceMs` (milliseconds since 1970). */
  append(entry: Uint8Array, sinceMs: number): boolean {
    const { segments, files } = this.#parts;
    const live = this.#liveFor(entry.length + FRAME_BYTES, sinceMs);
    if (!live) return false;
    const length = writeFrame(entry, this.#frame);
    segments.writeTo(live.segment);
    live.append(this.#frame.subarray(0, length));
    segments.wrote(length);
    files.written(live);
    return true;
  }

  /** What an entry of so many bytes is written to; undefined where the bound is reached. */
  #liveFor(length: number, sinceMs: number): LiveSegment | undefined {
    this.#takeTurns();
    if (!this.#makeRoom(length)) return undefined;
    // By the age of its file an heir knows that it may have been sent.
    if (this.#current.segment.madeMs > sinceMs) this.#rotate(sinceMs);
    return this.#current;
  }

  /** Asked for anew after each step: one that ends a file may tell of a loss, and who is told may capture an event. */
  get #current(): LiveSegment {
    this.#live ??= this.#openSegment();
    return this.#live;
  }

  #takeTurns(): void {
    const { segments, files } = this.#parts;
    const live = this.#current;
    if (files.isBusy(live) && segments.runs < RUNS_MAX)
      [this.#live, this.#spare] = [this.#spare ?? this.#openSegment(), live];
  }

  /** False where the bound is reached. */
  #makeRoom(length: number): boolean {
    const { segments, bytesMax } = this.#parts;
    const { size, left } = this.#current.segment;
    const isLarge = size > 0 && size + length > this.#segmentBytesMax;
    // What is settled takes room as long as its file is written to.
    const isOver = segments.bytes + length > bytesMax && left === 0;
    if (isOver && this.#spare?.segment.left === 0) this.leave(this.#spare.segment);
    if (isLarge || isOver) this.#rotate();
    return segments.bytes + length <= bytesMax;
  }

  /** The next file; `madeMs` is what its name says of its age. */
  #rotate(madeMs?: number): void {
    const before = this.#live;
    this.#live = this.#openSegment(madeMs);
    if (before) this.#finish(before);
    void this.#parts.files.syncQuietly();
  }

  #openSegment(madeMs = Date.now()): LiveSegment {
    const path = this.#newPath(madeMs);
    const live = this.#open(new Segment(path), path);
    this.#parts.segments.addOwn(live.segment);
    return live;
  }

  #newPath(madeMs: number): string {
    const { directory, lease } = this.#parts;
    return join(directory, `${lease.owner}.${uuid7(madeMs)}`);
  }

  #open(segment: Segment, path: string): LiveSegment {
    const fd = openEvents(path);
    this.#parts.files.made();
    return new LiveSegment(segment, fd, (left) => this.leave(left));
  }

  isWritten(segment: Segment): boolean {
    return segment === this.#live?.segment || segment === this.#spare?.segment;
  }

  /** Nothing more is written to it. */
  leave(segment: Segment): void {
    const [live, spare] = [this.#live, this.#spare];
    if (live?.segment === segment) {
      this.#live = undefined;
      this.#finish(live);
    }
    if (spare?.segment === segment) {
      this.#spare = undefined;
      this.#finish(spare);
    }
  }

  /** Of which a part of an entry could not be taken back. */
  leaveTorn(): void {
    if (this.#live?.isTorn) this.leave(this.#live.segment);
  }

  /** In which everything is settled. One that has never been written to takes no room. */
  leaveSettled(): void {
    for (const live of [this.#live, this.#spare])
      if (live && live.segment.left === 0 && live.segment.size > 0) this.leave(live.segment);
  }

  /**
   * Who took us for dead and is done with the file has removed it, and may not have read all of it: that is kept anew. Who is not done sees what is in it
   * now when it removes it, so that one of us always does.
   */
  #finish(live: LiveSegment): void {
    const { files, onLeft, onLost } = this.#parts;
    const { segment } = live;
    try {
      if (segment.left > 0 && live.isRemoved) this.keepAnew(segment, live.read());
    } catch (error) {
      onLost(segment, `Their file is gone, and no other can be made: ${textOf(error)}`);
    }
    files.finished(live);
    onLeft(segment);
  }

  /** In a file of another name, which is as old as the one before: these are the bytes that it had. */
  keepAnew(segment: Segment, bytes: Uint8Array): void {
    const { files } = this.#parts;
    const path = this.#newPath(segment.madeMs);
    const live = this.#open(segment, path);
    files.finished(live);
    live.moveTo(path, bytes);
    files.written(live);
  }
}
