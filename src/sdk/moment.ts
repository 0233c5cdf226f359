/** When something was, by both clocks: the wall clock may be set, and the steady one may stand still while a machine sleeps. */
import { CLOCK_DRIFT_MS } from "./limits.ts";

export interface Moment {
  readonly wallMs: number;
  /** `performance.now()`; undefined where it was in another process. */
  readonly steadyMs: number | undefined;
}

export const thisMoment = (): Moment => ({ wallMs: Date.now(), steadyMs: performance.now() });

/** Whether it may be longer ago than that. Where the wall clock was set back since, neither clock can deny it. */
export const mayBeOlderThan = ({ wallMs, steadyMs }: Moment, ms: number): boolean => {
  const wallAgeMs = Date.now() - wallMs;
  if (steadyMs === undefined) return wallAgeMs < 0 || wallAgeMs > ms;
  const steadyAgeMs = performance.now() - steadyMs;
  return Math.max(wallAgeMs, steadyAgeMs) > ms || wallAgeMs < steadyAgeMs - CLOCK_DRIFT_MS;
};

/** Whether one of the clocks was set since, or stood still, by more than that. */
export const haveClocksParted = ({ wallMs, steadyMs }: Moment, ms: number): boolean =>
  steadyMs !== undefined && Math.abs(Date.now() - wallMs - (performance.now() - steadyMs)) > ms;
