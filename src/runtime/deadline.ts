/** Many waits of one length with one timer: a timer for each costs more than most of them take (measured). */
import { setTimeout } from "node:timers";

/** Begins a wait: `late` is called after `msMax`, unless the function that comes back is called before. */
export type Deadline = (late: () => void) => () => void;

export const createDeadline = (msMax: number): Deadline => {
  /** In the order in which they end. */
  const waits = new Set<{ readonly end: number; readonly late: () => void }>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    timer = undefined;
    for (const wait of waits) {
      const msLeft = wait.end - performance.now();
      if (msLeft > 0) {
        timer = setTimeout(look, msLeft).unref();
        return;
      }
      waits.delete(wait);
      wait.late();
    }
  };
  return (late) => {
    const wait = { end: performance.now() + msMax, late };
    waits.add(wait);
    if (timer === undefined) timer = setTimeout(look, msMax).unref();
    return () => void waits.delete(wait);
  };
};
