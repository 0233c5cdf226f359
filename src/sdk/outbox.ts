/**
 * Events that wait to be delivered. An entry is the JSON text of one event. It leaves the outbox only when it is settled, which means that its own
 * outcome is known: stored, or rejected and kept as a dead letter.
 */
import type { RejectedEvent } from "./reports.ts";

/**
 * When captured events are synced to the disk: before `capture()` returns, once a second, or when the operating system decides. In each case an event
 * survives the death of the process as soon as `capture()` has returned.
 */
export type SyncPolicy = "always" | "interval" | "never";

export type Appended =
  | { readonly kind: "kept" }
  /** The limit is reached: the new entry is not accepted, and the earlier ones stay. */
  | { readonly kind: "full" }
  /** The entry cannot be written. */
  | { readonly kind: "failed"; readonly reason: string };

export type Synced = { readonly kind: "synced" } | { readonly kind: "failed"; readonly reason: string };

/** Entries taken for sending, oldest first. They stay in the outbox. */
export interface Taken {
  readonly entries: readonly string[];
  /** Whether one of them may have been sent more than RESENT_AFTER_MS ago, by this process or one before. */
  readonly mayBeResent: boolean;
  /** By position in `entries`: their outcome is known, and they are never taken again. */
  settle(positions: readonly number[]): void;
  /** By position: they are not taken again before that time. The others go first. */
  postpone(positions: readonly number[], until: Postponed): void;
}

export interface Postponed {
  /** `performance.now()`. */
  readonly dueMs: number;
  /** Requests seem to fail because of their content. From then on they are taken only if nothing else is due, so that they delay no other events. */
  readonly isSuspect?: true;
}

export interface TakeLimits {
  readonly events: number;
  readonly bytes: number;
}

export type Kept =
  | { readonly kind: "kept" }
  | { readonly kind: "full" }
  | { readonly kind: "failed"; readonly reason: string };

export interface Outbox {
  /** `sinceMs`: it may have been sent since then (milliseconds since 1970); without it, it was never sent. */
  append(entry: string, sinceMs?: number): Appended;
  /** At least one entry if one is due, however large. Throws if the due entries cannot be read and no others are due. */
  take(limits: TakeLimits): Taken | undefined;
  /** Keeps rejected events as dead letters. */
  keepRejected(rejected: readonly RejectedEvent[]): Kept;
  /** Syncs everything appended before to the disk, or gives the reason why it is not there, such as an outbox without a disk. */
  sync(): Synced;
  /** Entries that are not settled yet. */
  readonly pending: { readonly events: number; readonly bytes: number };
  /** Returns a function that tells whether everything that was in the outbox at the call, also from clients that are dead, is settled. */
  mark(): () => boolean;
  /** When the next postponed entry is due (`performance.now()`); undefined if none is postponed. */
  readonly nextDueMs: number | undefined;
  /** Makes postponed entries due now. */
  hasten(): void;
  /** Registers a function to call whenever entries of a dead client were taken over. */
  onArrival(call: () => void): void;
  /**
   * Removes and returns all entries that would end with the process, oldest first, postponed or not. Entries in a folder stay there and are not among
   * them.
   */
  empty(): readonly string[];
  /** Releases all resources, and returns the same entries as `empty`. */
  close(): readonly string[];
}
