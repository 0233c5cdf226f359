/** The pages of a live stream: what is stored after a sequence, as it comes, and a sign of life where nothing does. */
import type { Sequence } from "../log/outcome.ts";
import type { Stretch } from "../projections/events/stretch.ts";
import type { EventWalk } from "../projections/events/walk.ts";
import type { PositionWatch } from "../projections/position-watch.ts";
import { streamKeepAlive, streamMessage, streamOpening } from "./event-stream.ts";

export const createLiveTail = (tail: {
  readonly walk: EventWalk;
  readonly watch: PositionWatch;
  /** Whether nothing of the tenant stands there. */
  readonly isQuiet: (stretch: Stretch) => Promise<boolean>;
  readonly keepAliveMs: number;
  readonly isStillAllowed: () => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
}): { next(): Promise<string | undefined> } => {
  const { walk, watch, isQuiet, keepAliveMs, isStillAllowed, signal } = tail;
  let hasOpened = false;
  /** Where the view was seen last: up to there it is read without asking again. */
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
    // Also where events come all the time but none that this reader asked for.
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
