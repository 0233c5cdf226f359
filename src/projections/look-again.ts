/** For workers that look whether there is something to do, and look again after a rest. */

/** Until the signal is aborted. Never rejects: a look that fails is told of, and the next one comes as if nothing had been. */
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
