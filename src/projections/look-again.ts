/** For workers that check whether there is something to do, and check again after a pause. */

/** Runs until the signal is aborted. Never rejects: a failed look is reported, and the next one comes as usual. */
export const lookAgain = async (worker: {
  readonly look: () => Promise<unknown>;
  readonly onFailed: (error: unknown) => void;
  readonly restMs: number;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
}): Promise<void> => {
  const { look, onFailed, restMs, pause, signal } = worker;
  while (!signal.aborted) {
    try {
      await look();
    } catch (error) {
      onFailed(error);
    }
    await pause(restMs, signal);
  }
};
