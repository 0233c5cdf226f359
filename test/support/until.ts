/** Waiting for a condition instead of sleeping. The error names what never came. */
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 15;
const TIMEOUT_MS_DEFAULT = 10_000;

/** What `condition` gives, as soon as that is neither undefined nor false. What it throws is passed on at once. */
export const until = async <Value>(
  what: string,
  condition: () => Promise<Value | undefined | false> | Value | undefined | false,
  { timeoutMs = TIMEOUT_MS_DEFAULT }: { readonly timeoutMs?: number } = {},
): Promise<Value> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await delay(POLL_MS);
  }
};
