/** One file of the outbox, `<owner>.<id>.events`, and beside it `.settled`: which of its entries have their outcome. Entries are counted from 0. */
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
  /** Of its frame, in bytes. */
  readonly length: number;
  readonly entry: Uint8Array;
}

type Placed = Omit<Chosen, "entry">;

/** Where an entry stands. */
export interface Place {
  readonly index: number;
  readonly offset: number;
}

/** Entries of a segment that follow each other. */
export interface Range {
  readonly from: Place;
  /** Behind the last one. */
  readonly to: Place;
}

/** What becomes of entries that are not in the file as they were written. */
export interface Damage {
  readonly onUnreadable: (bytes: Uint8Array) => void;
  /** The file ends before so many of them: somebody has cut it. What is written to it from now on stands elsewhere than it is looked for. */
  readonly onCut: (events: number) => void;
}

export class Segment {
  #path: string;
  /** Bytes and entries that were written. */
  size = 0;
  entries = 0;
  /** It is another client's now, or nobody's. */
  isGone = false;
  /** It is nobody's: its entries are lost, and that is told. */
  isLost = false;
  /** Why some of its bytes may never come to the disk; undefined where nothing says so. */
  unsynced: string | undefined;
  /** Where the first entry stands that has no outcome. */
  #headOffset = 0;
  #headIndex = 0;
  /** Behind the head: index to length of the frame. */
  readonly #settled = new Map<number, number>();
  readonly #postponed = new Map<number, Postponed>();
  readonly #suspects = new Set<number>();
  /** The first attempt at one of the entries before `#attemptedUpTo`. */
  #attempted: Moment | undefined;
  #attemptedUpTo = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Without a suffix. */
  get path(): string {
    return this.#path;
  }

  /** In milliseconds since 1970, as its id says. */
  get madeMs(): number {
    return timeOfUuid7(this.#path.slice(this.#path.lastIndexOf(".") + 1));
  }

  /** A segment that another client has left. Whatever is in it may have been sent since the segment was made, which its id says. */
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

  /** Entries without an outcome. */
  get left(): number {
    return this.entries - this.#headIndex - this.#settled.size;
  }

  get leftBytes(): number {
    return this.size - this.#headOffset;
  }

  /** Whether its first so many entries have their outcome. Of what is another client's now, nobody here learns it. */
  isSettled(entries: number): boolean {
    return this.isLost || this.#headIndex >= entries;
  }

  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#postponed.values()) if (dueMs < (next ?? Infinity)) next = dueMs;
    return next;
  }

  /** Whether an attempt may lie further back than the broker is sure to remember. */
  get mayBeResent(): boolean {
    if (this.#attemptedUpTo <= this.#headIndex || !this.#attempted) return false;
    return mayBeOlderThan(this.#attempted, RESENT_AFTER_MS);
  }

  /** All of it. */
  get range(): Range {
    return { from: { index: 0, offset: 0 }, to: this.end };
  }

  /** Where the next entry will stand. */
  get end(): Place {
    return { index: this.entries, offset: this.size };
  }

  /** Whether an entry in `range` is due and has no outcome. Asked before its file is opened: of very many that all wait, each would be read over and over. */
  hasDue({ from, to }: Range, isSuspect: boolean): boolean {
    const now = performance.now();
    for (let index = Math.max(from.index, this.#headIndex); index < to.index; index++)
      if (this.#suspects.has(index) === isSuspect && this.#isDue(index, now)) return true;
    return false;
  }

  #isDue(index: number, now: number): boolean {
    return !this.#settled.has(index) && (this.#postponed.get(index)?.dueMs ?? 0) <= now;
  }

  /** Entries in `range` that are due and have no outcome, suspects or others, oldest first. What cannot be read is handed to `damage`, and settled. */
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

  /** Says that these are about to be sent. */
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

  /** They have their outcome, and that is with the operating system when this returns: once per request, some 50 µs. */
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
      // A disk that is full keeps nobody from sending; the file is gone when all of its entries are settled.
    }
  }

  /**
   * The events first: what is left of a pair whose second half remains is only a list of numbers. Gives the whole file where there is more in it than
   * was read: whoever wrote it lives. What is written to it from now on, its writer finds in a file that is removed.
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
   * Stands in another file from now on, to which `bytes` were written: all that the one before had when it was removed, by us or by somebody else. Any
   * of its entries may have been sent since it was made.
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

  /** From the head or what is behind it, read in pieces that hold a batch. */
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
        // Only what is broken has a line longer than that.
        if (offset === from) pieceBytes *= 2;
      }
    } finally {
      await file.close();
    }
  }

  /** Settles what has no outcome from this entry on, and says how many that are. */
  #giveUp(from: number): number {
    const lost: Placed[] = [];
    for (let index = from; index < this.entries; index++)
      if (!this.#settled.has(index)) lost.push({ index, length: 0 });
    if (lost.length > 0) this.settle(lost);
    return lost.length;
  }
}

/** Fewer bytes only where the file ends. */
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

/** A line that was cut off may name another entry than it meant: only whole lines of digits count, and what is written behind one makes it none. */
const CUT_OFF = "-\n";

const indexesIn = (text: string): readonly number[] =>
  text
    .split("\n")
    .slice(0, -1)
    .filter((line) => /^\d{1,9}$/.test(line))
    .map(Number);
