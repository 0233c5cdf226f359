/**
 * An outbox in a folder, which any number of processes may share. `append` hands the entry to the operating system before it returns, so an accepted
 * entry survives the death of the process; `sync` reports when it also survives a crash of the machine. Entries are read back from the files to be
 * sent, so waiting entries take no memory. Files of dead clients are taken over by renaming them, which only one client can do (`adoption.ts`).
 * `writing.ts` writes the client's own files.
 */
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { adoptSegments } from "./adoption.ts";
import { textOf } from "./error-text.ts";
import { eventCount } from "./event-count.ts";
import { FileSync } from "./file-sync.ts";
import { isGone, isMissing } from "./is-missing.ts";
import { LEASE_GONE, Lease } from "./lease.ts";
import { LEASE_RENEW_MS, SYNC_INTERVAL_MS } from "./limits.ts";
import type { Appended, Outbox, Synced, TakeLimits, Taken } from "./outbox.ts";
import { type Chosen, EVENTS_SUFFIX, type Segment } from "./segment.ts";
import { type Part, SegmentList } from "./segment-list.ts";
import { Gathering } from "./taken.ts";
import { Waiting } from "./waiting.ts";
import { Writing } from "./writing.ts";

/**
 * When captured events are synced to the disk: right after each event (events that come meanwhile share the next sync), once a second, or when the
 * operating system decides. In each case an event survives the death of the process as soon as `capture()` has returned.
 */
export type SyncPolicy = "always" | "interval" | "never";

export interface FileOutboxOptions {
  readonly directory: string;
  readonly bytesMax: number;
  readonly sync: SyncPolicy;
  /** How often to look for files of dead clients. */
  readonly adoptIntervalMs: number;
  /** Called with the bytes of an entry that are not the bytes that were written. */
  readonly onUnreadable: (bytes: Uint8Array) => void;
  /** Called with the number of entries whose file disappeared without this client's doing. */
  readonly onLost: (events: number, reason: string) => void;
  /** Called for a failure that no caller waits for. */
  readonly onFailure: (reason: string) => void;
}

/** Throws if the folder cannot be created or written to, so that the mistake shows at the start. */
export const createFileOutbox = (options: FileOutboxOptions): Outbox => new FileOutbox(options);

class FileOutbox implements Outbox {
  readonly #options: FileOutboxOptions;
  readonly #lease: Lease;
  readonly #files: FileSync;
  readonly #segments = new SegmentList();
  readonly #writing: Writing;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #adopting: Promise<void>;
  /** A look for files of dead clients is under way. */
  #isLooking = false;
  #mayAdopt = true;
  readonly #adopted = new Waiting();
  #removing: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #arrived = () => {};

