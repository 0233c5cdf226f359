/** A point in time by two clocks: the wall clock may be set, and the steady clock may stand still while the machine sleeps. */
import { CLOCK_DRIFT_MS } from "./limits.ts";

export interface Moment {
  readonly wallMs: number;
  /** `performance.now()`; undefined if the moment was in another process. */
  readonly steadyMs: number | undefined;
}

export const thisMoment = (): Moment => ({ wallMs: Date.now(), steadyMs: performance.now() });

/** Whether the moment may be longer ago than `ms`. If the wall clock was set back since, neither clock can rule it out. */
export const mayBeOlderThan = ({ wallMs, steadyMs }: Moment, ms: number): boolean => {
  const wallAgeMs = Date.now() - wallMs;
  if (steadyMs === undefined) return wallAgeMs < 0 || wallAgeMs > ms;
  const steadyAgeMs = performance.now() - steadyMs;
  return Math.max(wallAgeMs, steadyAgeMs) > ms || wallAgeMs < steadyAgeMs - CLOCK_DRIFT_MS;
};
