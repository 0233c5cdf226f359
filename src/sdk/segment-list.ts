/** The segments of an outbox, and what is said of all of them. */
import type { Segment } from "./segment.ts";

export class SegmentList {
  /** Of clients that are dead; they go first, because they are older. */
  readonly #adopted = new Set<Segment>();
  readonly #own = new Set<Segment>();

  /** What comes meanwhile may be among them, and what goes is not. */
  *[Symbol.iterator](): Generator<Segment> {
    yield* this.#adopted;
    yield* this.#own;
  }

  has(segment: Segment): boolean {
    return this.#own.has(segment) || this.#adopted.has(segment);
  }

  get own(): Iterable<Segment> {
    return this.#own;
  }

  addOwn(segment: Segment): void {
    this.#own.add(segment);
  }

  addAdopted(segment: Segment): void {
    this.#adopted.add(segment);
  }

  isAdopted(segment: Segment): boolean {
    return this.#adopted.has(segment);
  }

  delete(segment: Segment): void {
    this.#own.delete(segment);
    this.#adopted.delete(segment);
  }

  get pending(): { readonly events: number; readonly bytes: number } {
    let [events, bytes] = [0, 0];
    for (const segment of this) {
      events += segment.left;
      bytes += segment.leftBytes;
    }
    return { events, bytes };
  }

  /** Entries without an outcome in files that could not be synced, and why not. */
  get unsynced(): { readonly events: number; readonly reason: string | undefined } {
    const unsynced = [...this].filter(({ unsynced, left }) => unsynced !== undefined && left > 0);
    return { events: unsynced.reduce((sum, { left }) => sum + left, 0), reason: unsynced[0]?.unsynced };
  }

  get nextDueMs(): number | undefined {
    const times = [...this].flatMap(({ nextDueMs }) => nextDueMs ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  hasten(): void {
    for (const segment of this) segment.hasten();
  }

  /** Of what this client has written. */
  mark(): () => boolean {
    const marks = [...this.#own].map((segment) => ({ segment, entries: segment.entries }));
    return () => marks.every(({ segment, entries }) => segment.isSettled(entries));
  }
}
