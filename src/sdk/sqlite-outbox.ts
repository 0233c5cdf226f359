/**
 * An outbox of SQLite files: its own, and those that dead processes left in the folder. `append` hands the entry to the operating system before it
 * returns, so it survives the death of the process. Entries are read back to be sent, so those that wait take no memory.
 */
import { Buffer } from "node:buffer";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { textOf } from "./error-text.ts";
import { ADOPTED_MAX, LARGE_BYTES_MIN, SYNC_INTERVAL_MS } from "./limits.ts";
import type { Appended, Kept, Outbox, Synced, SyncPolicy, TakeLimits, Taken } from "./outbox.ts";
import { IN_MEMORY, isDamage } from "./outbox-database.ts";
import { OutboxFile } from "./outbox-file.ts";
import type { RejectedEvent } from "./reports.ts";
import { uuid7 } from "./uuid.ts";

export interface FileOutboxOptions {
  readonly directory: string;
  /** Limit for all events that wait, in bytes. */
  readonly bytesMax: number;
  readonly sync: SyncPolicy;
  /** How often to look for files of dead clients. */
  readonly adoptIntervalMs: number;
  /** Called with the number of entries that a damaged file held. */
  readonly onLost: (events: number, reason: string) => void;
  /** Called for a failure that no caller waits for. */
  readonly onFailure: (reason: string) => void;
  /** The source whose numbers the events have, and the highest one. */
  readonly source?: () => { readonly id: string; readonly last: number } | undefined;
}

const SUFFIX = ".sqlite";
/** Files in which version 0.1.0 kept its events. */
const OLD_SUFFIX = ".events";

/** Throws if the folder cannot be created or written to, so that the mistake shows at the start. */
export const createFileOutbox = (options: FileOutboxOptions): Outbox => new SqliteOutbox(options);

/** For programs without a disk, and for entries that a disk does not accept: it ends with the process. */
export const createMemoryOutbox = ({ bytesMax }: { readonly bytesMax: number }): Outbox =>
  new SqliteOutbox({
    directory: undefined,
    bytesMax,
    sync: "never",
    adoptIntervalMs: 0,
    onLost: () => {},
    onFailure: () => {},
  });

type Options = Omit<FileOutboxOptions, "directory"> & { readonly directory: string | undefined };

class SqliteOutbox implements Outbox {
  readonly #options: Options;
  #own: OutboxFile;
  /** Files of dead clients, the oldest first. */
  readonly #adopted = new Set<OutboxFile>();
  /** The files that this client holds, and those in which only dead letters are left: the next client that starts writes to one of them. */
  readonly #known = new Set<string>();
  /** There are more files of dead clients than are held at once. */
  #hasMore = false;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #isClosed = false;
  /** The most that has waited in the own file: a file of SQLite never gets smaller. */
  #bytesPeak = 0;
  /** The source number that the file knows. */
  #noted = 0;
  #arrived = () => {};

