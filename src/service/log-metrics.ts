/** What the metrics say of the log, and of whether this instance can serve, asked when they are read. */
import type { BrokerConnection } from "../jetstream/connection.ts";
import { type LogState, readLogState } from "../jetstream/log-state.ts";
import { METRICS_LOG_MS_MAX } from "../limits.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { pause } from "./background.ts";

export const measureLog = (metrics: Pick<Metrics, "watchLog">, connection: BrokerConnection): void => {
  let asked: Promise<LogState | undefined> | undefined;
  /** The library asks for each figure by itself, all in one turn: the broker is asked once. */
  const state = (): Promise<LogState | undefined> => {
    asked ??= seenInTime(readLogState(connection)).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  metrics.watchLog({
    lastSequence: async () => (await state())?.lastSequence,
    copies: async () => (await state())?.copies,
  });
};

/** Who cannot say in time that it is ready is not. */
export const measureReadiness = (
  metrics: Pick<Metrics, "watchReadiness">,
  reasonsNotReady: () => Promise<readonly string[]>,
): void => metrics.watchReadiness(async () => (await seenInTime(reasonsNotReady()))?.length === 0);

/** Undefined where it is not known in time: who asks for metrics while the broker is away must not wait for it. */
const seenInTime = async <Seen>(asked: Promise<Seen>): Promise<Seen | undefined> => {
  const isOver = new AbortController();
  try {
    return await Promise.race([asked, pause(METRICS_LOG_MS_MAX, isOver.signal).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    isOver.abort();
  }
};
