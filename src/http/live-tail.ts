/** The pages of a live stream: what is stored after a sequence, as it comes, and a sign of life where nothing does. */
import type { EventWalk } from "../projections/events/walk.ts";
import type { PositionWatch } from "../projections/position-watch.ts";
import { streamKeepAlive, streamMessage, streamOpening } from "./event-stream.ts";

export const createLiveTail = (tail: {
  readonly walk: EventWalk;
  readonly watch: PositionWatch;
  readonly keepAliveMs: number;
  readonly isStillAllowed: () => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
}): { next(): Promise<string | undefined> } => {
  const { walk, watch, keepAliveMs, isStillAllowed, signal } = tail;
  let hasOpened = false;
  let keepAliveAt = performance.now() + keepAliveMs;

  const next = async (): Promise<string | undefined> => {
    if (!hasOpened) {
      hasOpened = true;
      return streamOpening(walk.position());
    }
    const timeoutMs = Math.max(0, keepAliveAt - performance.now());
    const end = await watch.beyond(walk.position(), { timeoutMs, signal });
    if (signal.aborted || !isStillAllowed()) return undefined;
    // Also where events come all the time but none that this reader asked for.
    if (end === undefined || performance.now() >= keepAliveAt) {
      keepAliveAt = performance.now() + keepAliveMs;
      return streamKeepAlive(walk.position());
    }
    const text = (await walk.next(end)).map(streamMessage).join("");
    if (text !== "") keepAliveAt = performance.now() + keepAliveMs;
    return text;
  };
  return { next };
};
