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
  let lookedAt = Number.NEGATIVE_INFINITY;
  let next: Promise<Sequence | undefined> | undefined;
  const read = (): Promise<Sequence | undefined> => {
    lookedAt = performance.now();
    // One of several connections to a database may have silently broken: then another look is taken.
    return Promise.race([views.position(projection), delay(VIEW_LOOK_MS_MAX, undefined, { ref: false })]);
  };
  /** One look for all who wait. Who comes during its read waits for another one, so that no result is older than its question. */
  const look = (): Promise<Sequence | undefined> => {
    const restMs = lookedAt + pollMs - performance.now();
    if (next === undefined && restMs <= 0) return read();
    next ??= delay(restMs).then(() => {
      next = undefined;
      return read();
    });
    return next;
  };
  return {
    beyond: async (sequence, { timeoutMs, signal }) => {
      let isOver = signal?.aborted === true;
      const { promise: over, resolve } = Promise.withResolvers<undefined>();
      const end = (): void => {
        isOver = true;
        resolve(undefined);
      };
      const timer = setTimeout(end, timeoutMs);
      signal?.addEventListener("abort", end, { once: true });
      try {
        while (!isOver) {
          const position = await Promise.race([over, look()]);
          if (position !== undefined && position > sequence) return position;
        }
        return undefined;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
      }
    },
  };
};
