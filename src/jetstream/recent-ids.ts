/**
 * Which sequences recent message ids have, so that a retry is known before it is sent: one duplicate in an atomic batch makes the broker
 * refuse it whole (error 10201). A shortcut only: what is not here the broker knows. An id is forgotten here when the broker forgets it.
 */
import { DUPLICATE_WINDOW_MS, RECENT_IDS_MAX } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";

export interface RecentIds {
  sequenceOf(messageId: string): Sequence | undefined;
  remember(messageId: string, sequence: Sequence): void;
}

/** `elapsedMs`: a clock that never goes back. */
export const createRecentIds = (elapsedMs: () => number): RecentIds => {
  // Two generations: when the young one is full the old one goes. Finding and remembering stay O(1), without a timer.
  let young = new Map<string, Remembered>();
  let old = new Map<string, Remembered>();
  return {
    sequenceOf: (messageId) => {
      const found = young.get(messageId) ?? old.get(messageId);
      return found && elapsedMs() - found.at < DUPLICATE_WINDOW_MS ? found.sequence : undefined;
    },
    remember: (messageId, sequence) => {
      if (young.size >= RECENT_IDS_MAX / 2) [young, old] = [new Map(), young];
      young.set(messageId, { sequence, at: elapsedMs() });
    },
  };
};

interface Remembered {
  readonly sequence: Sequence;
  readonly at: number;
}
