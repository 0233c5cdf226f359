/** An outbox that ends with the process: for programs without a disk, and for entries that a disk does not accept. */
import { RESENT_AFTER_MS } from "./limits.ts";
import { type Moment, mayBeOlderThan, thisMoment } from "./moment.ts";
import type { Appended, Outbox, Postponed, Synced, TakeLimits, Taken } from "./outbox.ts";

export const createMemoryOutbox = (options: { readonly bytesMax: number }): Outbox =>
  new MemoryOutbox(options);

interface Entry {
  readonly position: number;
  readonly bytes: Uint8Array;
  firstAttempt: Moment | undefined;
  postponed: Postponed | undefined;
  isSuspect: boolean;
}

class MemoryOutbox implements Outbox {
  readonly #bytesMax: number;
  /** In the order of their positions. */
  readonly #entries = new Map<number, Entry>();
  #bytes = 0;
  /** Position of the next entry. */
  #end = 0;

  constructor({ bytesMax }: { readonly bytesMax: number }) {
    this.#bytesMax = bytesMax;
  }

  append(entry: Uint8Array): Appended {
    if (this.#bytes + entry.length > this.#bytesMax) return { kind: "full" };
    const position = this.#end++;
    this.#entries.set(position, {
      position,
      bytes: entry.slice(),
      firstAttempt: undefined,
      postponed: undefined,
      isSuspect: false,
    });
    this.#bytes += entry.length;
    return { kind: "kept" };
  }

  async take(limits: TakeLimits): Promise<Taken | undefined> {
    const others = this.#choose(limits, false);
    const isSuspect = others.length === 0;
    const chosen = isSuspect ? this.#choose(limits, true) : others;
    if (chosen.length === 0) return undefined;
    const mayBeResent = chosen.some(mayBeForgotten);
    for (const entry of chosen) entry.firstAttempt ??= thisMoment();
    const at = (positions: readonly number[]) => positions.flatMap((position) => chosen[position] ?? []);
    return {
      entries: chosen.map(({ bytes }) => bytes),
      mayBeResent,
      isSuspect,
      settle: (positions) => {
        for (const entry of at(positions)) this.#settle(entry);
      },
      postpone: (positions, until) => {
        for (const entry of at(positions)) {
          entry.postponed = until;
          if (until.isSuspect) entry.isSuspect = true;
        }
      },
    };
  }

  /** The entries that are due, oldest first. */
  #choose(limits: TakeLimits, isSuspect: boolean): readonly Entry[] {
    const now = performance.now();
    const chosen: Entry[] = [];
    let size = 0;
    for (const entry of this.#entries.values()) {
      if (entry.isSuspect !== isSuspect || (entry.postponed && entry.postponed.dueMs > now)) continue;
      const isTooMuch = chosen.length > 0 && size + entry.bytes.length > limits.bytes;
      if (chosen.length >= limits.events || isTooMuch) break;
      chosen.push(entry);
      size += entry.bytes.length;
    }
    return chosen;
  }

  #settle({ position, bytes }: Entry): void {
    if (this.#entries.delete(position)) this.#bytes -= bytes.length;
  }

  async sync(): Promise<Synced> {
    return { kind: "failed", reason: "The outbox is in memory: its events end with the process." };
  }

  get pending() {
    return { events: this.#entries.size, bytes: this.#bytes };
  }

  mark(): () => boolean {
    const before = this.#end;
    return () => {
      for (const position of this.#entries.keys()) return position >= before;
      return true;
    };
  }

  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { postponed } of this.#entries.values())
      if (postponed && postponed.dueMs < (next ?? Infinity)) next = postponed.dueMs;
    return next;
  }

  hasten(): void {
    for (const entry of this.#entries.values()) if (!entry.postponed?.isFirm) entry.postponed = undefined;
  }

  /** No other client can leave entries here. */
  onArrival(): void {}

  async release(): Promise<void> {}

  empty(): readonly Uint8Array[] {
    const all = [...this.#entries.values()].map(({ bytes }) => bytes);
    this.#entries.clear();
    this.#bytes = 0;
    return all;
  }

  async close(): Promise<readonly Uint8Array[]> {
    return this.empty();
  }
}

/** Whether an attempt may be older than the broker is sure to remember. */
const mayBeForgotten = ({ firstAttempt }: Entry): boolean =>
  firstAttempt !== undefined && mayBeOlderThan(firstAttempt, RESENT_AFTER_MS);
