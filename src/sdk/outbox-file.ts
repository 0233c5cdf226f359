/**
 * One outbox file: a SQLite database that its process holds locked for as long as it is open, so the lock is the lease, and the death of the process
 * frees it. docs/outbox-file.md describes the format for other languages. An outbox in memory is the same without a file.
 */
import { Buffer } from "node:buffer";
import { closeSync, existsSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { reasonOf } from "./delivery.ts";
import { textOf } from "./error-text.ts";
import { eventCount } from "./event-count.ts";
import { DEAD_LETTER_BYTES_MAX, RESENT_AFTER_MS, WAL_BYTES_MAX } from "./limits.ts";
import { type Moment, mayBeOlderThan, thisMoment } from "./moment.ts";
import type { Kept, Postponed, Synced, SyncPolicy, TakeLimits, Taken } from "./outbox.ts";
import {
  APPLICATION_ID,
  BUSY_MS,
  IN_MEMORY,
  isBusy,
  openDatabase,
  pragma,
  quietly,
  REMOVED,
  removeFiles,
  SCHEMA,
  VERSION,
} from "./outbox-database.ts";
import type { RejectedEvent } from "./reports.ts";

interface Chosen {
  readonly id: number;
  readonly text: string;
}

export class OutboxFile {
  readonly path: string;
  readonly #policy: SyncPolicy;
  /** Referenced for as long as the file is in use: Bun closes a database, and gives up its lock, when it collects it as garbage. */
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  /** Id of the first entry of this run, and of the next one. Ids are never used twice in a run, although SQLite would do that. */
  readonly #begin: number;
  #end: number;
  #events: number;
  #bytes: number;
  #walBytes = 0;
  #letterBytes: number | undefined;
  readonly #attempts = new Map<number, Moment>();
  readonly #postponed = new Map<number, Postponed>();
  readonly #suspects = new Set<number>();
  /** Settled, but not deleted yet, as on a full disk. */
  readonly #settled = new Set<number>();
  /** Whether entries that are in another file now are settled there. */
  #moved: (() => boolean) | undefined;
  /** A sync failed, and says nothing about these entries any more, even if a later one succeeds. */
  #unsynced: { readonly before: number; readonly reason: string } | undefined;

  /** Throws if it cannot be created. */
  static create(path: string, policy: SyncPolicy): OutboxFile {
    // SQLite would let other users read it. The file beside it, with the suffix -wal, gets the same mode.
    if (path !== IN_MEMORY) closeSync(openSync(path, "wx", 0o600));
    let database: DatabaseSync | undefined;
    try {
      database = openDatabase(path, policy, BUSY_MS);
      database.exec(SCHEMA);
      return new OutboxFile(path, policy, database);
    } catch (error) {
      database?.close();
      removeFiles(path);
      throw error;
    }
  }

  /** Undefined if a living process holds it, or if there is nothing in it to hold. Throws if it cannot be read. */
  static takeOver(path: string, policy: SyncPolicy): OutboxFile | undefined {
    let database: DatabaseSync | undefined;
    try {
      database = openDatabase(path, policy, 0);
      const version = pragma(database, "user_version");
      if (version === VERSION && pragma(database, "application_id") === APPLICATION_ID)
        return new OutboxFile(path, policy, database);
      database.close();
      if (version === REMOVED) removeFiles(path);
      // Another process is just creating it.
      if (version === REMOVED || version === 0) return undefined;
    } catch (error) {
      database?.close();
      if (isBusy(error)) return undefined;
      throw error;
    }
    throw new Error(`${path} is no outbox of version ${VERSION}.`);
  }

  private constructor(path: string, policy: SyncPolicy, database: DatabaseSync) {
    this.path = path;
    this.#policy = policy;
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO event VALUES (?, ?, ?, ?, ?)");
    const held = database
      .prepare("SELECT count(*) events, sum(length(CAST(body AS BLOB))) bytes, max(id) last FROM event")
      .get();
    this.#events = Number(held?.events ?? 0);
    this.#bytes = Number(held?.bytes ?? 0);
    this.#begin = Number(held?.last ?? 0) + 1;
    this.#end = this.#begin;
  }

  get pending() {
    return { events: this.#events, bytes: this.#bytes };
  }

  /** Throws if it cannot be written. */
  append(text: string, bytes: number, sinceMs: number | undefined): void {
    const attempts = sinceMs === undefined ? 0 : 1;
    this.#write(() => this.#insert.run(this.#end, text, Date.now(), attempts, sinceMs ?? null), bytes);
    this.#end++;
    this.#events++;
    this.#bytes += bytes;
  }

  /** Where a write fails, as on a full disk, a checkpoint frees the log of earlier writes (sqlite.org/wal.html), and it is tried once more. */
  #write(write: () => unknown, bytes: number): void {
    if (this.#walBytes > WAL_BYTES_MAX) quietly(() => this.#checkpoint());
    try {
      write();
    } catch {
      quietly(() => this.#checkpoint());
      write();
    }
    this.#walBytes += bytes + 1;
  }

  #inTransaction(write: () => void, bytes: number): void {
    this.#write(() => {
      this.#database.exec("BEGIN");
      try {
        write();
        this.#database.exec("COMMIT");
      } catch (error) {
        // A full disk may have rolled it back already.
        if (this.#database.isTransaction !== false) quietly(() => this.#database.exec("ROLLBACK"));
        throw error;
      }
    }, bytes);
  }

  /** The due entries, suspects or others, oldest first; undefined if there are none. `settled` is called whenever some of them were settled. */
  take(limits: TakeLimits, isSuspect: boolean, settled: () => void): Taken | undefined {
    const { chosen, mayBeResent } = this.#choose(limits, isSuspect);
    if (chosen.length === 0) return undefined;
    this.#noteAttempt(chosen);
    const at = (positions: readonly number[]) => positions.flatMap((position) => chosen[position] ?? []);
    return {
      entries: chosen.map(({ text }) => text),
      mayBeResent,
      settle: (positions) => {
        this.#settle(at(positions));
        settled();
      },
      postpone: (positions, until) => {
        for (const { id } of at(positions)) {
          this.#postponed.set(id, until);
          if (until.isSuspect) this.#suspects.add(id);
        }
      },
    };
  }

  /**
   * If one event of a request may have been sent before, the service looks up all of them. So entries that were never sent are not mixed with those
   * that may have been.
   */
  #choose(limits: TakeLimits, isSuspect: boolean) {
    const now = performance.now();
    const chosen: Chosen[] = [];
    let [bytes, mayBeResent] = [0, false];
    if (this.#events === 0 || (isSuspect && this.#suspects.size === 0)) return { chosen, mayBeResent };
    const body = this.#database.prepare("SELECT body FROM event WHERE id = ?");
    for (const { id, captured_at, sent_at } of this.#rows()) {
      if (this.#settled.has(id) || this.#suspects.has(id) !== isSuspect) continue;
      if ((this.#postponed.get(id)?.dueMs ?? 0) > now) continue;
      const isOld = this.#mayBeForgotten(id, captured_at, sent_at);
      const text = String(body.get(id)?.body);
      const size = Buffer.byteLength(text);
      if (chosen.length > 0 && (isOld !== mayBeResent || bytes + size > limits.bytes)) break;
      chosen.push({ id, text });
      [bytes, mayBeResent] = [bytes + size, isOld];
      if (chosen.length >= limits.events) break;
    }
    return { chosen, mayBeResent };
  }

  /** Page by page: an iterator of Deno ends without an error where the file is damaged (2.9.6). */
  *#rows(): Generator<{
    readonly id: number;
    readonly captured_at: number;
    readonly sent_at: number | undefined;
  }> {
    const page = this.#database.prepare(
      "SELECT id, captured_at, sent_at FROM event WHERE id > ? ORDER BY id LIMIT 1000",
    );
    let last = 0;
    for (let rows = page.all(last); rows.length > 0; rows = page.all(last))
      for (const { id, captured_at, sent_at } of rows) {
        last = Number(id);
        yield {
          id: last,
          captured_at: Number(captured_at),
          sent_at: sent_at === null ? undefined : Number(sent_at),
        };
      }
  }

  /** Whether an attempt may be older than the broker is sure to remember. A power failure may have undone the note of an earlier run's attempt. */
  #mayBeForgotten(id: number, capturedMs: number, sentMs: number | undefined): boolean {
    const wallMs = sentMs ?? (id < this.#begin ? capturedMs : undefined);
    const attempt =
      this.#attempts.get(id) ?? (wallMs === undefined ? undefined : { wallMs, steadyMs: undefined });
    return attempt !== undefined && mayBeOlderThan(attempt, RESENT_AFTER_MS);
  }

  #noteAttempt(chosen: readonly Chosen[]): void {
    const attempt = thisMoment();
    const note = this.#database.prepare(
      "UPDATE event SET attempts = attempts + 1, sent_at = coalesce(sent_at, ?) WHERE id = ?",
    );
    // On a full disk the next run goes by the time of the capture.
    quietly(() =>
      this.#inTransaction(() => {
        for (const { id } of chosen) note.run(attempt.wallMs, id);
      }, chosen.length),
    );
    for (const { id } of chosen)
      if (!this.#attempts.has(id) && id >= this.#begin) this.#attempts.set(id, attempt);
  }

  #settle(chosen: readonly Chosen[]): void {
    for (const { id, text } of chosen) {
      if (this.#settled.has(id)) continue;
      this.#settled.add(id);
      this.#events--;
      this.#bytes -= Buffer.byteLength(text);
      for (const notes of [this.#attempts, this.#postponed, this.#suspects]) notes.delete(id);
    }
    quietly(() => this.#deleteSettled());
  }

  #deleteSettled(): void {
    if (this.#settled.size === 0) return;
    const remove = this.#database.prepare("DELETE FROM event WHERE id = ?");
    this.#inTransaction(() => {
      for (const id of this.#settled) remove.run(id);
    }, this.#settled.size);
    this.#settled.clear();
  }

  keepRejected(rejected: readonly RejectedEvent[]): Kept {
    if (this.path === IN_MEMORY) return { kind: "kept" };
    try {
      this.#letterBytes ??= Number(
        this.#database.prepare("SELECT sum(length(CAST(body AS BLOB))) bytes FROM dead_letter").get()
          ?.bytes ?? 0,
      );
      const bytes = rejected.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      if (this.#letterBytes + bytes > DEAD_LETTER_BYTES_MAX) return { kind: "full" };
      const insert = this.#database.prepare(
        "INSERT INTO dead_letter(body, code, message, at) VALUES (?, ?, ?, ?)",
      );
      this.#inTransaction(() => {
        for (const { text, rejection } of rejected)
          insert.run(text, rejection.code, reasonOf(rejection), Date.now());
      }, bytes);
      this.#letterBytes += bytes;
      return { kind: "kept" };
    } catch (error) {
      return { kind: "failed", reason: textOf(error) };
    }
  }

  /** Remembers which numbers this run has given to its events. */
  noteSource(source: { readonly id: string; readonly last: number }): void {
    const note = this.#database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)");
    this.#inTransaction(() => {
      note.run("source_id", source.id);
      note.run("next_source_sequence", String(source.last + 1));
    }, 0);
  }

  sync(): Synced {
    try {
      this.#checkpoint();
    } catch (error) {
      this.#unsynced = { before: this.#end, reason: textOf(error) };
      return { kind: "failed", reason: this.#unsynced.reason };
    }
    if (!this.#unsynced) return { kind: "synced" };
    const { before, reason } = this.#unsynced;
    if (this.#isSettled(before)) {
      this.#unsynced = undefined;
      return { kind: "synced" };
    }
    const events = eventCount(this.#events);
    return { kind: "failed", reason: `A sync failed (${reason}): ${events} may not be on the disk.` };
  }

  /** Copies the log of writes into the file, synced, whatever the policy is. */
  #checkpoint(): void {
    if (this.path === IN_MEMORY || this.#walBytes === 0) return;
    if (this.#policy === "never") this.#database.exec("PRAGMA synchronous = NORMAL");
    try {
      this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      this.#walBytes = 0;
    } finally {
      if (this.#policy === "never") this.#database.exec("PRAGMA synchronous = OFF");
    }
  }

  mark(): () => boolean {
    const before = this.#end;
    return () => this.#isSettled(before);
  }

  #isSettled(before: number): boolean {
    if (this.#moved) return this.#moved();
    if (this.#events === 0) return true;
    const rows = this.#database.prepare("SELECT id FROM event WHERE id < ? LIMIT ?");
    return rows.all(before, this.#settled.size + 1).every(({ id }) => this.#settled.has(Number(id)));
  }

  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#postponed.values()) if (dueMs < (next ?? Infinity)) next = dueMs;
    return next;
  }

  hasten(): void {
    this.#postponed.clear();
  }

  /** Whether somebody removed the file. What is written to it then ends with the process. */
  get isGone(): boolean {
    return this.path !== IN_MEMORY && !existsSync(this.path);
  }

  /** Writes everything to another file, and closes this one. */
  moveTo(other: OutboxFile): void {
    const rows = this.#database.prepare("SELECT * FROM event ORDER BY id").all();
    other.#inTransaction(() => {
      for (const { id, body, captured_at, attempts, sent_at } of rows)
        if (!this.#settled.has(Number(id)))
          other.#insert.run(other.#end++, body ?? "", captured_at ?? 0, attempts ?? 0, sent_at ?? null);
    }, this.#bytes);
    other.#events += this.#events;
    other.#bytes += this.#bytes;
    this.#moved = other.mark();
    this.abandon();
  }

  /** All entries, which are settled thereby. */
  empty(): readonly string[] {
    const rows = this.#database.prepare("SELECT id, body FROM event ORDER BY id").all();
    const chosen = rows.map(({ id, body }) => ({ id: Number(id), text: String(body) }));
    this.#settle(chosen);
    return chosen.map(({ text }) => text);
  }

  /** Removes the file if nothing is left in it. Returns whether it did. */
  close(): boolean {
    quietly(() => this.#deleteSettled());
    const isDone = this.isDone;
    if (isDone) {
      try {
        // Another client may get the lock before the file is removed.
        this.#database.exec(`PRAGMA user_version = ${REMOVED}`);
      } catch {
        // On a full disk it is removed while the lock is held, which Windows does not allow.
        removeFiles(this.path);
      }
    } else quietly(() => this.#checkpoint());
    quietly(() => this.#database.close());
    if (isDone) removeFiles(this.path);
    return isDone;
  }

  /** Nothing waits in it, and it has no dead letters. */
  get isDone(): boolean {
    if (this.#events > 0) return false;
    try {
      return this.#database.prepare("SELECT 1 FROM dead_letter LIMIT 1").get() === undefined;
    } catch {
      return false;
    }
  }

  /** Closes a file whose entries are elsewhere or lost. */
  abandon(): void {
    [this.#events, this.#bytes] = [0, 0];
    quietly(() => this.#database.close());
  }
}
