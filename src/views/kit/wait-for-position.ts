/** Waiting until a view has taken a record, and reading it in one state. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sequence } from "../../log/outcome.ts";
import { VIEW_REVISIONS, type ViewStore } from "../store/view-store.ts";
import { VIEW_LOOK_MS_MAX, VIEW_POSITION_POLL_MS } from "./limits.ts";

export interface PositionWait {
  readonly views: Pick<ViewStore, "position">;
  readonly projection: string;
  readonly sequence: Sequence;
  readonly timeoutMs: number;
}

/**
 * Waits up to `timeoutMs` and returns whether the view has seen `sequence`. Asks the store and not a runner, because the runner may be in another
 * process.
 */
export const waitForPosition = async ({
  views,
  projection,
  sequence,
  timeoutMs,
}: PositionWait): Promise<boolean> =>
  // Most reads need not wait, and are not delayed until the next look of those that do.
  (await views.position(projection)) >= sequence ||
  (await watchOf(views, projection).beyond(sequence - 1, { timeoutMs })) !== undefined;

const watchOf = (views: PositionWait["views"], projection: string): PositionWatch => {
  const ofStore = watches.get(views) ?? new Map<string, PositionWatch>();
  watches.set(views, ofStore);
  const watch =
    ofStore.get(projection) ?? createPositionWatch({ views, projection, pollMs: VIEW_POSITION_POLL_MS });
  ofStore.set(projection, watch);
  return watch;
};

/** All who wait for a view share one look: 500 reads that each looked for themselves took half of a core (measured). */
const watches = new WeakMap<PositionWait["views"], Map<string, PositionWatch>>();

/** Tells many readers at once that a view has advanced, with one read of its position for all of them. */
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

/**
 * The result of `ask` for views that have reached the requested position; undefined if they have not. A view that was rebuilt may replace the old
 * one from some records further back, between the check of its position and the read of its rows, and may have caught up by the next check: then it
 * is asked again.
 */
export const inOneRevision = async <Answer>(
  reading: {
    readonly views: Pick<ViewStore, "load">;
    readonly projections: readonly string[];
    readonly hasReached: () => Promise<boolean>;
  },
  ask: () => Promise<Answer>,
  /** Called with a result that is not used. */
  drop: (unused: Answer) => void = () => {},
): Promise<Answer | undefined> => {
  const { views, projections, hasReached } = reading;
  const keys = projections.map((name) => ({ name }));
  const revisions = async (): Promise<ReadonlySet<string>> =>
    new Set((await views.load(VIEW_REVISIONS, keys)).map((row) => JSON.stringify(row)));
  let before = await revisions();
  for (;;) {
    if (!(await hasReached())) return undefined;
    const answer = await ask();
    const now = await revisions();
    if (now.symmetricDifference(before).size === 0) return answer;
    drop(answer);
    before = now;
  }
};
