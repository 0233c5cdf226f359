/** Tells many readers at once that a view has advanced, with one read of its position for all of them. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sequence } from "../../log/outcome.ts";
import type { ViewStore } from "../store/view-store.ts";
import { VIEW_LOOK_MS_MAX } from "./limits.ts";

export interface PositionWatch {
  /** The position, once it is beyond `sequence`; undefined if the time is over or the signal is aborted before. Rejects if the database fails. */
  beyond(
    sequence: Sequence,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Sequence | undefined>;
}

interface Waiter {
  readonly sequence: Sequence;
  readonly settle: (position: Sequence | undefined) => void;
  readonly fail: (error: unknown) => void;
}

export const createPositionWatch = ({
  views,
  projection,
  pollMs,
}: {
  /** Asked instead of a runner, which may be in another process. */
  readonly views: Pick<ViewStore, "position">;
  readonly projection: string;
  /** How often the position is read while a reader waits. */
  readonly pollMs: number;
}): PositionWatch => {
  const waiters = new Set<Waiter>();
  let isLooking = false;

  const tell = async (asking: readonly Waiter[]): Promise<void> => {
    try {
      const position = await views.position(projection);
      for (const waiter of asking) if (position > waiter.sequence) waiter.settle(position);
    } catch (error) {
      for (const waiter of asking) waiter.fail(error);
    }
  };

  /**
   * Reads the position while a reader waits. A reader that comes during a read gets the result of the next one: its result, or its failure, is never
   * older than its question. A read that takes too long is not waited for: one of several connections to a database may have silently broken.
   */
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    let isAnswered = true;
    let askedAt = 0;
    while (waiters.size > 0) {
      if (isAnswered || performance.now() - askedAt >= VIEW_LOOK_MS_MAX) {
        isAnswered = false;
        askedAt = performance.now();
        void tell([...waiters]).then(() => {
          isAnswered = true;
        });
      }
      await delay(pollMs);
    }
    isLooking = false;
  };

  return {
    beyond: async (sequence, { timeoutMs, signal }) => {
      if (signal?.aborted) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<Sequence | undefined>();
      const giveUp = (): void => resolve(undefined);
      const waiter: Waiter = { sequence, settle: resolve, fail: reject };
      const timer = setTimeout(giveUp, timeoutMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      waiters.add(waiter);
      void look();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        waiters.delete(waiter);
      }
    },
  };
};
