/**
 * Notices a stream that is connected but stores nothing, and restarts our own broker for it. After a full disk nats-server 2.15.1 keeps a stream
 * closed until the server is restarted, even when there is space again (measured). For a broker of others readiness reports it, if the stream is the
 * log. A stream that is full at a configured limit returns the same error (10077); a restart does not help it.
 */

import { LOG_KEEPER_MS, LOG_STALL_AGE_MS_MAX } from "../limits.ts";
import type { StallReport } from "../nats/stall-clock.ts";
import type { Logger } from "../telemetry/logger.ts";
import { loop } from "./background.ts";
import type { OwnBroker } from "./broker.ts";
import { blocking, type Trouble } from "./health-reasons.ts";

const RESTART_IN_CLUSTER =
  "If the disk of its broker was full, free space and restart that broker, one at a time and only while the others run.";
const RESTART_ALONE =
  "If its disk was full, free space, kill the broker with SIGKILL and start it: a clean stop can leave a hole in the log.";
const RESTARTED = "If its disk is full, free space: its broker then restarts automatically.";

export const keepStoring = (dependencies: {
  /** Name of the stream for people: `The event log`. */
  readonly stream: string;
  /** The current series of failures. */
  readonly stall: StallReport["stall"];
  /** Whether something that was sent has no answer yet. */
  readonly isAwaited?: () => boolean;
  /** The settings by which the stream may refuse everything. */
  readonly refusal?: () => string | undefined;
  /** A series of failures that lasts this long is a stall. */
  readonly msMax: number;
  readonly ownBroker: OwnBroker | undefined;
  /** The last broker of a cluster must not be ended: it holds a copy of the log. */
  readonly isClustered: () => boolean;
  readonly logger: Logger;
}) => {
  const { stream, stall, isAwaited = () => false, refusal = () => undefined } = dependencies;
  const { msMax, ownBroker, isClustered, logger } = dependencies;
  /** Why the stream cannot be written, as far as is known. */
  const troubles = (): readonly Trouble[] => {
    const { lastedMs = 0, agoMs = 0 } = stall() ?? {};
    // An instance that is not ready gets no requests, and only a request can show that the stream works again. So after a while it counts as ready.
    if (lastedMs < msMax || agoMs >= LOG_STALL_AGE_MS_MAX) return [];
    const setting = refusal();
    const restart = ownBroker ? RESTARTED : isClustered() ? RESTART_IN_CLUSTER : RESTART_ALONE;
    const why = setting ? `Its settings may be why: ${setting}. Change that back.` : restart;
    const seen = `${stream} is connected but has stored nothing for ${Math.round(lastedMs / 1000)} s.`;
    return [blocking("log_stalled", `${seen} ${why}`)];
  };
  let isSaid = false;
  let reviving: Promise<void> | undefined;
  /** When a setting may last have been the reason: failures before that say nothing about the disk. */
  let refusedAt = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const setting = refusal();
    const { lastedMs = 0, agoMs = 0 } = stall() ?? {};
    if (setting !== undefined) refusedAt = performance.now();
    if (lastedMs < msMax) isSaid = false;
    if (lastedMs < msMax || reviving) return;
    const detail = setting === undefined ? stream : `${stream}: ${setting}`;
    if (!isSaid) logger.error("a stream stores nothing", { detail, duration_ms: lastedMs });
    isSaid = true;
    if (setting !== undefined || performance.now() - agoMs <= refusedAt) return;
    // Not awaited: it may take as long as the disk is full, and a stop does not wait for that.
    reviving = ownBroker?.revive(`${stream} stored nothing`).finally(() => {
      reviving = undefined;
    });
  };
  const looking = loop({ look, restMs: LOG_KEEPER_MS });
  return {
    troubles,
    [Symbol.asyncDispose]: () => {
      // One failure is enough, although it is no stall yet. So is a missing answer, because a failed write is answered by nothing.
      if (stall() !== undefined || isAwaited()) ownBroker?.distrust();
      return looking[Symbol.asyncDispose]();
    },
  };
};
