/** The segments of an outbox, and what is true of all of them together. */
import type { TakeLimits } from "./outbox.ts";
import type { Place, Range, Segment } from "./segment.ts";

/** Entries written to one segment before writing changed to another. */
interface Run {
  readonly segment: Segment;
  readonly from: Place;
  /** The next run of the same segment. */
  next: Run | undefined;
}

export interface Part {
  readonly segment: Segment;
  readonly range: Range;
}

export class SegmentList {
  /** Segments of dead clients; they go first, because they are older. */
  readonly #adopted = new Set<Segment>();
  readonly #own = new Set<Segment>();
  /** Runs of own segments, in the order of writing: two segments are written to alternately, and entries are sent in the order in which they came. */
  readonly #runs = new Set<Run>();
  readonly #lastRuns = new WeakMap<Segment, Run>();
  #writing: Segment | undefined;
  #bytes = 0;

  /** Bytes of all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Segments added while iterating may be included; removed ones are not. */
  *[Symbol.iterator](): Generator<Segment> {
    yield* this.#adopted;
    yield* this.#own;
  }

  get runs(): number {
    return this.#runs.size;
  }

  /** The next entry is written to this segment. */
  writeTo(segment: Segment): void {
    if (segment === this.#writing) return;
    this.#writing = segment;
    const run: Run = { segment, from: segment.end, next: undefined };
    const last = this.#lastRuns.get(segment);
    if (last) last.next = run;
    this.#lastRuns.set(segment, run);
    this.#runs.add(run);
  }

  /** This many bytes were written to one of the segments. */
  wrote(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The parts that contain due entries, suspects or others, oldest first. */
  *parts(isSuspect: boolean): Generator<Part> {
    for (const segment of this.#adopted)
      if (segment.hasDue(segment.range, isSuspect)) yield { segment, range: segment.range };
    for (const run of this.#runs) {
      const { segment, from, next } = run;
      const to = next?.from ?? segment.end;
      const isOver = segment !== this.#writing || next !== undefined;
      if (!this.#own.has(segment) || (isOver && segment.isSettled(to.index))) this.#runs.delete(run);
      else if (segment.hasDue({ from, to }, isSuspect)) yield { segment, range: { from, to } };
      // Entries that come while this part is read may be appended to it, and are older than those in later parts.
      if (!isOver) return;
    }
  }

  has(segment: Segment): boolean {
    return this.#own.has(segment) || this.#adopted.has(segment);
  }

  get own(): Iterable<Segment> {
    return this.#own;
  }

  addOwn(segment: Segment): void {
    this.#own.add(segment);
    this.#bytes += segment.size;
  }

  addAdopted(segment: Segment): void {
    this.#adopted.add(segment);
    this.#bytes += segment.size;
  }

  /** Whether the entries of dead clients found so far reach these limits. */
  hasAdopted({ events, bytes }: TakeLimits): boolean {
    let [eventsMissing, bytesMissing] = [events, bytes];
    for (const { left, leftBytes } of this.#adopted) {
      eventsMissing -= left;
      bytesMissing -= leftBytes;
      if (eventsMissing <= 0 || bytesMissing <= 0) return true;
    }
    return false;
  }

  isAdopted(segment: Segment): boolean {
    return this.#adopted.has(segment);
  }

  delete(segment: Segment): void {
    if (this.#own.delete(segment) || this.#adopted.delete(segment)) this.#bytes -= segment.size;
  }

  get pending(): { readonly events: number; readonly bytes: number } {
    let [events, bytes] = [0, 0];
    for (const segment of this) {
      events += segment.left;
      bytes += segment.leftBytes;
    }
    return { events, bytes };
  }

  /** The number of entries without an outcome in files that could not be synced, and the reason. */
  get unsynced(): { readonly events: number; readonly reason: string | undefined } {
    const unsynced = [...this].filter(({ unsynced, left }) => unsynced !== undefined && left > 0);
    return { events: unsynced.reduce((sum, { left }) => sum + left, 0), reason: unsynced[0]?.unsynced };
  }

  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { nextDueMs } of this)
      if (nextDueMs !== undefined && nextDueMs < (next ?? Infinity)) next = nextDueMs;
    return next;
  }

  hasten(): void {
    for (const segment of this) segment.hasten();
  }

  /** Marks what this client has written so far. */
  mark(): () => boolean {
    return marked(this.#own);
  }

  /** Marks what dead clients left, as far as it was found. */
  markAdopted(): () => boolean {
    return marked(this.#adopted);
  }
}

const marked = (segments: Iterable<Segment>): (() => boolean) => {
  const marks = [...segments].map((segment) => ({ segment, entries: segment.entries }));
  return () => marks.every(({ segment, entries }) => segment.isSettled(entries));
};
