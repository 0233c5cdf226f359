/** Which fault comes when. It is pure: a seed replays the same schedule. */

export interface ScheduledFault<Kind extends string = string> {
  readonly kind: Kind;
  /** The time of undisturbed load before the fault. */
  readonly afterMs: number;
  /** How long the fault lasts, if it is one with a duration. */
  readonly lastsMs: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly faults: number;
  readonly calmMsMax: number;
  readonly lastsMsMax: number;
}

export const schedule = <Kind extends string>(
  kinds: readonly [Kind, ...Kind[]],
  { seed, faults, calmMsMax, lastsMsMax }: ScheduleOptions,
): readonly ScheduledFault<Kind>[] => {
  const random = createRandom(seed);
  return Array.from({ length: faults }, (_, index) => ({
    // Every kind is drawn once before any is drawn again.
    kind: kinds[index < kinds.length ? index : Math.floor(random() * kinds.length)] ?? kinds[0],
    afterMs: Math.round((0.2 + 0.8 * random()) * calmMsMax),
    lastsMs: Math.round((0.2 + 0.8 * random()) * lastsMsMax),
  }));
};

/** mulberry32: small, seeded, and good enough to draw faults. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
