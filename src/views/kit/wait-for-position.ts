import type { Sequence } from "../../log/outcome.ts";
import type { ViewStore } from "../store/view-store.ts";
import { VIEW_POSITION_POLL_MS } from "./limits.ts";
import { createPositionWatch, type PositionWatch } from "./position-watch.ts";

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
