/**
 * Events that wait to be delivered. An entry is the text of one event. It leaves the outbox only when it is settled, which means that its own outcome
 * is known: stored, or rejected and kept as a dead letter.
 */
export type Appended =
  | { readonly kind: "kept" }
  /** The limit is reached: the new entry is not accepted, and the earlier ones stay. */
  | { readonly kind: "full" }
  /** The entry cannot be written. */
  | { readonly kind: "failed"; readonly reason: string };

export type Synced = { readonly kind: "synced" } | { readonly kind: "failed"; readonly reason: string };

/** Entries taken for sending, oldest first. They stay in the outbox. */
export interface Taken {
  readonly entries: readonly Uint8Array[];
  /** Whether one of them may have been sent more than RESENT_AFTER_MS ago, by this process or one before. */
  readonly mayBeResent: boolean;
  /**
   * They were set aside as suspects. Suspects are taken separately, and only if nothing else is due, so that new attempts at them delay no other
   * events.
   */
  readonly isSuspect: boolean;
  /** By position in `entries`: their outcome is known, and they are never taken again. */
  settle(positions: readonly number[]): void;
  /** By position: they are not taken again before that time. The others go first. */
  postpone(positions: readonly number[], until: Postponed): void;
}

export interface Postponed {
  /** `performance.now()`. */
  readonly dueMs: number;
  /** `hasten` does not change it. */
  readonly isFirm: boolean;
  /** Requests seem to fail because of their content. They stay suspects from then on. */
  readonly isSuspect?: true;
}

export interface TakeLimits {
  readonly events: number;
  readonly bytes: number;
}

export interface Outbox {
  /** Synchronous; the entry is copied. `sinceMs`: it may have been sent since then (milliseconds since 1970); without it, it was never sent. */
  append(entry: Uint8Array, sinceMs?: number): Appended;
  /** At least one entry if one is due, however large. Rejects if the due entries cannot be read and no others are due. */
  take(limits: TakeLimits): Promise<Taken | undefined>;
  /** Resolves when everything appended before is on the disk, or with the reason why it is not, such as an outbox without a disk. */
  sync(): Promise<Synced>;
  /** Entries that are not settled yet. */
  readonly pending: { readonly events: number; readonly bytes: number };
  /** Returns a function that tells whether everything that was in the outbox at the call, also from clients that are dead, is settled. */
  mark(): () => boolean;
  /** When the next postponed entry is due (`performance.now()`); undefined if none is postponed. */
  readonly nextDueMs: number | undefined;
  /** Makes postponed entries due now, except firmly postponed ones. */
  hasten(): void;
  /** Registers a function to call whenever entries of a dead client were taken over. */
  onArrival(call: () => void): void;
  /** Frees the disk space of settled entries. */
  release(): Promise<void>;
  /**
   * Removes and returns all entries that would end with the process, oldest first, postponed or not. Entries in a folder stay there and are not among
   * them.
   */
  empty(): readonly Uint8Array[];
  /** Releases all resources, and returns the same entries as `empty`. */
  close(): Promise<readonly Uint8Array[]>;
}
