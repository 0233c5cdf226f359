/**
 * Which sequences recent message ids have, so that a retry is known before it is sent: one duplicate in an atomic batch makes the broker
 * refuse it whole (error 10201). A shortcut only: what is not here the broker knows. An id is forgotten here when the broker forgets it.
 * Remembering is done per commit and costs nothing per id; ids are put into an index when somebody asks, which only duplicates make necessary
 * (a map kept at all times cost a sixth of the CPU time of a batch, measured).
 */
import { DUPLICATE_WINDOW_MS, RECENT_IDS_MAX } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";

export interface RecentIds {
  /** Ids of one commit, whose sequences count up from `first`. */
  remember(messageIds: readonly string[], first: Sequence): void;
  sequenceOf(messageId: string): Sequence | undefined;
  forgetAll(): void;
}

/** What was remembered from one time on. */
interface Generation {
  readonly since: number;
  /** Not in the index yet. */
  waiting: { readonly messageIds: readonly string[]; readonly first: Sequence }[];
  readonly index: Map<string, Sequence>;
  ids: number;
}

const generation = (since: number): Generation => ({ since, waiting: [], index: new Map(), ids: 0 });

/**
 * `elapsedMs`: a clock that never goes back. Two generations, the older of which is forgotten when the window has passed since it began, so that
 * nothing is remembered longer than the broker does, and no entry needs a time of its own.
 */
export const createRecentIds = (elapsedMs: () => number): RecentIds => {
  let young = generation(elapsedMs());
  let old = generation(elapsedMs());
  const turn = (): void => {
    const now = elapsedMs();
    if (now - young.since >= DUPLICATE_WINDOW_MS / 2 || young.ids >= RECENT_IDS_MAX / 2) {
      old = young;
      young = generation(now);
    }
    if (now - old.since >= DUPLICATE_WINDOW_MS) old = generation(now);
  };
  return {
    remember: (messageIds, first) => {
      turn();
      young.waiting.push({ messageIds, first });
      young.ids += messageIds.length;
    },
    sequenceOf: (messageId) => {
      turn();
      return find(young, messageId) ?? find(old, messageId);
    },
    forgetAll: () => {
      young = generation(elapsedMs());
      old = generation(elapsedMs());
    },
  };
};

const find = (from: Generation, messageId: string): Sequence | undefined => {
  for (const { messageIds, first } of from.waiting) {
    for (const [index, id] of messageIds.entries()) from.index.set(id, first + index);
  }
  from.waiting = [];
  return from.index.get(messageId);
};
