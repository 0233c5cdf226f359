/** The pages of a live stream: new events after a sequence, and a keep-alive when there are none. */
import type { Sequence } from "../../log/outcome.ts";
import type { Stretch } from "../../views/events/stretch.ts";
import type { EventWalk } from "../../views/events/walk.ts";
import type { PositionWatch } from "../../views/kit/position-watch.ts";
import { streamKeepAlive, streamMessage, streamOpening } from "./event-stream.ts";

export const createLiveTail = (tail: {
  readonly walk: EventWalk;
  readonly watch: PositionWatch;
  /** Whether the stretch has no event of the tenant. */
  readonly isQuiet: (stretch: Stretch) => Promise<boolean>;
  readonly keepAliveMs: number;
  readonly isStillAllowed: () => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
}): { next(): Promise<string | undefined> } => {
  const { walk, watch, isQuiet, keepAliveMs, isStillAllowed, signal } = tail;
  let hasOpened = false;
  /** The last known position of the view. Events up to it are read without asking again. */
  let end: Sequence = 0;
  let keepAliveAt = performance.now() + keepAliveMs;

  const beyondEnd = async (): Promise<Sequence | undefined> => {
    const after = walk.position();
    const timeoutMs = Math.max(0, keepAliveAt - performance.now());
    const upTo = await watch.beyond(after, { timeoutMs, signal });
    if (upTo !== undefined && (await isQuiet({ after, upTo }))) walk.pass(upTo);
    return upTo;
  };
  const next = async (): Promise<string | undefined> => {
    if (!hasOpened) {
      hasOpened = true;
      return streamOpening(walk.position());
    }
    const seen = walk.position() < end ? end : await beyondEnd();
    if (signal.aborted || !isStillAllowed()) return undefined;
    // Also if events arrive all the time but none matches this reader's filters.
    if (seen === undefined || performance.now() >= keepAliveAt) {
      keepAliveAt = performance.now() + keepAliveMs;
      return streamKeepAlive(walk.position());
    }
    end = seen;
    const text = (await walk.next(end)).map(streamMessage).join("");
    if (text !== "") keepAliveAt = performance.now() + keepAliveMs;
    return text;
  };
  return { next };
};
