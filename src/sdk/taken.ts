/** What is taken from several segments at once, as one. */
import type { TakeLimits, Taken } from "./outbox.ts";
import type { Chosen, Segment } from "./segment.ts";

interface Part {
  readonly segment: Segment;
  readonly chosen: readonly Chosen[];
}

export class Gathering {
  /** It is of suspects, or of others. */
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

  /** What there is still room for. */
  get room(): TakeLimits {
    return { events: this.#limits.events - this.#events, bytes: this.#limits.bytes - this.#bytes };
  }

  /** Where one of a batch may have been sent before, all of them are looked up: those that were not do not wait for that. */
  suits(segment: Segment): boolean {
    const { events, bytes } = this.room;
    if (this.#parts.length === 0) return true;
    return events > 0 && bytes > 0 && segment.mayBeResent === this.#mayBeResent;
  }

  /** False where they are too large for what is there already: then they are not among it. */
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

  /** `settled` is told of each segment of which something has its outcome. */
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
