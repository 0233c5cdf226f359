/**
 * An outbox in a folder, for any number of processes. `append` writes to the operating system before it returns, so what it took survives the death of
 * the process; `sync` says when it survives that of the machine. Entries are read back from the files to be sent, so that memory does not grow with
 * what waits. Files of clients that are dead are taken over by renaming them, which only one can do.
 */
import { join } from "node:path";
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { adoptSegments } from "./adoption.ts";
import { textOf } from "./error-text.ts";
import { FileSync } from "./file-sync.ts";
import { FRAME_BYTES, writeFrame } from "./frame.ts";
import { isGone, isMissing } from "./is-missing.ts";
import { LEASE_GONE, Lease } from "./lease.ts";
import { EVENT_BYTES_MAX, LEASE_RENEW_MS, RUNS_MAX, SEGMENT_BYTES_MAX, SYNC_INTERVAL_MS } from "./limits.ts";
import { LiveSegment, openEvents } from "./live-segment.ts";
import type { Appended, Outbox, Synced, TakeLimits, Taken } from "./outbox.ts";
import { type Chosen, EVENTS_SUFFIX, Segment } from "./segment.ts";
import { type Part, SegmentList } from "./segment-list.ts";
import { Gathering } from "./taken.ts";
import { uuid7 } from "./uuid.ts";

/**
 * When what was captured is synced to the disk: right after each event (events that come meanwhile share the next sync), once a second, or when the
 * operating system likes. In each case an event survives the death of the process as soon as `capture()` has returned.
 */
export type SyncPolicy = "always" | "interval" | "never";

export interface FileOutboxOptions {
  readonly directory: string;
  readonly bytesMax: number;
  readonly sync: SyncPolicy;
  /** How often what the dead have left is looked for. */
  readonly adoptIntervalMs: number;
  /** Bytes of an entry that were not what had been written. */
  readonly onUnreadable: (bytes: Uint8Array) => void;
  /** Entries whose file is gone, through no doing of ours. */
  readonly onLost: (events: number, reason: string) => void;
  /** Something went wrong that nobody waits for. */
  readonly onFailure: (reason: string) => void;
}

/** Throws where the folder cannot be made or written to: a mistake that is better seen at the start. */
export const createFileOutbox = (options: FileOutboxOptions): Outbox => new FileOutbox(options);

class FileOutbox implements Outbox {
  readonly #options: FileOutboxOptions;
  readonly #files: FileSync;
  readonly #segmentBytesMax: number;
  readonly #frame = new Uint8Array(EVENT_BYTES_MAX + FRAME_BYTES);
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  readonly #lease: Lease;
  readonly #segments = new SegmentList();
  /** Undefined while none can be written to; the next entry tries again. */
  #live: LiveSegment | undefined;
  /** Written to while the other is synced: a write to a file that is being synced takes up to 100 µs, one to another file 20 (measured, 99th percentile). */
  #spare: LiveSegment | undefined;
  /** In the files of all segments. */
  #bytes = 0;
  #adopting: Promise<void>;
  #removing: Promise<unknown> = Promise.resolve();
  #isSyncPlanned = false;
  #isClosed = false;
  #arrived = () => {};

