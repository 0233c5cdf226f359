/**
 * Events that wait to be delivered. An event leaves the outbox only when its own outcome is known: stored, or rejected and kept as a dead letter. They
 * are in a file of this process, to which `append` hands them before it returns, and are read back to be sent, so those that wait take no memory.
 */
import { Buffer } from "node:buffer";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import type { SyncPolicy } from "./client-options.ts";
import { OVERFLOW_BYTES_MAX, SYNC_INTERVAL_MS } from "./limits.ts";
import { IN_MEMORY, isDamage, quietly } from "./outbox-database.ts";
import { type Kept, OutboxFile, type Synced, type TakeLimits, type Taken } from "./outbox-file.ts";
import { type DroppedEvent, eventCount, eventIdIn, type RejectedEvent, type Reports } from "./reports.ts";
import { uuid7 } from "./uuid.ts";
import { textOf } from "./values.ts";

export interface OutboxOptions {
  /** Undefined for an outbox in memory, which ends with the process. */
  readonly directory: string | undefined;
  /** Limit for all events that wait, in bytes. */
  readonly bytesMax: number;
  readonly sync: SyncPolicy;
  readonly reports: Pick<Reports, "dropped" | "problem">;
  /** The source whose numbers the events have, and the highest one. */
  readonly source?: () => { readonly id: string; readonly last: number } | undefined;
}

const SUFFIX = ".sqlite";
/** Files in which version 0.1.0 kept its events. */
const OLD_SUFFIX = ".events";

export class Outbox {
  readonly #options: OutboxOptions;
  #own: OutboxFile;
  /** Holds the events that could not be written to the disk. */
  #overflow: OutboxFile | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Why it accepts no more events that would end with the process. */
  #ended: string | undefined;
  #isClosed = false;
  /** The source number that the file knows. */
  #noted = 0;

