/** Work that runs beside the requests until the service stops. */
import { setTimeout as delay } from "node:timers/promises";

/** `run` ends when its signal is aborted, and never rejects. */
export const inBackground = (run: (signal: AbortSignal) => Promise<void>): AsyncDisposable => {
  const stopping = new AbortController();
  const running = run(stopping.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** Ends at once when the signal is aborted. Never rejects. */
export const pause = (durationMs: number, signal: AbortSignal): Promise<void> =>
  delay(durationMs, undefined, { signal }).catch(() => undefined);
