/**
 * The files that a client writes to: which file the next entry goes into, when the next file begins, and what happens to a file that is complete. Two
 * files are used alternately: a write to a file that is being synced takes up to 100 µs, to another file 20 (measured, 99th percentile).
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
  /** Limit for all files of the outbox, in bytes. */
  readonly bytesMax: number;
  readonly lease: Lease;
  readonly segments: SegmentList;
  readonly files: FileSync;
  /** Called when nothing more is written to the segment. */
  readonly onLeft: (segment: Segment) => void;
  /** Called when the segment's file is gone and its entries cannot be kept. */
  readonly onLost: (segment: Segment, reason: string) => void;
}

export class Writing {
  readonly #parts: Parts;
  readonly #segmentBytesMax: number;
  readonly #frame = new Uint8Array(EVENT_BYTES_MAX + FRAME_BYTES);
  /** Undefined while no file can be written to; the next entry tries again. */
  #live: LiveSegment | undefined;
  /** The file to write to while the other one is synced. */
  #spare: LiveSegment | undefined;

  /** Throws if no file can be created. */
  constructor(parts: Parts) {
    this.#parts = parts;
    this.#segmentBytesMax = Math.min(SEGMENT_BYTES_MAX, Math.ceil(parts.bytesMax / 8));
    this.#live = this.#openSegment();
  }

  /** False if the limit is reached; throws if the entry cannot be written. The entry may have been sent since `sinceMs` (milliseconds since 1970). */
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

  /** The segment for an entry of this many bytes; undefined if the limit is reached. */
  #liveFor(length: number, sinceMs: number): LiveSegment | undefined {
    this.#takeTurns();
    if (!this.#makeRoom(length)) return undefined;
    // The age of the file tells an heir that the entry may have been sent.
    if (this.#current.segment.madeMs > sinceMs) this.#rotate(sinceMs);
    return this.#current;
  }

  /** Read again after each step: a step that ends a file may report a loss, and the callback may capture an event. */
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

  /** False if the limit is reached. */
  #makeRoom(length: number): boolean {
    const { segments, bytesMax } = this.#parts;
    const { size, left } = this.#current.segment;
    const isLarge = size > 0 && size + length > this.#segmentBytesMax;
    // Settled entries take space as long as their file is written to.
    const isOver = segments.bytes + length > bytesMax && left === 0;
    if (isOver && this.#spare?.segment.left === 0) this.leave(this.#spare.segment);
    if (isLarge || isOver) this.#rotate();
    return segments.bytes + length <= bytesMax;
  }

  /** Starts the next file; `madeMs` is the age that its name shows. */
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

  /** Ends writing to the segment. */
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

  /** Ends writing to a file that ends with part of an entry that could not be removed. */
  leaveTorn(): void {
    if (this.#live?.isTorn) this.leave(this.#live.segment);
  }

  /** Ends writing to files in which everything is settled. A file that was never written to takes no space. */
  leaveSettled(): void {
    for (const live of [this.#live, this.#spare])
      if (live && live.segment.left === 0 && live.segment.size > 0) this.leave(live.segment);
  }

  /**
   * A client that took this one for dead and is done with the file has removed it, perhaps without having read all of it: then the entries are
   * written to a new file. A client that is not done yet sees the current content when it removes the file. So one of the two always keeps the
   * entries.
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

  /** Writes the bytes of a removed file to a new one, whose name shows the same age. */
  keepAnew(segment: Segment, bytes: Uint8Array): void {
    const { files } = this.#parts;
    const path = this.#newPath(segment.madeMs);
    const live = this.#open(segment, path);
    files.finished(live);
    live.moveTo(path, bytes);
    files.written(live);
  }
}