  constructor(options: Options) {
    const { directory, sync, adoptIntervalMs, onFailure } = options;
    this.#options = options;
    if (directory === undefined) {
      this.#own = this.#create();
      return;
    }
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#look();
    // The first file that nobody holds is this client's own, so that runs of a program one after the other leave one file.
    const [left] = this.#adopted;
    if (left) this.#adopted.delete(left);
    this.#own = left ?? this.#create();
    this.#drop();
    this.#every(adoptIntervalMs, () => {
      this.#look();
      this.#drop();
    });
    this.#every(SYNC_INTERVAL_MS, () => {
      this.#noteSource();
      if (sync !== "interval") return;
      const synced = this.sync();
      if (synced.kind === "failed") onFailure(`The outbox cannot be synced: ${synced.reason}`);
    });
    const old = readdirSync(directory).filter((name) => name.endsWith(OLD_SUFFIX)).length;
    if (old > 0)
      onFailure(
        `${directory} has ${old} files of version 0.1.0 (*${OLD_SUFFIX}), whose events this version does not send: run that version on the folder once more, until it has sent them.`,
      );
  }

  #create(): OutboxFile {
    const { directory, sync } = this.#options;
    if (directory === undefined) return OutboxFile.create(IN_MEMORY, sync);
    const path = join(directory, uuid7(Date.now()) + SUFFIX);
    // Before it exists, so that no look takes it over.
    this.#known.add(path);
    return OutboxFile.create(path, sync);
  }

  #every(intervalMs: number, action: () => void): void {
    const timer = setInterval(action, intervalMs);
    // An outbox does not keep the program alive.
    timer.unref();
    this.#timers.push(timer);
  }

  *#files(): Generator<OutboxFile> {
    yield* this.#adopted;
    yield this.#own;
  }

  get pending() {
    let [events, bytes] = [0, 0];
    for (const { pending } of this.#files()) {
      events += pending.events;
      bytes += pending.bytes;
    }
    return { events, bytes };
  }

  append(entry: string, sinceMs?: number): Appended {
    const bytes = Buffer.byteLength(entry);
    try {
      if (this.pending.bytes + bytes > this.#options.bytesMax) return { kind: "full" };
      this.#write(entry, bytes, sinceMs);
      return { kind: "kept" };
    } catch (error) {
      if (isDamage(error)) this.#lose(this.#own, error);
      return { kind: "failed", reason: textOf(error) };
    }
  }

  /** On a full disk SQLite has no room even to delete what is delivered. Once that is everything, a new file takes its place. */
  #write(entry: string, bytes: number, sinceMs: number | undefined): void {
    try {
      this.#own.append(entry, bytes, sinceMs);
    } catch (error) {
      const isOver = this.#own.isDone || (this.#own.isGone && this.#own.pending.events === 0);
      if (this.#options.directory === undefined || !isOver) throw error;
      this.#own.close();
      this.#known.delete(this.#own.path);
      this.#own = this.#create();
      this.#own.append(entry, bytes, sinceMs);
    }
    this.#bytesPeak = Math.max(this.#bytesPeak, this.#own.pending.bytes);
  }

  /** Frees the disk space of a file that became large. */
  #shrink(): void {
    const large = this.#own;
    if (this.#bytesPeak <= LARGE_BYTES_MIN || !large.isDone) return;
    this.#bytesPeak = 0;
    this.#own = this.#create();
    this.#known.delete(large.path);
    large.close();
  }

  take(limits: TakeLimits): Taken | undefined {
    const failures: unknown[] = [];
    for (const isSuspect of [false, true])
      for (const file of [...this.#files()])
        try {
          const taken = file.take(limits, isSuspect, () => this.#drop());
          if (taken) return taken;
        } catch (error) {
          if (isDamage(error)) this.#lose(file, error);
          else failures.push(error);
        }
    if (failures.length > 0) throw failures[0];
    return undefined;
  }

  keepRejected(rejected: readonly RejectedEvent[]): Kept {
    return this.#own.keepRejected(rejected);
  }

  sync(): Synced {
    if (this.#options.directory === undefined)
      return { kind: "failed", reason: "The outbox is in memory: its events end with the process." };
    if (this.#isClosed) return { kind: "synced" };
    return this.#own.isGone ? this.#writeAnew() : this.#own.sync();
  }

  /** Somebody removed the file, and its events are written to another one. */
  #writeAnew(): Synced {
    const { directory = "" } = this.#options;
    const gone = this.#own;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const next = this.#create();
      try {
        gone.moveTo(next);
      } catch (error) {
        next.close();
        throw error;
      }
      this.#own = next;
      return {
        kind: "failed",
        reason: `${gone.path} was removed: its events were written to ${this.#own.path}.`,
      };
    } catch (error) {
      return { kind: "failed", reason: `${gone.path} was removed: ${textOf(error)}` };
    }
  }

  /** A damaged file is set aside, and the outbox goes on without it. */
  #lose(file: OutboxFile, error: unknown): void {
    const { events } = file.pending;
    const aside = `${file.path}.damaged`;
    file.abandon();
    for (const suffix of ["", "-wal"])
      try {
        renameSync(file.path + suffix, aside + suffix);
      } catch {}
    if (file === this.#own) this.#own = this.#create();
    this.#adopted.delete(file);
    this.#options.onLost(events, `The outbox file is damaged (${textOf(error)}): it is now ${aside}.`);
  }

  /** Takes over the files that nobody holds. */
  #look(): void {
    const { directory = "", sync, onFailure } = this.#options;
    const failed = (error: unknown): void =>
      onFailure(`What other processes left in the outbox cannot be taken over: ${textOf(error)}`);
    let hasFound = false;
    this.#hasMore = false;
    try {
      for (const name of readdirSync(directory).sort()) {
        const path = join(directory, name);
        if (!name.endsWith(SUFFIX) || this.#known.has(path)) continue;
        this.#hasMore = this.#adopted.size >= ADOPTED_MAX;
        if (this.#hasMore) break;
        try {
          const file = OutboxFile.takeOver(path, sync);
          if (!file) continue;
          this.#adopted.add(file);
          this.#known.add(path);
          hasFound ||= file.pending.events > 0;
        } catch (error) {
          failed(error);
        }
      }
    } catch (error) {
      failed(error);
    }
    if (hasFound) this.#arrived();
  }

  /** Closes the files of dead clients from which everything is delivered. */
  #drop(): void {
    for (const file of this.#adopted) {
      if (file.pending.events > 0) continue;
      this.#adopted.delete(file);
      if (file.close()) this.#known.delete(file.path);
    }
    this.#shrink();
    if (!this.#hasMore || this.#adopted.size > 0) return;
    this.#look();
    this.#drop();
  }

  #noteSource(): void {
    const source = this.#options.source?.();
    if (!source || source.last === this.#noted) return;
    try {
      this.#own.noteSource(source);
      this.#noted = source.last;
    } catch (error) {
      this.#options.onFailure(`The outbox cannot be written: ${textOf(error)}`);
    }
  }

  mark(): () => boolean {
    if (this.#isClosed) return () => this.pending.events === 0;
    const marks = [...this.#files()].map((file) => file.mark());
    // Files that are not held yet were there at the call as well.
    const hadMore = this.#hasMore;
    const hasLeft = (): boolean => hadMore && (this.#hasMore || this.#adopted.size > 0);
    return () => marks.every((isSettled) => isSettled()) && !hasLeft();
  }

  get nextDueMs(): number | undefined {
    const due = [...this.#files()].flatMap(({ nextDueMs }) => nextDueMs ?? []);
    return due.length > 0 ? Math.min(...due) : undefined;
  }

  hasten(): void {
    for (const file of this.#files()) file.hasten();
  }

  onArrival(call: () => void): void {
    this.#arrived = call;
  }

  empty(): readonly string[] {
    return this.#options.directory === undefined ? this.#own.empty() : [];
  }

  close(): readonly string[] {
    for (const timer of this.#timers) clearInterval(timer);
    const ended = this.empty();
    if (this.#own.isGone && this.pending.events > 0) this.#writeAnew();
    if (this.#own.pending.events > 0) this.#noteSource();
    this.#isClosed = true;
    for (const file of this.#files()) file.close();
    return ended;
  }
}
