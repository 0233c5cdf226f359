import pLimit from "p-limit";
import { TURNS_WAITING_MAX } from "../limits.ts";

/**
 * Runs work under one key without overlap: each starts when the one before it has ended, however it ended. If `waitingMax` already wait for
 * that key, the work is not started at all.
 */
export type KeyedMutex = <Result>(
  key: string,
  work: () => Promise<Result>,
  waitingMax?: number,
) => Promise<Result | TooManyWaiting>;

/** The work was not started. */
export interface TooManyWaiting {
  readonly kind: "overloaded";
}

export const createKeyedMutex = (): KeyedMutex => {
  const queues = new Map<string, { readonly inTurn: ReturnType<typeof pLimit>; open: number }>();
  return async (key, work, waitingMax = TURNS_WAITING_MAX) => {
    const queue = queues.get(key) ?? { inTurn: pLimit(1), open: 0 };
    // One of them is running and does not wait.
    if (queue.open > waitingMax) return { kind: "overloaded" };
    queues.set(key, queue);
    queue.open++;
    try {
      return await queue.inTurn(work);
    } finally {
      queue.open--;
      if (queue.open === 0) queues.delete(key);
    }
  };
};
