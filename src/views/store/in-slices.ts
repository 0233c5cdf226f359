import { setImmediate as otherWork } from "node:timers/promises";
import { VIEW_WRITE_SLICE_MS_MAX } from "../../limits.ts";

/** Lets requests be answered between parts of long work: a group of 1000 records takes tens of milliseconds. */
export const createPauses = (): (() => Promise<void> | undefined) => {
  let endMs = performance.now() + VIEW_WRITE_SLICE_MS_MAX;
  return () => {
    if (performance.now() < endMs) return undefined;
    return otherWork().then(() => {
      endMs = performance.now() + VIEW_WRITE_SLICE_MS_MAX;
    });
  };
};

/** Does all of the work in order, with such pauses. */
export const inSlices = async <Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> => {
  const pause = createPauses();
  for (const item of items) {
    work(item);
    const paused = pause();
    if (paused) await paused;
  }
};
