/**
 * Notices a stream that is connected but stores nothing, and restarts our own broker for it. After a full disk, nats-server 2.15.1 keeps a
 * stream closed until the server is restarted, even when there is space again (measured). Our own broker is restarted as soon as its disk
 * takes bytes. For a broker of others readiness reports it, if the stream is the log. A stream that is full at a configured limit returns
 * the same error (10077), and one without its subjects does not answer at all; a restart helps neither.
 */

import { LOG_KEEPER_MS, LOG_STALL_AGE_MS_MAX } from "../limits.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { OwnBroker } from "./broker-address.ts";

export interface LogKeeper extends Disposable {
  /** Why the stream cannot be written; undefined when it can, as far as is known. */
  problem(): string | undefined;
}

const RESTART_IN_CLUSTER =
  "If the disk of its broker was full, free space and restart that broker, one at a time and only while the others run.";
const RESTART_ALONE =
  "If its disk was full, free space, end the broker with SIGKILL and start it: ended in order it can leave a hole in the log.";
const RESTARTED = "If its disk is full, free space: then its broker is restarted automatically.";

export const keepStoring = (dependencies: {
  /** Name of the stream for people: `The event log`. */
  readonly stream: string;
  /** The current row of failures. */
  readonly stall: StallReport["stall"];
  /** Whether something that was sent has no answer yet. */
  readonly isAwaited?: () => boolean;
  /** The settings by which the stream may refuse everything. */
  readonly refusal?: () => string | undefined;
  /** A row of failures that lasts this long is a stall. */
  readonly msMax: number;
  readonly ownBroker: OwnBroker | undefined;
  /** The last broker of a cluster must not be ended: it holds a copy of the log. */
  readonly isClustered: () => boolean;
  readonly logger: Logger;
}): LogKeeper => {
  const { stream, stall, isAwaited = () => false, refusal = () => undefined } = dependencies;
  const { msMax, ownBroker, isClustered, logger } = dependencies;
  const lastedMs = (): number => stall()?.lastedMs ?? 0;
  const problem = (): string | undefined => {
    const ms = lastedMs();
    // An instance that is not ready gets no requests, and only a request can show that the stream works again. So after a while it counts
    // as ready to be tried.
    const isFresh = (stall()?.agoMs ?? 0) < LOG_STALL_AGE_MS_MAX;
    if (ms < msMax || !isFresh) return undefined;
    const seen = `${stream} is connected but has stored nothing for ${Math.round(ms / 1000)} s.`;
    const setting = refusal();
    if (setting !== undefined) return `${seen} Its settings may be why: ${setting}. Change that back.`;
    if (ownBroker !== undefined) return `${seen} ${RESTARTED}`;
    return `${seen} ${isClustered() ? RESTART_IN_CLUSTER : RESTART_ALONE}`;
  };
  let isSaid = false;
  let isReviving = false;
  /** When a setting may last have been the reason: failures before that say nothing about the disk. */
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
      // One failure is enough, although it is no stall yet. So is a missing answer, because a failed write is answered by nothing.
      if (stall() !== undefined || isAwaited()) ownBroker?.distrust();
    },
  };
};
