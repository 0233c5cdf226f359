/** Waiting until the views have seen a sequence, and taking turns for long answers. */
import { setImmediate as otherWork } from "node:timers/promises";
import pLimit from "p-limit";
import { MIN_SEQUENCE_WAIT_MS_MAX } from "../../limits.ts";
import { inOneRevision, waitForPosition } from "../../views/kit/wait-for-position.ts";
import type { ViewStore } from "../../views/store/view-store.ts";

export interface SequenceWait {
  readonly sequence: number;
  /** Deadline by `performance.now()`, also for waits on other things than the views. */
  readonly until: number;
}

export const sequenceWait = (sequence: number | undefined): SequenceWait | undefined =>
  sequence === undefined ? undefined : { sequence, until: performance.now() + MIN_SEQUENCE_WAIT_MS_MAX };

/** The result of `ask` once all these views have seen the sequence; undefined if they do not get there in time. */
export const onceSeen = async <Answer>(
  seeing: {
    readonly views: Pick<ViewStore, "position" | "load">;
    readonly projections: readonly string[];
    readonly awaited: SequenceWait | undefined;
  },
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> => {
  const { views, projections, awaited } = seeing;
  if (awaited === undefined) return ask();
  const hasReached = (): Promise<boolean> => haveSeenInTime(views, projections, awaited);
  return inOneRevision({ views, projections, hasReached }, ask);
};

/** Waits until all these views have seen `min_sequence`; false if they do not in time. */
export const haveSeenInTime = async (
  views: Pick<ViewStore, "position">,
  projections: readonly string[],
  awaited: SequenceWait | undefined,
): Promise<boolean> => {
  if (awaited === undefined) return true;
  const { sequence, until } = awaited;
  const timeoutMs = until - performance.now();
  const seen = await Promise.all(
    projections.map((projection) => waitForPosition({ views, projection, sequence, timeoutMs })),
  );
  return seen.every((each) => each);
};

/**
 * For answers of megabytes: builds one long answer in each turn of the event loop. SQLite returns rows without ever waiting, so all
 * answers requested at once would be built before anything else runs: sixty of one large case blocked everybody for 11 s (measured).
 */
export const inOwnTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  await nextTurn(() => otherWork());
  return work();
};

const nextTurn = pLimit(1);
