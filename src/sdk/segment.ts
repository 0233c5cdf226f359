/** One file of the outbox, `<owner>.<id>.events`. Beside it `.settled` lists which of its entries have an outcome. Entries are counted from 0. */
import { appendFileSync } from "node:fs";
import { type FileHandle, open, readFile, unlink } from "node:fs/promises";
import { type Frame, frameLengths, readFrames } from "./frame.ts";
import { EVENT_BYTES_MAX, RESENT_AFTER_MS } from "./limits.ts";
import { type Moment, mayBeOlderThan, thisMoment } from "./moment.ts";
import type { Postponed, TakeLimits } from "./outbox.ts";
import { timeOfUuid7 } from "./uuid.ts";

export const EVENTS_SUFFIX = ".events";
export const SETTLED_SUFFIX = ".settled";

export interface Chosen {
  readonly index: number;
  /** Length of its frame, in bytes. */
  readonly length: number;
  readonly entry: Uint8Array;
}

type Placed = Omit<Chosen, "entry">;

/** The place of an entry. */
export interface Place {
  readonly index: number;
  readonly offset: number;
}

/** Consecutive entries of a segment. */
export interface Range {
  readonly from: Place;
  /** The place behind the last entry. */
  readonly to: Place;
}

/** What to do with entries that are not in the file as they were written. */
export interface Damage {
  readonly onUnreadable: (bytes: Uint8Array) => void;
  /**
   * The file is shorter than what was written: it was truncated, and this many entries are lost. Further entries would not be where they are looked
   * for.
   */
  readonly onCut: (events: number) => void;
}

export class Segment {
  #path: string;
  /** Bytes and entries that were written. */
  size = 0;
  entries = 0;
  /** It belongs to another client now, or was lost. */
  isGone = false;
  /** Its entries are lost, which has been reported. */
  isLost = false;
  /** Why some of its bytes may never reach the disk; undefined if nothing says so. */
  unsynced: string | undefined;
  /** The head: the first entry without an outcome. */
  #headOffset = 0;
  #headIndex = 0;
  /** Settled entries behind the head: index to length of the frame. */
  readonly #settled = new Map<number, number>();
  readonly #postponed = new Map<number, Postponed>();
  readonly #suspects = new Set<number>();
  /** When one of the entries before `#attemptedUpTo` was first sent. */
  #attempted: Moment | undefined;
  #attemptedUpTo = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The path without a suffix. */
  get path(): string {
    return this.#path;
  }

  /** When the segment was made, by its id, in milliseconds since 1970. */
  get madeMs(): number {
    return timeOfUuid7(this.#path.slice(this.#path.lastIndexOf(".") + 1));
  }

  /** Reads a segment that another client left. Its entries may have been sent at any time since the segment was made, by its id. */
  static async read(path: string, id: string): Promise<Segment> {
    const segment = new Segment(path);
    const lengths = frameLengths(await readFile(path + EVENTS_SUFFIX));
    segment.entries = lengths.length;
    for (const length of lengths) segment.size += length;
    segment.#attempted = { wallMs: timeOfUuid7(id), steadyMs: undefined };
    segment.#attemptedUpTo = lengths.length;
    for (const index of indexesIn(await readFile(path + SETTLED_SUFFIX, "utf8").catch(() => ""))) {
      const length = lengths[index];
      if (length !== undefined) segment.#settled.set(index, length);
    }
    segment.#advance();
    return segment;
  }

  /** The number of entries without an outcome. */
  get left(): number {
    return this.entries - this.#headIndex - this.#settled.size;
  }

  get leftBytes(): number {
    return this.size - this.#headOffset;
  }

  /** Whether the first `entries` entries have an outcome. It never becomes true for a segment that another client took over. */
  isSettled(entries: number): boolean {
    return this.isLost || this.#headIndex >= entries;
  }

  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#postponed.values()) if (dueMs < (next ?? Infinity)) next = dueMs;
    return next;
  }

