/**
 * What waits to be delivered. An entry is the text of one event; it leaves the outbox when it is settled, which means that its own outcome is known:
 * stored, or rejected and kept as a dead letter. Nothing else takes it out.
 */
export type Appended =
  | { readonly kind: "kept" }
  /** Its bound is reached: the new entry is not taken, those before it stay. */
  | { readonly kind: "full" }
  /** It cannot be written. */
  | { readonly kind: "failed"; readonly reason: string };

export type Synced = { readonly kind: "synced" } | { readonly kind: "failed"; readonly reason: string };

/** Entries in hand, oldest first. They stay in the outbox. */
export interface Taken {
  readonly entries: readonly Uint8Array[];
  /** Whether one of them may have been sent more than RESENT_AFTER_MS ago, in this life or in one before. */
  readonly mayBeResent: boolean;
  /** They have stood aside as suspects. Such ones are taken by themselves, and where nothing else is due: when they are tried again they hold up none but each other. */
  readonly isSuspect: boolean;
  /** By position in `entries`: their outcome is known, they are never given out again. */
  settle(positions: readonly number[]): void;
  /** By position: not to be given out before. The others go first. */
  postpone(positions: readonly number[], until: Postponed): void;
}

export interface Postponed {
  /** `performance.now()`. */
  readonly dueMs: number;
  /** `hasten` leaves it. */
  readonly isFirm: boolean;
  /** Requests fail for what they hold, as it seems. They remain suspects. */
  readonly isSuspect?: true;
}

export interface TakeLimits {
  readonly events: number;
  readonly bytes: number;
}

export interface Outbox {
  /** Synchronous, and the entry is copied. `sinceMs`: it may have been sent since then (milliseconds since 1970); without it, it was not. */
  append(entry: Uint8Array, sinceMs?: number): Appended;
  /** At least one entry where one is due, however large. Rejected where what is due cannot be read, and nothing else is. */
  take(limits: TakeLimits): Promise<Taken | undefined>;
  /** Resolves when everything appended before is on the disk, or with the reason why it is not: that there is none, for example. */
  sync(): Promise<Synced>;
  /** Not settled yet. */
  readonly pending: { readonly events: number; readonly bytes: number };
  /** Tells from then on whether everything that this client appended before the call is settled. */
  mark(): () => boolean;
  /** When the next postponed entry is due (`performance.now()`); undefined where none is postponed. */
  readonly nextDueMs: number | undefined;
  /** Postponed entries are due now, those that are firmly so excepted. */
  hasten(): void;
  /** Calls this whenever entries come in that another client has left. */
  onArrival(call: () => void): void;
  /** Gives back the room on the disk of what is settled. */
  release(): Promise<void>;
  /** Gives out everything that ends with the process, oldest first, postponed or not, and keeps nothing of it: what is in a folder stays there, and is none of it. */
  empty(): readonly Uint8Array[];
  /** Gives back what is held, and gives out what `empty` does. */
  close(): Promise<readonly Uint8Array[]>;
}
