/** Which fault comes when. Pure: a seed replays the same schedule. */

export const FAULTS = ["kill_service", "kill_broker", "kill_both", "pause_broker"] as const;

export interface ScheduledFault {
  readonly kind: (typeof FAULTS)[number];
  /** Time of undisturbed load before it. */
  readonly afterMs: number;
  /** How long the broker stands still; only for `pause_broker`. */
  readonly pauseMs: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly faults: number;
  readonly calmMsMax: number;
  readonly pauseMsMax: number;
}

export const schedule = ({
  seed,
  faults,
  calmMsMax,
  pauseMsMax,
}: ScheduleOptions): readonly ScheduledFault[] => {
  const random = createRandom(seed);
  return Array.from({ length: faults }, (_, index) => ({
    // Each kind once before any is drawn again.
    kind: FAULTS[index < FAULTS.length ? index : Math.floor(random() * FAULTS.length)] ?? "kill_broker",
    afterMs: Math.round((0.2 + 0.8 * random()) * calmMsMax),
    pauseMs: Math.round((0.2 + 0.8 * random()) * pauseMsMax),
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
