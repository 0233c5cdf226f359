/**
 * Notices a stream that is connected and stores nothing. After a full disk nats-server 2.15.1 keeps a stream closed until it is started again,
 * however much space there is by then (measured), each for itself: a broker of our own is, as soon as its disk takes bytes; of any other readiness tells,
 * where it is the log. One that is full at a limit that somebody has set answers with the same error (10077), one without its subjects not at all, and no start of a server helps these.
 */
import type { StallReport } from "../jetstream/stall-clock.ts";
import { LOG_KEEPER_MS, LOG_STALL_AGE_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { OwnBroker } from "./broker-address.ts";

export interface LogKeeper extends Disposable {
  /** Why the stream cannot be written; undefined when it can, as far as is known. */
  problem(): string | undefined;
}

export const keepStoring = (dependencies: {
  /** What the stream is called to a person: `The event log`. */
  readonly stream: string;
  /** The failures in a row of all that was tried. */
  readonly stall: StallReport["stall"];
  /** Whether something was sent to it that is not answered. */
  readonly isAwaited?: () => boolean;
  /** The settings by which the stream may refuse everything. */
  readonly refusal?: () => string | undefined;
  /** A row of failures that lasts longer is a stall. */
  readonly msMax: number;
  readonly ownBroker: OwnBroker | undefined;
  readonly logger: Logger;
}): LogKeeper => {
  const { stream, stall, isAwaited = () => false, refusal = () => undefined } = dependencies;
  const { msMax, ownBroker, logger } = dependencies;
  const lastedMs = (): number => stall()?.lastedMs ?? 0;
  const problem = (): string | undefined => {
    const ms = lastedMs();
    // Who is not ready gets no requests, and only a request can show that it works again: so it is ready to be tried after a while.
    const isFresh = (stall()?.agoMs ?? 0) < LOG_STALL_AGE_MS_MAX;
    if (ms < msMax || !isFresh) return undefined;
    const seen = `${stream} is connected but has stored nothing for ${Math.round(ms / 1000)} s.`;
    const setting = refusal();
    if (setting !== undefined) return `${seen} Its settings may be why: ${setting}. Change that back.`;
    return `${seen} If its disk was full, free space, end the broker with SIGKILL and start it: ended in order it can leave a hole in the log.`;
  };
  let isSaid = false;
  let isReviving = false;
  /** When settings may have been the reason last: what failed before says nothing of its disk. */
  let refusedAt = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const setting = refusal();
    if (setting !== undefined) refusedAt = performance.now();
    const isStalled = lastedMs() >= msMax;
    if (!isStalled) isSaid = false;
    if (!isStalled || isReviving) return;
    const detail = setting === undefined ? stream : `${stream}: ${setting}`;
    if (!isSaid) logger.error("a stream stores nothing", { detail, duration_ms: lastedMs() });
    isSaid = true;
    if (setting !== undefined || performance.now() - (stall()?.agoMs ?? 0) <= refusedAt) return;
    isReviving = true;
    await ownBroker?.revive(`${stream} stored nothing`);
    isReviving = false;
  };
  const timer = setInterval(() => void look(), LOG_KEEPER_MS);
  return {
    problem,
    [Symbol.dispose]: () => {
      clearInterval(timer);
      // Also one failure, which is no stall yet; and what is known of none, as a write that failed is answered by nothing.
      if (stall() !== undefined || isAwaited()) ownBroker?.distrust();
    },
  };
};
