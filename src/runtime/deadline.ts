/** Many waits of one length with one timer: a timer for each costs more than most of them take (measured). */
import { setTimeout } from "node:timers";

/** In a ring, in the order in which they end: a Set costs several times as much (measured), and every request has two waits. */
export class Wait {
  endMs = 0;
  late: (() => void) | undefined;
  before: Wait = this;
  after: Wait = this;

  /** May be called more than once. */
  end(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this.after = this;
  }
}

/** Begins a wait: `late` is called after `msMax`, unless it is ended before. */
export const createDeadline = (msMax: number): ((late: () => void) => Wait) => {
  const ring = new Wait();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    timer = undefined;
    for (let wait = ring.after; wait !== ring; wait = ring.after) {
      const msLeft = wait.endMs - performance.now();
      if (msLeft > 0) {
        timer = setTimeout(look, msLeft).unref();
        return;
      }
      wait.end();
      wait.late?.();
    }
  };
  return (late) => {
    const wait = new Wait();
    wait.endMs = performance.now() + msMax;
    wait.late = late;
    wait.before = ring.before;
    wait.after = ring;
    ring.before.after = wait;
    ring.before = wait;
    if (timer === undefined) timer = setTimeout(look, msMax).unref();
    return wait;
  };
};
