/** Whether to report a text: not if it was reported within the last minute, for example by a caller that retries five times a second. */
export const createRepeatFilter = (elapsedMs: () => number): ((text: string) => boolean) => {
  const toldAtMs = new Map<string, number>();
  return (text) => {
    const nowMs = elapsedMs();
    const before = toldAtMs.get(text);
    if (before !== undefined && nowMs - before < TOLD_AGAIN_MS) return false;
    // A text may differ each time, for example by a subject with names in it.
    if (toldAtMs.size >= TEXTS_MAX) toldAtMs.clear();
    toldAtMs.set(text, nowMs);
    return true;
  };
};

const TOLD_AGAIN_MS = 60_000;
const TEXTS_MAX = 100;
