/**
 * One outbox file: a SQLite database that its process holds locked for as long as it is open, so the lock is the lease, and the death of the process
 * frees it (docs/outbox-file.md). An outbox in memory is the same without a file.
 */
import { Buffer } from "node:buffer";
import { closeSync, existsSync, openSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SyncPolicy } from "./client-options.ts";
import { DEAD_LETTER_BYTES_MAX, RESENT_AFTER_MS } from "./limits.ts";
import {
  APPLICATION_ID,
  IN_MEMORY,
  isBusy,
  opened,
  pragma,
  quietly,
  REMOVED,
  removeFiles,
  SCHEMA,
  VERSION,
} from "./outbox-database.ts";
import { eventCount, type RejectedEvent } from "./reports.ts";
import { mayBeOlderThan } from "./retry.ts";
import { reasonOf } from "./service.ts";
import { textOf } from "./values.ts";

export type Synced = { readonly kind: "synced" } | { readonly kind: "failed"; readonly reason: string };

export type Kept = { readonly kind: "kept" | "full" } | { readonly kind: "failed"; readonly reason: string };

export interface TakeLimits {
  readonly events: number;
  readonly bytes: number;
}

/** The JSON text of one event. */
export interface Entry {
  readonly id: number;
  readonly text: string;
  readonly bytes: number;
}

/** Entries to send, oldest first. They stay in the file until they are settled. */
export interface Taken {
  readonly file: OutboxFile;
  readonly entries: readonly Entry[];
  /** Whether they may have been sent more than RESENT_AFTER_MS ago, by this process or one before. */
  readonly mayBeResent: boolean;
}

interface Row extends Entry {
  readonly capturedMs: number;
  readonly attempts: number;
  readonly sentMs: number | undefined;
}

/** How long a new file waits for a client that looks into it to let go of it. */
const NEW_BUSY_MS = 1000;
/** Rows read at once, each with at most 256 KiB. */
const PAGE_ROWS = 50;

export class OutboxFile {
  readonly path: string;
  /** Entries that are not settled, and their bytes. */
  events: number;
  bytes: number;
  readonly #policy: SyncPolicy;
  /** Referenced for as long as the file is in use: Bun closes a database, and gives up its lock, when it collects it as garbage. */
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  /** Entries below this id may have been sent without a note of it in `sent_at`. */
  #unsure: number;
  /** Id of the next entry. Ids are never used twice in a run, although SQLite would do that. */
  #end: number;
  #hasUnsynced = false;
  /** Settled, but not deleted yet, as on a full disk. */
  readonly #settled = new Set<number>();
  /** Until when entries are set aside (`performance.now()`). */
  readonly #aside = new Map<number, number>();
  /** A sync failed, and says nothing about these entries any more, even if a later one succeeds. */
  #unsynced: { readonly before: number; readonly reason: string } | undefined;

  /** Throws if it cannot be created. */
  static create(path: string, policy: SyncPolicy): OutboxFile {
    // SQLite would let other users read it. The file beside it, with the suffix -wal, gets the same mode.
    if (path !== IN_MEMORY) closeSync(openSync(path, "wx", 0o600));
    try {
      return opened(path, policy, NEW_BUSY_MS, (database) => {
        database.exec(SCHEMA);
        return new OutboxFile(path, policy, database);
      });
    } catch (error) {
      removeFiles(path);
      throw error;
    }
  }

