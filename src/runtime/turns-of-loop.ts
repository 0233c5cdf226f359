import { setImmediate as otherWork } from "node:timers/promises";
import { createTurns, type Turns } from "./turns.ts";

/** Short work may share a turn of the event loop until this is spent: a turn for each of many small searches cost 15 % more CPU (measured). */
const SHARED_TURN_MS_MAX = 5;

/**
 * Runs work that seldom waits for anything: never two long ones in one turn of the event loop. Work that waits, as for another process, is not waited
 * for: the next begins a turn later.
 */
export const createTurnsOfLoop = (elapsedMs: () => number): Turns => {
  const inTurn = createTurns();
  let spentMs = 0;
  let running: Promise<void> | undefined;
  return async (work) => {
    const { result } = await inTurn(async () => {
      if (running) await Promise.race([running, otherWork()]);
      if (spentMs >= SHARED_TURN_MS_MAX) {
        await otherWork();
        spentMs = 0;
      }
      const beganMs = elapsedMs();
      const begun = work();
      const ending = (): void => {
        spentMs += elapsedMs() - beganMs;
        if (running === ended) running = undefined;
      };
      const ended = begun.then(ending, ending);
      running = ended;
      // In an object, because the turn ends when the work has begun.
      return { result: begun };
    });
    return result;
  };
};
