/** Waiting for a condition instead of sleeping. The error names what never came. */
import { setTimeout as delay } from "node:timers/promises";

/** Asked often at first and seldom later: asking takes time from other tests, and nobody sees a tenth more of a long wait. */
const POLL_MS_MIN = 3;
const POLL_MS_MAX = 50;
const POLL_SHARE = 0.1;
/** Below the 30 s that a test has, so that it is told what it waited for; no promise, and on a busy machine 10 s were too little for those who do much. */
const TIMEOUT_MS_DEFAULT = 20_000;

/** What `condition` gives, as soon as that is neither undefined nor false. What it throws is passed on at once. */
export const until = async <Value>(
  what: string,
  condition: () => Promise<Value | undefined | false> | Value | undefined | false,
  { timeoutMs = TIMEOUT_MS_DEFAULT }: { readonly timeoutMs?: number } = {},
): Promise<Value> => {
  const beganAt = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const waitedMs = performance.now() - beganAt;
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await delay(Math.min(Math.max(waitedMs * POLL_SHARE, POLL_MS_MIN), POLL_MS_MAX));
  }
};
