/**
 * Which sequences recent message ids have, so that a retry is known before it is sent: one duplicate in an atomic batch makes the broker
 * refuse it whole (error 10201). A shortcut only: what is not here the broker knows. An id is forgotten here when the broker forgets it.
 */
import { DUPLICATE_WINDOW_MS, RECENT_IDS_MAX } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";

export interface RecentIds {
  /** Forgets what has become too old or too much. To be called once per commit. */
  turn(): void;
  sequenceOf(messageId: string): Sequence | undefined;
  remember(messageId: string, sequence: Sequence): void;
}

/**
 * `elapsedMs`: a clock that never goes back. Two generations of plain numbers: one lives for at most half of the window as the young and half as
 * the old one, so that nothing is remembered longer than the broker does, and no entry needs a time of its own.
 */
export const createRecentIds = (elapsedMs: () => number): RecentIds => {
  let young = new Map<string, Sequence>();
  let old = new Map<string, Sequence>();
  let youngSince = elapsedMs();
  const turn = (): void => {
    const now = elapsedMs();
    const age = now - youngSince;
    if (age < DUPLICATE_WINDOW_MS / 2 && young.size < RECENT_IDS_MAX / 2) return;
    old = age < DUPLICATE_WINDOW_MS ? young : new Map();
    young = new Map();
    youngSince = now;
  };
  return {
    turn,
    sequenceOf: (messageId) => young.get(messageId) ?? old.get(messageId),
    remember: (messageId, sequence) => void young.set(messageId, sequence),
  };
};