  /** Throws if the folder cannot be created or written to, so that the mistake shows at the start. */
  constructor(options: OutboxOptions) {
    const { directory } = options;
    this.#options = options;
    if (directory === undefined) {
      this.#own = this.#create();
      return;
    }
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // The first file that nobody holds is this client's own, so that runs of a program one after the other leave one file.
    const left = this.#left();
    this.#own = left.next().value ?? this.#create();
    for (const file of left) this.#adopt(file);
    this.#timer = setInterval(() => this.#tend(), SYNC_INTERVAL_MS);
    // An outbox does not keep the program alive.
    this.#timer.unref();
    const old = readdirSync(directory).filter((name) => name.endsWith(OLD_SUFFIX)).length;
    if (old > 0)
      this.#problem(
        `${directory} has ${old} files of version 0.1.0 (*${OLD_SUFFIX}), whose events this version does not send: run that version on the folder once more, until it has sent them.`,
      );
  }

  #create(): OutboxFile {
    const { directory, sync } = this.#options;
    const path = directory === undefined ? IN_MEMORY : join(directory, uuid7(Date.now()) + SUFFIX);
    return OutboxFile.create(path, sync);
  }

  /** Files that no living process holds, oldest first. */
  *#left(): Generator<OutboxFile, undefined> {
    const { directory = "", sync } = this.#options;
    for (const name of readdirSync(directory).sort()) {
      if (!name.endsWith(SUFFIX)) continue;
      try {
        const file = OutboxFile.takeOver(join(directory, name), sync);
        if (file) yield file;
      } catch (error) {
        this.#cannotTakeOver(error);
      }
    }
  }

  #cannotTakeOver(error: unknown): void {
    this.#problem(`What other processes left in the outbox cannot be taken over: ${textOf(error)}`);
  }

  #problem(text: string): void {
    this.#options.reports.problem("outbox", text);
  }

  /** Takes over what dead processes left in the folder. */
  takeOver(): void {
    if (this.#options.directory === undefined || this.#isClosed) return;
    try {
      for (const file of this.#left()) this.#adopt(file);
    } catch (error) {
      this.#cannotTakeOver(error);
    }
  }

  /** The own file gets the events of the other one, or the other one takes its place if it is empty. Dead letters stay where they are. */
  #adopt(file: OutboxFile): void {
    let over = file;
    try {
      if (file.events > 0 && this.#own.isDone) [this.#own, over] = [file, this.#own];
      else if (file.events > 0) this.#own.absorb(file);
    } catch (error) {
      this.#cannotTakeOver(error);
    }
    over.close();
  }

  get pending() {
    const { events, bytes } = this.#own;
    return { events: events + this.held, bytes: bytes + (this.#overflow?.bytes ?? 0) };
  }

  /** Events in memory that belong on the disk. */
  get held(): number {
    return this.#overflow?.events ?? 0;
  }

  get #files(): readonly OutboxFile[] {
    return this.#overflow ? [this.#own, this.#overflow] : [this.#own];
  }

  /** Returns why the event is not kept; undefined if it is. */
  append(text: string): Pick<DroppedEvent, "reason" | "message"> | undefined {
    const { directory, bytesMax } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (this.#ended !== undefined && (this.#isClosed || directory === undefined))
      return { reason: "closed", message: this.#ended };
    if (this.#own.bytes + (this.#overflow?.bytes ?? 0) + bytes > bytesMax)
      return { reason: "outbox_full", message: "The outbox has reached its limit." };
    try {
      this.#write(text, bytes);
    } catch (error) {
      const message = `The outbox cannot be written: ${textOf(error)}`;
      if (isDamage(error)) this.#lose(error);
      if (!this.#hold(text, bytes)) return { reason: "outbox_failed", message };
      this.#problem(`${message}. Events are held in memory meanwhile.`);
    }
    return undefined;
  }

  /** On a full disk SQLite has no room even to delete what is delivered. Once that is everything, a new file takes its place. */
  #write(text: string, bytes: number, sinceMs?: number): void {
    try {
      this.#own.append(text, bytes, sinceMs);
    } catch (error) {
      if (this.#options.directory === undefined || !this.#own.isDone) throw error;
      this.#own.close();
      this.#own = this.#create();
      this.#own.append(text, bytes, sinceMs);
    }
  }

  #hold(text: string, bytes: number): boolean {
    if (this.#ended !== undefined) return false;
    this.#overflow ??= OutboxFile.create(IN_MEMORY, "never");
    if (this.#overflow.bytes + bytes > OVERFLOW_BYTES_MAX) return false;
    this.#overflow.append(text, bytes);
    return true;
  }

  /** Throws if it cannot be read. */
  take(limits: TakeLimits): Taken | undefined {
    let failure: unknown;
    for (const file of this.#files)
      try {
        const taken = file.take(limits);
        if (taken) return taken;
      } catch (error) {
        if (isDamage(error)) this.#lose(error);
        else failure = error;
      }
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** Keeps rejected events as dead letters. */
  keepRejected(rejected: readonly RejectedEvent[]): Kept {
    return this.#own.keepRejected(rejected);
  }

  /** Syncs everything appended before to the disk, or gives the reason why it is not there. */
  sync(): Synced {
    if (this.#options.directory === undefined)
      return { kind: "failed", reason: "The outbox is in memory: its events end with the process." };
    if (this.#isClosed) return { kind: "synced" };
    const synced = this.#own.sync();
    if (synced.kind === "failed" || this.held === 0) return synced;
    const kept = `${eventCount(this.held)} ${this.held === 1 ? "is" : "are"} in memory only`;
    return { kind: "failed", reason: `The outbox cannot be written: ${kept}.` };
  }

  /** A damaged file is set aside, and the outbox goes on without it. */
  #lose(error: unknown): void {
    const { path, events } = this.#own;
    const aside = `${path}.damaged`;
    this.#own.abandon();
    for (const suffix of ["", "-wal"]) quietly(() => renameSync(path + suffix, aside + suffix));
    this.#own = this.#create();
    const message = `The outbox file is damaged (${textOf(error)}): it is now ${aside}.`;
    this.#options.reports.dropped([{ reason: "outbox_damaged", message, eventId: undefined }], events);
  }

  /** Once a second. */
  #tend(): void {
    try {
      this.#noteSource();
    } catch (error) {
      this.#problem(`The outbox cannot be written: ${textOf(error)}`);
    }
    if (this.#options.sync !== "interval") return;
    const synced = this.sync();
    if (synced.kind === "failed") this.#problem(`The outbox cannot be synced: ${synced.reason}`);
  }

  #noteSource(): void {
    const source = this.#options.source?.();
    if (!source || source.last === this.#noted) return;
    this.#own.noteSource(source);
    this.#noted = source.last;
  }

  /** Returns a function that tells whether everything that was in the outbox at the call is settled. */
  mark(): () => boolean {
    if (this.#isClosed) return () => this.pending.events === 0;
    const marks = this.#files.map((file) => file.mark());
    return () => marks.every((isSettled) => isSettled());
  }

  /** When the next entry that was set aside is due (`performance.now()`); undefined if there is none. */
  get nextDueMs(): number | undefined {
    const due = this.#files.flatMap(({ nextDueMs }) => nextDueMs ?? []);
    return due.length > 0 ? Math.min(...due) : undefined;
  }

  /** Makes entries that were set aside due now. */
  hasten(): void {
    for (const file of this.#files) file.hasten();
  }

  /** Drops and reports what would end with the process. Events in memory that belong on the disk get a last chance: it may have space again. */
  end(why: string): void {
    this.#ended = why;
    if (this.#options.directory === undefined) this.#drop(this.#own.empty(), "closed", why);
    const left: { readonly text: string }[] = [];
    let reason = "";
    for (const { text, bytes, capturedMs } of this.#overflow?.empty() ?? [])
      try {
        this.#write(text, bytes, capturedMs);
      } catch (error) {
        left.push({ text });
        reason = textOf(error);
      }
    this.#drop(left, "outbox_failed", `The outbox cannot be written, and the client is closed: ${reason}`);
  }

  #drop(entries: readonly { readonly text: string }[], reason: DroppedEvent["reason"], message: string) {
    this.#options.reports.dropped(entries.map(({ text }) => ({ reason, message, eventId: eventIdIn(text) })));
  }

  /** What is in the folder stays there. */
  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#isClosed = true;
    this.end("The client is closed.");
    if (this.#own.events > 0) quietly(() => this.#noteSource());
    for (const file of this.#files) file.close();
  }
}
