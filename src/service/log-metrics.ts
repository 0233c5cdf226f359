/** What the metrics say of the log, asked when they are read. */
import type { BrokerConnection } from "../jetstream/connection.ts";
import { readLogCopies } from "../jetstream/log-copies.ts";
import { METRICS_LOG_MS_MAX } from "../limits.ts";
import type { LogReader } from "../log/event-log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { pause } from "./background.ts";

export const measureLog = (parts: {
  readonly metrics: Pick<Metrics, "watchLog">;
  readonly reader: Pick<LogReader, "lastSequence">;
  readonly connection: BrokerConnection;
}): void => {
  const { metrics, reader, connection } = parts;
  metrics.watchLog({
    lastSequence: () => seenInTime(reader.lastSequence()),
    copies: () => seenInTime(readLogCopies(connection)),
  });
};

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
