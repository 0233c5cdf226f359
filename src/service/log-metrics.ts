/** Metrics of the log and of readiness, computed when they are read. */
import type { Readiness } from "../http/routes/operation.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { type LogState, readLogState } from "../jetstream/log-state.ts";
import { METRICS_LOG_MS_MAX } from "../limits.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { inTime } from "./in-time.ts";

export const measureLog = (metrics: Pick<Metrics, "watchLog">, connection: BrokerConnection): void => {
  let asked: Promise<LogState | undefined> | undefined;
  /** The library asks for both figures in one turn; the broker is asked once. */
  const state = (): Promise<LogState | undefined> => {
    asked ??= inTime(readLogState(connection), METRICS_LOG_MS_MAX).finally(() => {
      asked = undefined;
    });
    return asked;
  };
  metrics.watchLog({
    lastSequence: async () => (await state())?.lastSequence,
    copies: async () => (await state())?.copies,
  });
};

/** An instance that does not know in time whether it is ready counts as not ready. */
export const measureReadiness = (
  metrics: Pick<Metrics, "watchReadiness">,
  { reasons }: Pick<Readiness, "reasons">,
): void => metrics.watchReadiness(async () => (await inTime(reasons(), METRICS_LOG_MS_MAX))?.length === 0);
