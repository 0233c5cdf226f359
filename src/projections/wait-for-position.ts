import { setTimeout as delay } from "node:timers/promises";
import { VIEW_POSITION_POLL_MS } from "../limits.ts";
import type { Sequence } from "../log/outcome.ts";
import type { ViewStore } from "../views/view-store.ts";

export interface PositionWait {
  readonly views: Pick<ViewStore, "position">;
  readonly projection: string;
  readonly sequence: Sequence;
  readonly timeoutMs: number;
}

/**
 * Whether the view has seen `sequence`, waiting for it up to `timeoutMs`. Asks the store and not a runner, because the
 * runner may live in another process.
 */
export const waitForPosition = async (wait: PositionWait): Promise<boolean> => {
  const deadline = performance.now() + wait.timeoutMs;
  for (;;) {
    if ((await wait.views.position(wait.projection)) >= wait.sequence) return true;
    if (performance.now() >= deadline) return false;
    await delay(VIEW_POSITION_POLL_MS);
  }
};
