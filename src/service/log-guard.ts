/**
 * Checks repeatedly whether the stream AUDIT has the settings of streams/audit.ts. Another user of the broker can change a stream while the
 * service runs. With a setting by which the stream may lose acknowledged records (an age, or a limit that removes the oldest) nothing may
 * be answered with 202. The appender uses the last result.
 */
import type { StreamDefinition } from "../../streams/stream.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { differenceText, inspectStream, type StreamDifference } from "../nats/reconcile.ts";
import type { Logger } from "../telemetry/logger.ts";
import { pause } from "./background.ts";

/** Costs one small question to the broker. */
const LOG_GUARD_MS = 2_000;

export interface LogGuard {
  /** Why nothing may be appended; undefined if it may, as far as is known. */
  problem(): string | undefined;
  /** A setting by which the log may refuse records, for example a limit that is reached; undefined if there is none, as far as is known. */
  refusal(): string | undefined;
  /** Checks until the signal is aborted, and at once after a reconnect. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export const guardLog = (dependencies: {
  readonly connection: Pick<BrokerConnection, "nats" | "isConnected" | "onChange" | "untilLost">;
  readonly definition: StreamDefinition;
  readonly logger: Pick<Logger, "info" | "error">;
}): LogGuard => {
  const { connection, definition, logger } = dependencies;
  let problem: string | undefined;
  let refusal: string | undefined;
  const look = async (): Promise<void> => {
    if (!connection.isConnected()) return;
    const seen = await connection
      .untilLost(() => inspectStream(connection.nats, definition))
      // Without an answer the last result stays; a log that does not answer acknowledges nothing.
      .catch(() => undefined);
    // A missing stream cannot acknowledge anything either.
    if (seen === undefined || seen.kind === "missing") return;
    const before = problem;
    const differences = seen.kind === "different" ? seen.differences : [];
    const { keeping = [], refusing = [] } = definition;
    problem = describe(differencesIn(differences, keeping));
    refusal = differencesIn(differences, refusing);
    if (problem === before) return;
    if (problem === undefined) logger.info("the log is configured correctly again");
    else logger.error("the log could lose what it acknowledges, nothing is taken", { detail: problem });
  };
  const run: LogGuard["run"] = async (signal) => {
    let wake = new AbortController();
    using _listening = connection.onChange((state) => {
      if (state === "restored") wake.abort();
    });
    while (!signal.aborted) {
      await look();
      const either = AbortSignal.any([signal, wake.signal]);
      await pause(LOG_GUARD_MS, either);
      if (wake.signal.aborted) wake = new AbortController();
    }
  };
  return { problem: () => problem, refusal: () => refusal, run };
};

const differencesIn = (
  differences: readonly StreamDifference[],
  settings: readonly StreamDifference["setting"][],
): string | undefined => {
  const lines = differences.filter(({ setting }) => settings.includes(setting)).map(differenceText);
  return lines.length === 0 ? undefined : lines.join("; ");
};

const describe = (differences: string | undefined): string | undefined =>
  differences &&
  `The log could lose what it has acknowledged, so it takes no events until this is changed back: ${differences}.`;