  constructor(options: FileOutboxOptions) {
    const { directory, bytesMax, sync, adoptIntervalMs, onFailure } = options;
    this.#options = options;
    this.#files = new FileSync(directory, onFailure);
    this.#lease = new Lease(directory);
    try {
      this.#writing = new Writing({
        directory,
        bytesMax,
        lease: this.#lease,
        segments: this.#segments,
        files: this.#files,
        onLeft: (segment) => this.#dropIfDone(segment),
        onLost: (segment, reason) => this.#lose(segment, reason),
      });
    } catch (error) {
      this.#lease.drop();
      throw error;
    }
    this.#adopting = this.#adopt();
    this.#every(LEASE_RENEW_MS, () => this.#renewQuietly());
    this.#every(adoptIntervalMs, () => {
      this.#adopting = this.#adopting.then(() => this.#adopt());
    });
    if (sync === "interval") this.#every(SYNC_INTERVAL_MS, () => void this.#files.syncQuietly());
  }

  #every(intervalMs: number, action: () => void): void {
    const timer = setInterval(action, intervalMs);
    // An outbox does not keep the program alive.
    timer.unref();
    this.#timers.push(timer);
  }

  get pending() {
    return this.#segments.pending;
  }

  mark(): () => boolean {
    const isOwnSettled = this.#segments.mark();
    let isAdoptedSettled: (() => boolean) | undefined;
    return () => {
      // What earlier runs left counts as well, and the look for it may still be under way.
      if (!this.#isLooking) isAdoptedSettled ??= this.#segments.markAdopted();
      return isAdoptedSettled?.() === true && isOwnSettled();
    };
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
    try {
      if (this.#lease.isLate) this.#renew();
      if (!this.#writing.append(entry, sinceMs)) return { kind: "full" };
    } catch (error) {
      this.#writing.leaveTorn();
      void this.release();
      return { kind: "failed", reason: textOf(error) };
    }
    if (this.#options.sync === "always") this.#files.syncSoon();
    return { kind: "kept" };
  }

  async take(limits: TakeLimits): Promise<Taken | undefined> {
    // Entries of dead clients go first. Once they fill a batch, `take` does not wait until all of them are found, as there may be very many.
    const isReady = (): boolean => !this.#isLooking || this.#segments.hasAdopted(limits);
    await this.#adopted.until(isReady, Number.POSITIVE_INFINITY);
    const failures: unknown[] = [];
    const taken =
      (await this.#gather(limits, false, failures)) ?? (await this.#gather(limits, true, failures));
    if (!taken && failures.length > 0) throw failures[0];
    return taken;
  }

  async #gather(limits: TakeLimits, isSuspect: boolean, failures: unknown[]): Promise<Taken | undefined> {
    const gathering = new Gathering(limits, isSuspect);
    for (const part of this.#segments.parts(isSuspect)) {
      const { segment } = part;
      if (!gathering.suits(segment)) break;
      const chosen = await this.#choose(part, gathering).catch((error: unknown) => {
        failures.push(error);
        return [];
      });
      this.#dropIfDone(segment);
      if (!gathering.add(segment, chosen)) break;
    }
    return gathering.taken((segment) => this.#dropIfDone(segment));
  }

  async #choose(part: Part, gathering: Gathering): Promise<readonly Chosen[]> {
    const { segment, range } = part;
    // The segment may move to a new file meanwhile, because of a new event or the next renewal of the lease.
    const { path } = segment;
    const onCut = (events: number): void => {
      this.#options.onLost(events, `${segment.path}${EVENTS_SUFFIX} is shorter than what was written to it.`);
      this.#writing.leave(segment);
    };
    try {
      const damage = { onUnreadable: this.#options.onUnreadable, onCut };
      return await segment.choose(gathering.room, damage, range, gathering.isSuspect);
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#renew();
      this.#writing.leave(segment);
      if (segment.isGone) return [];
      if (segment.path !== path) return this.#choose(part, gathering);
      // The folder was unavailable for a moment.
      if (!isGone(path + EVENTS_SUFFIX)) throw error;
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
    segment.isGone = true;
    this.#segments.delete(segment);
  }

  /** Removes a segment in which everything is settled, unless it is still written to. */
  #dropIfDone(segment: Segment): void {
    if (this.#writing.isWritten(segment) || segment.left > 0 || !this.#segments.has(segment)) return;
    const [before, removing] = [this.#removing, this.#remove(segment)];
    // Only the last promise is kept: a list would grow by one for each segment, for as long as the client lives.
    this.#removing = before.then(() => removing);
    this.#segments.delete(segment);
  }

  async #remove(segment: Segment): Promise<void> {
    const isTheirs = this.#segments.isAdopted(segment);
    try {
      const removed = await segment.remove();
      if (!removed || !isTheirs) return;
      this.#writing.keepAnew(segment, removed);
      this.#segments.addAdopted(segment);
      this.#arrived();
    } catch (error) {
      this.#options.onFailure(`What is still written to ${segment.path} cannot be kept: ${textOf(error)}`);
    }
  }

  async release(): Promise<void> {
    this.#writing.leaveSettled();
    await this.#removing;
    // A removed file takes space until it is closed.
    await this.#files.syncQuietly();
  }

  async sync(): Promise<Synced> {
    // The kernel also syncs files that are in no folder any more. After `close`, other clients may own the files.
    const missing = this.#isClosed ? undefined : this.#findMissing();
    const synced = await this.#files.sync();
    if (synced.kind === "failed") return synced;
    if (missing !== undefined) return { kind: "failed", reason: missing };
    const { events, reason } = this.#segments.unsynced;
    if (events === 0) return synced;
    return {
      kind: "failed",
      reason: `A file could not be synced (${reason}): ${eventCount(events)} may not be on the disk until delivered.`,
    };
  }

  /** Writes open files that were removed to new files, and names the first one for which that failed. */
  #findMissing(): string | undefined {
    if (!this.#renewQuietly()) return LEASE_GONE;
    for (const segment of this.#segments.own) {
      const { path } = segment;
      if (segment.left === 0 || !isGone(path + EVENTS_SUFFIX)) continue;
      this.#writing.leave(segment);
      if (segment.path === path) return `${path}${EVENTS_SUFFIX} is no longer there.`;
    }
    return undefined;
  }

  /** False if the lease was gone. */
  #renew(): boolean {
    if (this.#lease.renew()) return true;
    this.#options.onFailure(LEASE_GONE);
    // New entries go to files with the new name, and so do entries that no other client has.
    for (const segment of this.#segments) {
      const { path } = segment;
      this.#writing.leave(segment);
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

  /** Takes over the files of dead clients. */
  async #adopt(): Promise<void> {
    const { directory, onFailure: tell } = this.#options;
    const onFailure = (error: unknown): void =>
      tell(`What other processes left in the outbox cannot be taken over: ${textOf(error)}`);
    this.#isLooking = true;
    try {
      for await (const segment of adoptSegments({ directory, lease: this.#lease, onFailure })) {
        // There may be more than fits into the time that `close` has. Files that already carry our name are free to take once our lease is gone.
        if (!this.#mayAdopt) return;
        // Our lease was lost meanwhile, so this file carries an old name: it is free to take, and the next look finds it again.
        if (!segment.path.startsWith(join(directory, this.#lease.owner))) continue;
        this.#segments.addAdopted(segment);
        this.#dropIfDone(segment);
        this.#adopted.look();
        this.#arrived();
      }
    } catch (error) {
      onFailure(error);
    } finally {
      this.#isLooking = false;
      this.#adopted.look();
    }
  }

  empty(): readonly Uint8Array[] {
    return [];
  }

  async close(): Promise<readonly Uint8Array[]> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#mayAdopt = false;
    await this.#adopting;
    for (const segment of this.#segments) this.#writing.leave(segment);
    await this.#removing;
    await this.#files.syncQuietly();
    this.#isClosed = true;
    this.#lease.drop();
    return this.empty();
  }
}
