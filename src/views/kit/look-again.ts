/** For workers that check whether there is something to do, and check again after a pause. */

import { createRepeatFilter } from "../../telemetry/repeat-filter.ts";

/**
 * Runs until the signal is aborted. Never rejects: a failed look is reported, and the next one comes as usual. While the broker is away
 * they fail for one reason, which would fill the log at the pace of the looks.
 */
export const lookAgain = async (worker: {
  readonly look: () => Promise<unknown>;
  readonly onFailed: (error: unknown) => void;
  readonly restMs: number;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
}): Promise<void> => {
  const { look, onFailed, restMs, pause, signal } = worker;
  const isNews = createRepeatFilter(() => performance.now());
  while (!signal.aborted) {
    try {
      await look();
    } catch (error) {
      if (isNews(String(error))) onFailed(error);
    }
    await pause(restMs, signal);
  }
};
