/**
 * Notices a log that is connected and stores nothing. After a full disk nats-server 2.15.1 keeps a stream closed until it is started again,
 * however much space there is by then (measured): a broker of our own is, as soon as its disk takes bytes; of any other readiness tells.
 */
import { LOG_KEEPER_MS, LOG_STALL_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface LogKeeper extends Disposable {
  /** Why the log cannot be written; undefined when it can, as far as is known. */
  problem(): string | undefined;
}

export const keepLogStoring = (dependencies: {
  /** For how long every try to store has failed. */
  readonly stalledMs: () => number;
  /** Starts our own broker again where that can help. */
  readonly reviveBroker: ((reason: string) => Promise<void>) | undefined;
  readonly logger: Logger;
}): LogKeeper => {
  const { stalledMs, reviveBroker, logger } = dependencies;
  const problem = (): string | undefined => {
    const ms = stalledMs();
    if (ms < LOG_STALL_MS_MAX) return undefined;
    return `The event log is connected but has stored nothing for ${Math.round(ms / 1000)} s. If its disk was full, free space and restart the broker.`;
  };
  let isSaid = false;
  let isReviving = false;
  const look = async (): Promise<void> => {
    const reason = problem();
    if (reason === undefined) isSaid = false;
    if (reason === undefined || isReviving) return;
    if (!isSaid) logger.error("the event log stores nothing", { detail: reason });
    isSaid = true;
    isReviving = true;
    await reviveBroker?.("the event log stored nothing");
    isReviving = false;
  };
  const timer = setInterval(() => void look(), LOG_KEEPER_MS);
  return { problem, [Symbol.dispose]: () => clearInterval(timer) };
};
