/**
 * Sequences of recent message ids: one duplicate in an atomic batch makes the broker refuse all of it (error 10201). Only a shortcut: the broker
 * knows ids that are not here. Ids are indexed only when somebody asks, which only duplicates cause (an index kept at all times cost a sixth of the
 * CPU time of a batch, measured).
 */
import { DUPLICATE_WINDOW_MS, RECENT_IDS_MAX } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";

interface RecentIds {
  /** Ids of one commit, whose sequences count up from `first`. */
  remember(messageIds: readonly string[], first: Sequence): void;
  sequenceOf(messageId: string): Sequence | undefined;
  forgetAll(): void;
}

interface Generation {
  readonly since: number;
  waiting: { readonly messageIds: readonly string[]; readonly first: Sequence }[];
  readonly index: Map<string, Sequence>;
  ids: number;
}

const generation = (since: number): Generation => ({ since, waiting: [], index: new Map(), ids: 0 });

/** `elapsedMs`: a clock that never goes back. Two generations: the older one is forgotten a window after it began, so no entry needs a time. */
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
