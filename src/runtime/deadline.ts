/** Many waits of one length with one timer: a timer for each costs more than most of them take (measured). */
import { setTimeout } from "node:timers";

/** Linked in the order in which they end. A Set of them costs several times as much (measured), and every request has two. */
export interface Wait {
  readonly endMs: number;
  readonly late: () => void;
  before: Wait | undefined;
  after: Wait | undefined;
}

export const createDeadline = (msMax: number) => {
  let first: Wait | undefined;
  let last: Wait | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    timer = undefined;
    while (first) {
      const msLeft = first.endMs - performance.now();
      if (msLeft > 0) {
        timer = setTimeout(look, msLeft).unref();
        return;
      }
      const { late } = first;
      end(first);
      late();
    }
  };
  const end = (wait: Wait): void => {
    if (wait.before) wait.before.after = wait.after;
    else if (first === wait) first = wait.after;
    else return;
    if (wait.after) wait.after.before = wait.before;
    else last = wait.before;
    wait.before = wait.after = undefined;
  };
  return {
    /** `late` is called after `msMax`, unless the wait is ended before. */
    begin: (late: () => void): Wait => {
      const wait = { endMs: performance.now() + msMax, late, before: last, after: undefined };
      if (last) last.after = wait;
      else first = wait;
      last = wait;
      if (timer === undefined) timer = setTimeout(look, msMax).unref();
      return wait;
    },
    /** May be called more than once. */
    end,
  };
};
