import { TURNS_WAITING_MAX } from "../limits.ts";
import { createTurns, type Turns } from "./turns.ts";

/**
 * Runs work about one thing without overlap: each starts when the one before it about the same thing has ended, however it ended. If `waitingMax`
 * already wait for that thing, the work is not started at all.
 */
export type TurnsAbout = <Result>(
  thing: string,
  work: () => Promise<Result>,
  waitingMax?: number,
) => Promise<Result | TooManyWaiting>;

/** The work was not started. */
export interface TooManyWaiting {
  readonly kind: "overloaded";
}

export const createTurnsAbout = (): TurnsAbout => {
  const queues = new Map<string, { readonly inTurn: Turns; open: number }>();
  return async (thing, work, waitingMax = TURNS_WAITING_MAX) => {
    const queue = queues.get(thing) ?? { inTurn: createTurns(), open: 0 };
    // One of them is running and does not wait.
    if (queue.open > waitingMax) return { kind: "overloaded" };
    queues.set(thing, queue);
    queue.open++;
    try {
      return await queue.inTurn(work);
    } finally {
      queue.open--;
      if (queue.open === 0) queues.delete(thing);
    }
  };
};
