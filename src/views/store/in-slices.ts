import { setImmediate as otherWork } from "node:timers/promises";
import { VIEW_WRITE_SLICE_MS_MAX } from "../../limits.ts";

/** Does all of the work in order, but lets requests be answered in between: a group of 1000 records takes tens of milliseconds. */
export const inSlices = async <Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> => {
  let sliceEndMs = performance.now() + VIEW_WRITE_SLICE_MS_MAX;
  for (const item of items) {
    work(item);
    if (performance.now() < sliceEndMs) continue;
    await otherWork();
    sliceEndMs = performance.now() + VIEW_WRITE_SLICE_MS_MAX;
  }
};