  /** Undefined if a living process holds it, or if there is nothing in it to hold. Throws if it cannot be read. */
  static takeOver(path: string, policy: SyncPolicy): OutboxFile | undefined {
    try {
      return opened(path, policy, 0, (database) => {
        const version = pragma(database, "user_version");
        if (version === VERSION && pragma(database, "application_id") === APPLICATION_ID)
          return new OutboxFile(path, policy, database);
        database.close();
        if (version === REMOVED) removeFiles(path);
        // Another process is just creating it.
        if (version === REMOVED || version === 0) return undefined;
        throw new Error(`${path} is not an outbox of version ${VERSION}.`);
      });
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  private constructor(path: string, policy: SyncPolicy, database: DatabaseSync) {
    this.path = path;
    this.#policy = policy;
    this.#database = database;
    this.#insert = database.prepare("INSERT INTO event VALUES (?, ?, ?, ?, ?)");
    const held = database
      .prepare("SELECT count(*) events, sum(length(CAST(body AS BLOB))) bytes, max(id) last FROM event")
      .get();
    this.events = Number(held?.events ?? 0);
    this.bytes = Number(held?.bytes ?? 0);
    this.#end = Number(held?.last ?? 0) + 1;
    this.#unsure = this.#end;
  }

  /** Throws if it cannot be written. `sinceMs`: it may have been sent since then. */
  append(text: string, bytes: number, sinceMs?: number): void {
    const attempts = sinceMs === undefined ? 0 : 1;
    this.#write(() => this.#insert.run(this.#end, text, Date.now(), attempts, sinceMs ?? null));
    this.#end++;
    this.events++;
    this.bytes += bytes;
  }

  /** Where a write fails, as on a full disk, a checkpoint frees the log of earlier writes (sqlite.org/wal.html), and it is tried again. */
  #write(write: () => unknown): void {
    try {
      write();
    } catch {
      quietly(() => this.#checkpoint());
      write();
    }
    this.#hasUnsynced = true;
  }

  #inTransaction(write: () => void): void {
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
    });
  }

  /**
   * Due entries; undefined if there are none. One that was set aside comes alone, and only if no other is due. The service looks up all events of a
   * request that may have been sent before, so such entries and others are not mixed.
   */
  take(limits: TakeLimits): Taken | undefined {
    if (this.events === 0) return undefined;
    const nowMs = performance.now();
    const entries: Entry[] = [];
    let [bytes, mayBeResent] = [0, false];
    let spare: Taken | undefined;
    for (const row of this.#rows()) {
      const isOld = this.#mayBeForgotten(row);
      const untilMs = this.#aside.get(row.id);
      if (untilMs !== undefined) {
        if (untilMs <= nowMs) spare ??= { file: this, entries: [row], mayBeResent: isOld };
        continue;
      }
      if (entries.length > 0 && (isOld !== mayBeResent || bytes + row.bytes > limits.bytes)) break;
      entries.push(row);
      [bytes, mayBeResent] = [bytes + row.bytes, isOld];
      if (entries.length >= limits.events) break;
    }
    const taken = entries.length > 0 ? { file: this, entries, mayBeResent } : spare;
    if (taken) this.#noteAttempt(taken.entries);
    return taken;
  }

  /** Entries that are not settled. Page by page: an iterator of Deno ends without an error where the file is damaged (2.9.6). */
  *#rows(): Generator<Row> {
    const page = this.#database.prepare(`SELECT * FROM event WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}`);
    let last = 0;
    for (let rows = page.all(last); rows.length > 0; rows = page.all(last))
      for (const { id, body, captured_at, attempts, sent_at } of rows) {
        last = Number(id);
        if (this.#settled.has(last)) continue;
        const text = String(body);
        yield {
          id: last,
          text,
          bytes: Buffer.byteLength(text),
          capturedMs: Number(captured_at),
          attempts: Number(attempts),
          sentMs: sent_at === null ? undefined : Number(sent_at),
        };
      }
  }

  /** Whether an attempt may be older than the broker is sure to remember. A power failure may have undone the note of an earlier run's attempt. */
  #mayBeForgotten({ id, capturedMs, sentMs }: Row): boolean {
    const sinceMs = sentMs ?? (id < this.#unsure ? capturedMs : undefined);
    return sinceMs !== undefined && mayBeOlderThan(sinceMs, RESENT_AFTER_MS);
  }

  #noteAttempt(entries: readonly Entry[]): void {
    const note = this.#database.prepare(
      "UPDATE event SET attempts = attempts + 1, sent_at = coalesce(sent_at, ?) WHERE id IN (SELECT value FROM json_each(?))",
    );
    try {
      this.#write(() => note.run(Date.now(), JSON.stringify(entries.map(({ id }) => id))));
    } catch {
      // On a full disk.
      this.#unsure = this.#end;
    }
  }

  /** Their outcome is known: they are never sent again. */
  settle(entries: readonly Entry[]): void {
    for (const { id, bytes } of entries) {
      this.#settled.add(id);
      this.#aside.delete(id);
      this.events--;
      this.bytes -= bytes;
    }
    quietly(() => this.#deleteSettled());
  }

  #deleteSettled(): void {
    if (this.#settled.size === 0) return;
    const remove = this.#database.prepare("DELETE FROM event WHERE id IN (SELECT value FROM json_each(?))");
    this.#write(() => remove.run(JSON.stringify([...this.#settled])));
    this.#settled.clear();
  }

  /** Until then they are not sent, and from then on only when no others are due. */
  setAside(entries: readonly Entry[], untilMs: number): void {
    for (const { id } of entries) this.#aside.set(id, untilMs);
  }

  /** When the next entry that was set aside is due (`performance.now()`). */
  get nextDueMs(): number | undefined {
    return this.#aside.size > 0 ? Math.min(...this.#aside.values()) : undefined;
  }

  /** Makes entries that were set aside due now. */
  hasten(): void {
    for (const id of this.#aside.keys()) this.#aside.set(id, 0);
  }

  keepRejected(rejected: readonly RejectedEvent[]): Kept {
    if (this.path === IN_MEMORY) return { kind: "kept" };
    try {
      const held = this.#database
        .prepare("SELECT sum(length(CAST(body AS BLOB))) bytes FROM dead_letter")
        .get();
      const bytes = rejected.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      if (Number(held?.bytes ?? 0) + bytes > DEAD_LETTER_BYTES_MAX) return { kind: "full" };
      const insert = this.#database.prepare(
        "INSERT INTO dead_letter(body, code, message, at) VALUES (?, ?, ?, ?)",
      );
      this.#inTransaction(() => {
        for (const { text, rejection } of rejected)
          insert.run(text, rejection.code, reasonOf(rejection), Date.now());
      });
      return { kind: "kept" };
    } catch (error) {
      return { kind: "failed", reason: textOf(error) };
    }
  }

  /** Remembers which numbers this run has given to its events. */
  noteSource(source: { readonly id: string; readonly last: number }): void {
    const note = this.#database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?), (?, ?)");
    this.#write(() => note.run("source_id", source.id, "next_source_sequence", String(source.last + 1)));
  }

  sync(): Synced {
    // What is written to a file that somebody removed ends with the process.
    if (!existsSync(this.path)) return { kind: "failed", reason: `${this.path} was removed.` };
    try {
      this.#checkpoint();
    } catch (error) {
      this.#unsynced = { before: this.#end, reason: textOf(error) };
      return { kind: "failed", reason: this.#unsynced.reason };
    }
    if (!this.#unsynced || this.#isSettled(this.#unsynced.before)) {
      this.#unsynced = undefined;
      return { kind: "synced" };
    }
    const { reason } = this.#unsynced;
    return {
      kind: "failed",
      reason: `A sync failed (${reason}): ${eventCount(this.events)} may not be on the disk.`,
    };
  }

  /** Copies the log of writes into the file, synced, whatever the policy is. */
  #checkpoint(): void {
    if (this.path === IN_MEMORY || !this.#hasUnsynced) return;
    if (this.#policy === "never") this.#database.exec("PRAGMA synchronous = NORMAL");
    try {
      // To make the log of writes small while events come would cost them its growth again.
      const kind = this.events === 0 ? "TRUNCATE" : "PASSIVE";
      this.#database.exec(`PRAGMA wal_checkpoint(${kind})`);
      this.#hasUnsynced = false;
    } finally {
      if (this.#policy === "never") this.#database.exec("PRAGMA synchronous = OFF");
    }
  }

  /** Returns a function that tells whether everything that is in the file now is settled. */
  mark(): () => boolean {
    const before = this.#end;
    return () => this.#isSettled(before);
  }

  #isSettled(before: number): boolean {
    if (this.events === 0) return true;
    const rows = this.#database.prepare("SELECT id FROM event WHERE id < ? LIMIT ?");
    return rows.all(before, this.#settled.size + 1).every(({ id }) => this.#settled.has(Number(id)));
  }

  /** Moves all entries of another file to the end of this one. */
  absorb(other: OutboxFile): void {
    const first = this.#end;
    this.#inTransaction(() => {
      this.#end = first;
      for (const { text, capturedMs, attempts, sentMs } of other.#rows())
        this.#insert.run(this.#end++, text, capturedMs, attempts, sentMs ?? capturedMs);
    });
    this.events += other.events;
    this.bytes += other.bytes;
    [other.events, other.bytes] = [0, 0];
    quietly(() => other.#database.exec("DELETE FROM event"));
  }

  /** All entries, which are settled thereby. */
  empty(): readonly Row[] {
    const rows = [...this.#rows()];
    this.settle(rows);
    return rows;
  }

  /** Removes the file if nothing is left in it. */
  close(): void {
    quietly(() => this.#deleteSettled());
    const { isDone } = this;
    // Another client may get the lock before the file is removed.
    quietly(() => (isDone ? this.#database.exec(`PRAGMA user_version = ${REMOVED}`) : this.#checkpoint()));
    if (isDone) removeFiles(this.path);
    quietly(() => this.#database.close());
    // Windows does not remove an open file.
    if (isDone) removeFiles(this.path);
  }

  /** Nothing waits in it, and it has no dead letters. */
  get isDone(): boolean {
    if (this.events > 0) return false;
    try {
      return this.#database.prepare("SELECT 1 FROM dead_letter LIMIT 1").get() === undefined;
    } catch {
      return false;
    }
  }

  /** Closes a damaged file, whose entries are lost. */
  abandon(): void {
    [this.events, this.bytes] = [0, 0];
    quietly(() => this.#database.close());
  }
}
