/** Waits for a condition instead of sleeping. The error names the condition that was never met. */
import { setTimeout as delay } from "node:timers/promises";
import { WAIT_MS_MAX } from "./time-limits.ts";

/** Checks often at first and less often later: checks take time from other tests, and a long wait may well be a tenth longer. */
const POLL_MS_MIN = 3;
const POLL_MS_MAX = 50;
const POLL_SHARE = 0.1;

/** Returns the result of `condition` as soon as it is neither undefined nor false. An error of the condition is thrown at once. */
export const until = async <Value>(
  what: string,
  condition: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> => {
  const beganAt = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waitedMs = performance.now() - beganAt;
    if (waitedMs > WAIT_MS_MAX) throw new Error(`waited ${WAIT_MS_MAX} ms in vain until ${what}`);
    await delay(Math.min(Math.max(waitedMs * POLL_SHARE, POLL_MS_MIN), POLL_MS_MAX));
  }
};
