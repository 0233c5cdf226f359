/** Gathers entries of several segments into one batch. */
import type { TakeLimits, Taken } from "./outbox.ts";
import type { Chosen, Segment } from "./segment.ts";

interface Part {
  readonly segment: Segment;
  readonly chosen: readonly Chosen[];
}

export class Gathering {
  /** Whether it gathers suspects or other entries. */
  readonly isSuspect: boolean;
  readonly #limits: TakeLimits;
  readonly #parts: Part[] = [];
  #events = 0;
  #bytes = 0;
  #mayBeResent = false;

  constructor(limits: TakeLimits, isSuspect: boolean) {
    this.#limits = limits;
    this.isSuspect = isSuspect;
  }

  /** The room that is left. */
  get room(): TakeLimits {
    return { events: this.#limits.events - this.#events, bytes: this.#limits.bytes - this.#bytes };
  }

  /**
   * If one event of a batch may have been sent before, the service looks up all of them. So entries that were never sent are not mixed with those
   * that may have been.
   */
  suits(segment: Segment): boolean {
    const { events, bytes } = this.room;
    if (this.#parts.length === 0) return true;
    return events > 0 && bytes > 0 && segment.mayBeResent === this.#mayBeResent;
  }

  /** False if the entries are too large for the room that is left; then they are not added. */
  add(segment: Segment, chosen: readonly Chosen[]): boolean {
    const bytes = chosen.reduce((sum, { entry }) => sum + entry.length, 0);
    if (this.#parts.length > 0 && bytes > this.room.bytes) return false;
    if (chosen.length === 0) return true;
    if (this.#parts.length === 0) this.#mayBeResent = segment.mayBeResent;
    segment.attempt(chosen);
    this.#parts.push({ segment, chosen });
    this.#events += chosen.length;
    this.#bytes += bytes;
    return true;
  }

  /** `settled` is called for each segment of which entries were settled. */
  taken(settled: (segment: Segment) => void): Taken | undefined {
    const parts = this.#parts;
    if (parts.length === 0) return undefined;
    const placed = parts.flatMap((part) => part.chosen.map((chosen) => ({ part, chosen })));
    const each = (
      positions: readonly number[],
      use: (segment: Segment, chosen: readonly Chosen[]) => void,
    ): void => {
      const chosen = new Map<Part, Chosen[]>(parts.map((part) => [part, []]));
      for (const position of positions) {
        const at = placed[position];
        if (at) chosen.get(at.part)?.push(at.chosen);
      }
      for (const [{ segment }, some] of chosen) if (some.length > 0) use(segment, some);
    };
    return {
      entries: placed.map(({ chosen }) => chosen.entry),
      mayBeResent: this.#mayBeResent,
      isSuspect: this.isSuspect,
      settle: (positions) =>
        each(positions, (segment, some) => {
          segment.settle(some);
          settled(segment);
        }),
      postpone: (positions, until) => each(positions, (segment, some) => segment.postpone(some, until)),
    };
  }
}
