/**
 * An outbox in a folder, for any number of processes. `append` writes to the operating system before it returns, so what it took survives the death of
 * the process; `sync` says when it survives that of the machine. Entries are read back from the files to be sent, so that memory does not grow with
 * what waits. Files of clients that are dead are taken over by renaming them, which only one can do.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { adoptSegments } from "./adoption.ts";
import { textOf } from "./error-text.ts";
import { FileSync } from "./file-sync.ts";
import { FRAME_BYTES, writeFrame } from "./frame.ts";
import { dropLease, renewLease, takeLease } from "./lease.ts";
import { EVENT_BYTES_MAX, LEASE_RENEW_MS, SEGMENT_BYTES_MAX, SYNC_INTERVAL_MS } from "./limits.ts";
import type { Appended, Outbox, Synced, TakeLimits, Taken } from "./outbox.ts";
import { type Chosen, EVENTS_SUFFIX, Segment } from "./segment.ts";
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

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/** Throws where the folder cannot be made or written to: a mistake that is better seen at the start. */
export const createFileOutbox = (options: FileOutboxOptions): Outbox => new FileOutbox(options);

/** The segment that is written to. */
interface Live {
  readonly segment: Segment;
  readonly fd: number;
}

class FileOutbox implements Outbox {
  readonly #options: FileOutboxOptions;
  readonly #files: FileSync;
  readonly #segmentBytesMax: number;
  readonly #frame = new Uint8Array(EVENT_BYTES_MAX + FRAME_BYTES);
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #owner: string;
  #renewedMs = performance.now();
  /** Of clients that are dead; they go first, because they are older. */
  #adopted: Segment[] = [];
  #own: Segment[] = [];
  /** Undefined while none can be written to; the next entry tries again. */
  #live: Live | undefined;
  /** Written to while the other is synced: a write to a file that is being synced takes up to 100 µs, one to another file 20 (measured, 99th percentile). */
  #spare: Live | undefined;
  /** In the files of all segments. */
  #bytes = 0;
  #adopting: Promise<void>;
  #removing: Promise<unknown> = Promise.resolve();
  #isSyncPlanned = false;
  #arrived = () => {};

