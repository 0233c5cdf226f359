/**
 * Notices a log that is connected and stores nothing. After a full disk nats-server 2.15.1 keeps a stream closed until it is started again,
 * however much space there is by then (measured): a broker of our own is, as soon as its disk takes bytes; of any other readiness tells.
 */
import { LOG_KEEPER_MS, LOG_STALL_AGE_MS_MAX, LOG_STALL_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface LogKeeper extends Disposable {
  /** Why the log cannot be written; undefined when it can, as far as is known. */
  problem(): string | undefined;
}

export const keepLogStoring = (dependencies: {
  /** The failures in a row of all that was tried. */
  readonly stall: () => { readonly lastedMs: number; readonly agoMs: number } | undefined;
  /** Starts our own broker again where that can help. */
  readonly reviveBroker: ((reason: string) => Promise<void>) | undefined;
  readonly logger: Logger;
}): LogKeeper => {
  const { stall, reviveBroker, logger } = dependencies;
  const lastedMs = (): number => stall()?.lastedMs ?? 0;
  const problem = (): string | undefined => {
    const ms = lastedMs();
    // Who is not ready gets no requests, and only a request can show that it works again: so it is ready to be tried after a while.
    const isFresh = (stall()?.agoMs ?? 0) < LOG_STALL_AGE_MS_MAX;
    if (ms < LOG_STALL_MS_MAX || !isFresh) return undefined;
    return `The event log is connected but has stored nothing for ${Math.round(ms / 1000)} s. If its disk was full, free space and restart the broker.`;
  };
  let isSaid = false;
  let isReviving = false;
  const look = async (): Promise<void> => {
    const isStalled = lastedMs() >= LOG_STALL_MS_MAX;
    if (!isStalled) isSaid = false;
    if (!isStalled || isReviving) return;
    if (!isSaid) logger.error("the event log stores nothing", { duration_ms: lastedMs() });
    isSaid = true;
    isReviving = true;
    await reviveBroker?.("the event log stored nothing");
    isReviving = false;
  };
  const timer = setInterval(() => void look(), LOG_KEEPER_MS);
  return { problem, [Symbol.dispose]: () => clearInterval(timer) };
};