  constructor(options: FileOutboxOptions) {
    this.#options = options;
    this.#files = new FileSync(options.directory);
    this.#segmentBytesMax = Math.min(SEGMENT_BYTES_MAX, Math.ceil(options.bytesMax / 8));
    this.#lease = new Lease(options.directory);
    try {
      this.#live = this.#openSegment();
    } catch (error) {
      this.#lease.drop();
      throw error;
    }
    this.#adopting = this.#adopt();
    this.#every(LEASE_RENEW_MS, () => this.#renewQuietly());
    this.#every(options.adoptIntervalMs, () => {
      this.#adopting = this.#adopting.then(() => this.#adopt());
    });
    if (options.sync === "interval") this.#every(SYNC_INTERVAL_MS, () => void this.#syncQuietly());
  }

  get pending() {
    return this.#segments.pending;
  }

  mark(): () => boolean {
    return this.#segments.mark();
  }

  get nextDueMs(): number | undefined {
    return this.#segments.nextDueMs;
  }

  hasten(): void {
    this.#segments.hasten();
  }

  onArrival(call: () => void): void {
    this.#arrived = call;
  }

  append(entry: Uint8Array, sinceMs = Number.POSITIVE_INFINITY): Appended {
    const length = entry.length + FRAME_BYTES;
    let bytes = entry;
    try {
      if (this.#lease.isLate) {
        // Who is told that it is gone may capture an event, which is made where this one was.
        bytes = entry.slice();
        this.#renew();
      }
      this.#live ??= this.#openSegment();
      if (this.#files.isBusy(this.#live) && this.#segments.runs < RUNS_MAX)
        [this.#live, this.#spare] = [this.#spare ?? this.#openSegment(), this.#live];
      if (!this.#makeRoom(length)) return { kind: "full" };
      if (this.#live.segment.madeMs > sinceMs) this.#rotate(sinceMs);
      writeFrame(bytes, this.#frame);
      this.#segments.writeTo(this.#live.segment);
      this.#live.append(this.#frame.subarray(0, length));
      this.#bytes += length;
      this.#files.written(this.#live);
    } catch (error) {
      if (this.#live?.isTorn) this.#leave(this.#live.segment);
      void this.release();
      return { kind: "failed", reason: textOf(error) };
    }
    if (this.#options.sync === "always") this.#syncSoon();
    return { kind: "kept" };
  }

  /** False where the bound is reached. */
  #makeRoom(length: number): boolean {
    const { bytesMax } = this.#options;
    const { segment } = this.#live ?? {};
    const isLarge =
      segment !== undefined && segment.size > 0 && segment.size + length > this.#segmentBytesMax;
    // What is settled takes room as long as its file is written to.
    const isOver = this.#bytes + length > bytesMax && segment?.left === 0;
    if (isOver && this.#spare?.segment.left === 0) this.#leave(this.#spare.segment);
    if (isLarge || isOver) this.#rotate();
    return this.#bytes + length <= bytesMax;
  }

  #openSegment(madeMs = Date.now()): LiveSegment {
    const path = this.#newPath(madeMs);
    const live = this.#open(new Segment(path), path);
    this.#segments.addOwn(live.segment);
    return live;
  }

  #newPath(madeMs: number): string {
    return join(this.#options.directory, `${this.#lease.owner}.${uuid7(madeMs)}`);
  }

  #open(segment: Segment, path: string): LiveSegment {
    const fd = openEvents(path);
    this.#files.made();
    return new LiveSegment(segment, fd, (left) => this.#leave(left));
  }

  #rotate(madeMs?: number): void {
    const before = this.#live;
    this.#live = this.#openSegment(madeMs);
    if (before) this.#finish(before);
    void this.#syncQuietly();
  }

  /** A segment without anything left goes, but for those that are written to. */
  #dropIfDone(segment: Segment): void {
    const isLive = segment === this.#live?.segment || segment === this.#spare?.segment;
    if (isLive || segment.left > 0 || !this.#segments.has(segment)) return;
    this.#bytes -= segment.size;
    this.#removing = Promise.all([this.#removing, this.#remove(segment)]);
    this.#segments.delete(segment);
  }

  async #remove(segment: Segment): Promise<void> {
    const isTheirs = this.#segments.isAdopted(segment);
    try {
      const removed = await segment.remove();
      if (!removed || !isTheirs) return;
      this.#keepAnew(segment, removed);
      this.#bytes += segment.size;
      this.#segments.addAdopted(segment);
      this.#arrived();
    } catch (error) {
      this.#options.onFailure(`What is still written to ${segment.path} cannot be kept: ${textOf(error)}`);
    }
  }

  async take(limits: TakeLimits): Promise<Taken | undefined> {
    await this.#adopting;
    const failures: unknown[] = [];
    const gathering = new Gathering(limits);
    for (const part of this.#segments.parts()) {
      const { segment } = part;
      if (!gathering.suits(segment)) break;
      const chosen = await this.#choose(part, gathering.room).catch((error: unknown) => {
        failures.push(error);
        return [];
      });
      this.#dropIfDone(segment);
      if (!gathering.add(segment, chosen)) break;
    }
    const taken = gathering.taken((segment) => this.#dropIfDone(segment));
    if (!taken && failures.length > 0) throw failures[0];
    return taken;
  }

  async #choose(part: Part, limits: TakeLimits): Promise<readonly Chosen[]> {
    const { segment, range } = part;
    // It may be kept anew while it is looked for, by an event that comes meanwhile or by the next renewal.
    const { path } = segment;
    const onCut = (events: number): void => {
      this.#options.onLost(events, `${segment.path}${EVENTS_SUFFIX} is shorter than what was written to it.`);
      this.#leave(segment);
    };
    try {
      return await segment.choose(limits, { onUnreadable: this.#options.onUnreadable, onCut }, range);
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#renew();
      this.#leave(segment);
      if (segment.isGone) return [];
      if (segment.path !== path) return this.#choose(part, limits);
      this.#lose(segment, `${segment.path}${EVENTS_SUFFIX} is no longer there.`);
      return [];
    }
  }

  #lose(segment: Segment, reason: string): void {
    this.#options.onLost(segment.left, reason);
    segment.isLost = true;
    this.#forget(segment);
  }

  #forget(segment: Segment): void {
    if (segment.isGone || !this.#segments.has(segment)) return;
    this.#bytes -= segment.size;
    segment.isGone = true;
    this.#segments.delete(segment);
  }

  async release(): Promise<void> {
    // One that has never been written to takes none.
    for (const live of [this.#live, this.#spare])
      if (live && live.segment.left === 0 && live.segment.size > 0) this.#leave(live.segment);
    await this.#removing;
    // It takes room as long as it is open.
    await this.#syncQuietly();
  }

  /** Nothing more is written to it. */
  #leave(segment: Segment): void {
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

  /**
   * Nothing more is written to it. Who took us for dead and is done with the file has removed it, and may not have read all of it: that is kept anew.
   * Who is not done sees what is in it now when it removes it (`#remove`), so that one of us always does.
   */
  #finish(live: LiveSegment): void {
    const { segment } = live;
    try {
      if (segment.left > 0 && live.isRemoved) this.#keepAnew(segment, live.read());
    } catch (error) {
      this.#lose(segment, `Their file is gone, and no other can be made: ${textOf(error)}`);
    }
    this.#files.finished(live);
    this.#dropIfDone(segment);
  }

  #keepAnew(segment: Segment, bytes: Uint8Array): void {
    const path = this.#newPath(segment.madeMs);
    const live = this.#open(segment, path);
    this.#files.finished(live);
    live.moveTo(path, bytes);
    this.#files.written(live);
  }

  async sync(): Promise<Synced> {
    // The kernel syncs also what is in no folder any more. After `close` others may have it.
    const missing = this.#isClosed ? undefined : this.#findMissing();
    const synced = await this.#files.sync();
    if (synced.kind === "failed") return synced;
    if (missing !== undefined) return { kind: "failed", reason: missing };
    const { events, reason } = this.#segments.unsynced;
    if (events === 0) return synced;
    return {
      kind: "failed",
      reason: `A file could not be synced (${reason}): ${events} events may not be on the disk until they are delivered.`,
    };
  }

  /** Keeps anew what is still open and has been removed, and names what is not. */
  #findMissing(): string | undefined {
    if (!this.#renewQuietly()) return LEASE_GONE;
    for (const segment of this.#segments.own) {
      const { path } = segment;
      if (segment.left === 0 || !isGone(path + EVENTS_SUFFIX)) continue;
      this.#leave(segment);
      if (segment.path === path) return `${path}${EVENTS_SUFFIX} is no longer there.`;
    }
    return undefined;
  }

  /** After this turn of the loop: what a program captures in one go shares a sync, and does not pay for the call. */
  #syncSoon(): void {
    if (this.#isSyncPlanned) return;
    this.#isSyncPlanned = true;
    setImmediate(() => {
      this.#isSyncPlanned = false;
      void this.#syncQuietly();
    });
  }

  async #syncQuietly(): Promise<void> {
    if (!this.#files.isDue) return;
    const synced = await this.#files.sync();
    if (synced.kind === "failed") this.#options.onFailure(`The outbox could not be synced: ${synced.reason}`);
  }

  /** False where the lease was gone. */
  #renew(): boolean {
    if (this.#lease.renew()) return true;
    this.#options.onFailure(LEASE_GONE);
    // What comes from now on has the new name, and so has what nobody else has.
    for (const segment of this.#segments) {
      const { path } = segment;
      this.#leave(segment);
      if (segment.path === path) this.#forget(segment);
    }
    return false;
  }

  #renewQuietly(): boolean {
    try {
      return this.#renew();
    } catch (error) {
      this.#options.onFailure(`The outbox cannot be written: ${textOf(error)}`);
      return false;
    }
  }

  /** Takes over what the dead have left. */
  async #adopt(): Promise<void> {
    const { directory, onFailure: tell } = this.#options;
    const onFailure = (error: unknown): void =>
      tell(`What other processes left in the outbox cannot be taken over: ${textOf(error)}`);
    try {
      for await (const segment of adoptSegments({ directory, lease: this.#lease, onFailure })) {
        // Named for a lease that we have lost meanwhile, it is anybody's, and found again at the next look.
        if (!segment.path.startsWith(join(directory, this.#lease.owner))) continue;
        this.#bytes += segment.size;
        this.#segments.addAdopted(segment);
        this.#dropIfDone(segment);
        this.#arrived();
      }
    } catch (error) {
      onFailure(error);
    }
  }

  #every(intervalMs: number, action: () => void): void {
    const timer = setInterval(action, intervalMs);
    // An outbox is no reason for a program to go on.
    timer.unref();
    this.#timers.push(timer);
  }

  empty(): readonly Uint8Array[] {
    return [];
  }

  async close(): Promise<readonly Uint8Array[]> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#adopting;
    for (const segment of this.#segments) this.#leave(segment);
    await this.#removing;
    await this.#syncQuietly();
    this.#isClosed = true;
    this.#lease.drop();
    return this.empty();
  }
}