  constructor(options: FileOutboxOptions) {
    this.#options = options;
    this.#files = new FileSync(options.directory);
    this.#segmentBytesMax = Math.min(SEGMENT_BYTES_MAX, Math.ceil(options.bytesMax / 8));
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    this.#owner = uuid7(Date.now());
    takeLease(options.directory, this.#owner);
    this.#live = this.#openSegment();
    this.#adopting = this.#adopt();
    this.#every(LEASE_RENEW_MS, () => this.#renewQuietly());
    this.#every(options.adoptIntervalMs, () => {
      this.#adopting = this.#adopting.then(() => this.#adopt());
    });
    if (options.sync === "interval") this.#every(SYNC_INTERVAL_MS, () => void this.#syncQuietly());
  }

  get pending() {
    let [events, bytes] = [0, 0];
    for (const segment of this.#segments()) {
      events += segment.left;
      bytes += segment.leftBytes;
    }
    return { events, bytes };
  }

  mark(): () => boolean {
    const marks = this.#own.map((segment) => ({ segment, entries: segment.entries }));
    return () => marks.every(({ segment, entries }) => segment.isSettled(entries));
  }

  get nextDueMs(): number | undefined {
    const times = [...this.#segments()].flatMap(({ nextDueMs }) => nextDueMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  hasten(): void {
    for (const segment of this.#segments()) segment.hasten();
  }

  onArrival(call: () => void): void {
    this.#arrived = call;
  }

  append(entry: Uint8Array): Appended {
    const length = entry.length + FRAME_BYTES;
    try {
      // A process that was stopped, or busy, for long may have been taken for dead by another machine.
      if (performance.now() - this.#renewedMs > 3 * LEASE_RENEW_MS) this.#renew();
      this.#live ??= this.#openSegment();
      if (this.#files.isBusy(this.#live.fd))
        [this.#live, this.#spare] = [this.#spare ?? this.#openSegment(), this.#live];
      if (!this.#makeRoom(length)) return { kind: "full" };
      writeFrame(entry, this.#frame);
      this.#write(this.#live, length);
    } catch (error) {
      return { kind: "failed", reason: textOf(error) };
    }
    if (this.#options.sync === "always") this.#syncSoon();
    return { kind: "kept" };
  }

  #write({ segment, fd }: Live, length: number): void {
    let written = 0;
    try {
      while (written < length) written += writeSync(fd, this.#frame, written, length - written);
    } catch (error) {
      if (written > 0) this.#takeBack(segment, fd);
      throw error;
    }
    segment.size += length;
    segment.entries++;
    this.#bytes += length;
    this.#files.written(fd);
  }

  /** A part of a frame must not stand before the next one. */
  #takeBack({ size }: Segment, fd: number): void {
    try {
      ftruncateSync(fd, size);
    } catch {
      this.#files.finished(fd);
      this.#live = undefined;
    }
  }

  /** False where the bound is reached. */
  #makeRoom(length: number): boolean {
    const { bytesMax } = this.#options;
    const { segment } = this.#live ?? {};
    const isLarge =
      segment !== undefined && segment.size > 0 && segment.size + length > this.#segmentBytesMax;
    // What is settled takes room as long as its file is written to.
    const isOver = this.#bytes + length > bytesMax && segment?.left === 0;
    if (isOver && this.#spare?.segment.left === 0) {
      this.#files.finished(this.#spare.fd);
      this.#spare = undefined;
    }
    if (isLarge || isOver) this.#rotate();
    return this.#bytes + length <= bytesMax;
  }

  *#segments(): Generator<Segment> {
    yield* this.#adopted;
    yield* this.#own;
  }

  #openSegment(): Live {
    const id = uuid7(Date.now());
    const segment = new Segment(join(this.#options.directory, `${this.#owner}.${id}`));
    // It may have been removed under us.
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 });
    const fd = openSync(segment.path + EVENTS_SUFFIX, "ax", 0o600);
    this.#own.push(segment);
    this.#files.made();
    return { segment, fd };
  }

  #rotate(): void {
    const before = this.#live;
    this.#live = this.#openSegment();
    if (before) this.#files.finished(before.fd);
    this.#drop();
    void this.#syncQuietly();
  }

  /** Segments without anything left go, but for those that are written to. */
  #drop(): void {
    const isDone = (segment: Segment) =>
      segment.left === 0 && segment !== this.#live?.segment && segment !== this.#spare?.segment;
    for (const segment of [...this.#segments()].filter(isDone)) {
      this.#bytes -= segment.size;
      this.#removing = Promise.all([this.#removing, segment.remove()]);
    }
    this.#own = this.#own.filter((segment) => !isDone(segment));
    this.#adopted = this.#adopted.filter((segment) => !isDone(segment));
  }

  async take(limits: TakeLimits): Promise<Taken | undefined> {
    await this.#adopting;
    for (const segment of [...this.#segments()]) {
      if (segment.left === 0) continue;
      const chosen = await this.#choose(segment, limits);
      this.#drop();
      if (chosen.length === 0) continue;
      const { mayBeResent } = segment;
      segment.attempt(chosen);
      const at = (positions: readonly number[]) => positions.flatMap((position) => chosen[position] ?? []);
      return {
        entries: chosen.map(({ entry }) => entry),
        mayBeResent,
        settle: (positions) => {
          segment.settle(at(positions));
          this.#drop();
        },
        postpone: (positions, until) => segment.postpone(at(positions), until),
      };
    }
    return undefined;
  }

  async #choose(segment: Segment, limits: TakeLimits): Promise<readonly Chosen[]> {
    try {
      return await segment.choose(limits, {
        onUnreadable: this.#options.onUnreadable,
        onCut: (events) => {
          this.#options.onLost(
            events,
            `${segment.path}${EVENTS_SUFFIX} is shorter than what was written to it.`,
          );
          this.#leave(segment);
        },
      });
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#options.onLost(segment.left, `${segment.path}${EVENTS_SUFFIX} is no longer there.`);
      this.#forget(segment);
      return [];
    }
  }

  #forget(segment: Segment): void {
    this.#bytes -= segment.size;
    segment.isGone = true;
    this.#own = this.#own.filter((other) => other !== segment);
    this.#adopted = this.#adopted.filter((other) => other !== segment);
    this.#leave(segment);
  }

  /** Nothing more is written to it. */
  #leave(segment: Segment): void {
    if (this.#live?.segment === segment) {
      this.#files.finished(this.#live.fd);
      this.#live = undefined;
    }
    if (this.#spare?.segment === segment) {
      this.#files.finished(this.#spare.fd);
      this.#spare = undefined;
    }
  }

  sync(): Promise<Synced> {
    return this.#files.sync();
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
    const synced = await this.sync();
    if (synced.kind === "failed") this.#options.onFailure(`The outbox could not be synced: ${synced.reason}`);
  }

  #renew(): void {
    const { directory, onFailure } = this.#options;
    this.#renewedMs = performance.now();
    if (renewLease(directory, this.#owner)) return;
    onFailure(
      "The lease of this process is gone: another one takes it for dead and delivers what was in its outbox, or the folder was emptied.",
    );
    // What comes from now on is ours again, under a new name.
    for (const segment of [...this.#segments()]) this.#forget(segment);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const owner = uuid7(Date.now());
    takeLease(directory, owner);
    this.#owner = owner;
  }

  #renewQuietly(): void {
    try {
      this.#renew();
    } catch (error) {
      this.#options.onFailure(`The outbox cannot be written: ${textOf(error)}`);
    }
  }

  /** Takes over what the dead have left. */
  async #adopt(): Promise<void> {
    const { directory, onFailure } = this.#options;
    try {
      for await (const segment of adoptSegments({ directory, owner: this.#owner })) {
        this.#bytes += segment.size;
        this.#adopted.push(segment);
        this.#arrived();
      }
      this.#drop();
    } catch (error) {
      onFailure(`What other processes left in the outbox cannot be taken over: ${textOf(error)}`);
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
    await this.sync();
    const { directory } = this.#options;
    for (const written of [this.#live, this.#spare]) if (written) closeSync(written.fd);
    this.#live = undefined;
    this.#spare = undefined;
    for (const segment of [...this.#segments()]) if (segment.left === 0) await segment.remove();
    await this.#removing;
    dropLease(directory, this.#owner);
    return this.empty();
  }
}
