import { setImmediate as otherWork } from "node:timers/promises";

/** Lets requests be answered between parts of long work. To be called after each part; a promise, to be awaited, only after each `turnMs`. */
export const createPauses = (turnMs: number): (() => Promise<void> | undefined) => {
  let endMs = performance.now() + turnMs;
  return () => {
    if (performance.now() < endMs) return undefined;
    return otherWork().then(() => {
      endMs = performance.now() + turnMs;
    });
  };
};