  /** Whether an attempt may be older than the broker is sure to remember. */
  get mayBeResent(): boolean {
    if (this.#attemptedUpTo <= this.#headIndex || !this.#attempted) return false;
    return mayBeOlderThan(this.#attempted, RESENT_AFTER_MS);
  }

  /** The whole segment. */
  get range(): Range {
    return { from: { index: 0, offset: 0 }, to: this.end };
  }

  /** The place of the next entry. */
  get end(): Place {
    return { index: this.entries, offset: this.size };
  }

  /**
   * Whether an entry in `range` is due and has no outcome. Asked before the file is opened: with very many waiting entries, each file would otherwise
   * be read again and again.
   */
  hasDue({ from, to }: Range, isSuspect: boolean): boolean {
    const now = performance.now();
    for (let index = Math.max(from.index, this.#headIndex); index < to.index; index++)
      if (this.#suspects.has(index) === isSuspect && this.#isDue(index, now)) return true;
    return false;
  }

  #isDue(index: number, now: number): boolean {
    return !this.#settled.has(index) && (this.#postponed.get(index)?.dueMs ?? 0) <= now;
  }

  /**
   * The entries in `range` that are due and have no outcome, suspects or others, oldest first. Entries that cannot be read go to `damage` and are
   * settled.
   */
  async choose(
    limits: TakeLimits,
    damage: Damage,
    range = this.range,
    isSuspect = false,
  ): Promise<readonly Chosen[]> {
    const chosen: Chosen[] = [];
    const unreadable: Placed[] = [];
    let bytes = 0;
    const now = performance.now();
    for await (const { index, frame } of this.#frames(limits.bytes, damage, range)) {
      if (this.#suspects.has(index) !== isSuspect || !this.#isDue(index, now)) continue;
      const { entry, length } = frame;
      if (entry === undefined) {
        damage.onUnreadable(frame.bytes);
        unreadable.push({ index, length });
        continue;
      }
      if (chosen.length > 0 && bytes + entry.length > limits.bytes) break;
      chosen.push({ index, length, entry });
      bytes += entry.length;
      if (chosen.length === limits.events) break;
    }
    if (unreadable.length > 0) this.settle(unreadable);
    return chosen;
  }

  /** Notes that these entries are about to be sent. */
  attempt(chosen: readonly Placed[]): void {
    if (this.#attemptedUpTo <= this.#headIndex) this.#attempted = thisMoment();
    for (const { index } of chosen) this.#attemptedUpTo = Math.max(this.#attemptedUpTo, index + 1);
  }

  postpone(chosen: readonly Placed[], until: Postponed): void {
    for (const { index } of chosen) {
      this.#postponed.set(index, until);
      if (until.isSuspect) this.#suspects.add(index);
    }
  }

  hasten(): void {
    for (const [index, { isFirm }] of this.#postponed) if (!isFirm) this.#postponed.delete(index);
  }

  /** Settles these entries. When it returns, the operating system has the record of it: once per request, some 50 µs. */
  settle(chosen: readonly Placed[]): void {
    for (const { index, length } of chosen) {
      this.#settled.set(index, length);
      this.#postponed.delete(index);
      this.#suspects.delete(index);
    }
    this.#advance();
    this.#note(chosen.map(({ index }) => index));
  }

  #note(settled: readonly number[]): void {
    try {
      const lines = settled.map((index) => `${index}\n`).join("");
      appendFileSync(this.path + SETTLED_SUFFIX, CUT_OFF + lines, { mode: 0o600 });
    } catch {
      // A full disk must not stop delivery; the file is deleted when all of its entries are settled.
    }
  }

  /**
   * Removes the events file first: if only the settled file remains, it is just a list of numbers. Returns the whole content if the file has more
   * than was read, which means that its writer is alive. The writer finds later entries in a file that is removed.
   */
  async remove(): Promise<Uint8Array | undefined> {
    const file = await open(this.path + EVENTS_SUFFIX, "r").catch(() => undefined);
    try {
      await unlink(this.path + EVENTS_SUFFIX).catch(() => {});
      await unlink(this.path + SETTLED_SUFFIX).catch(() => {});
      if (file && (await file.stat()).size > this.size) return await file.readFile();
    } finally {
      await file?.close();
    }
    return undefined;
  }

  /**
   * Continues in another file, to which `bytes` were written: everything that the earlier file contained when this client or another removed it. Any
   * of these entries may have been sent since the segment was made.
   */
  moved(path: string, bytes: Uint8Array): void {
    this.#path = path;
    for (const length of frameLengths(bytes.subarray(this.size))) {
      this.entries++;
      this.size += length;
    }
    this.unsynced = undefined;
    this.#attempted = { wallMs: this.madeMs, steadyMs: undefined };
    this.#attemptedUpTo = this.entries;
    this.#note([...Array(this.#headIndex).keys(), ...this.#settled.keys()]);
  }

  #advance(): void {
    for (;;) {
      const length = this.#settled.get(this.#headIndex);
      if (length === undefined) return;
      this.#settled.delete(this.#headIndex);
      this.#headOffset += length;
      this.#headIndex++;
    }
  }

  /** Reads from the head or behind it, in pieces that hold a batch. */
  async *#frames(
    bytes: number,
    { onCut }: Damage,
    { from: begin, to }: Range,
  ): AsyncGenerator<{ readonly index: number; readonly frame: Frame }> {
    const size = to.offset;
    const head = { index: this.#headIndex, offset: this.#headOffset };
    let { index, offset } = begin.index > head.index ? begin : head;
    if (offset >= size) return;
    const file = await open(this.path + EVENTS_SUFFIX, "r");
    let pieceBytes = bytes + 2 * EVENT_BYTES_MAX;
    try {
      while (offset < size) {
        const wanted = Math.min(size - offset, pieceBytes);
        const piece = await readAt(file, offset, wanted);
        const isCut = piece.length < wanted;
        const from = offset;
        for (const frame of readFrames(piece, isCut || offset + wanted >= size)) {
          yield { index, frame };
          index++;
          offset += frame.length;
        }
        if (isCut) {
          const lost = this.#giveUp(index);
          if (lost > 0) onCut(lost);
          return;
        }
        // A longer line can only be damage.
        if (offset === from) pieceBytes *= 2;
      }
    } finally {
      await file.close();
    }
  }

  /** Settles all entries from this one on that have no outcome, and returns how many they were. */
  #giveUp(from: number): number {
    const lost: Placed[] = [];
    for (let index = from; index < this.entries; index++)
      if (!this.#settled.has(index)) lost.push({ index, length: 0 });
    if (lost.length > 0) this.settle(lost);
    return lost.length;
  }
}

/** Returns fewer bytes only at the end of the file. */
const readAt = async (file: FileHandle, offset: number, length: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
};

/**
 * A truncated line may name another entry than it meant to. So only whole lines of digits count; text appended to a truncated line makes the line
 * invalid.
 */
const CUT_OFF = "-\n";

const indexesIn = (text: string): readonly number[] =>
  text
    .split("\n")
    .slice(0, -1)
    .filter((line) => /^\d{1,9}$/.test(line))
    .map(Number);
