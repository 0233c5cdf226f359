/**
 * Looks again and again whether the log is kept as streams/audit.ts says. Who administers the broker can change a stream while the service runs, and a setting
 * by which it may lose what it has acknowledged, an age or a limit that removes the oldest, must not be answered with 202. Appending asks what was seen last.
 */
import type { StreamDefinition } from "../../streams/stream.ts";
import type { BrokerConnection } from "../jetstream/connection.ts";
import { differenceText, inspectStream, type StreamDifference } from "../jetstream/reconcile.ts";
import type { Logger } from "../telemetry/logger.ts";
import { pause } from "./background.ts";

/** One small question to the broker. */
const LOG_GUARD_MS = 2_000;

export interface LogGuard {
  /** Why nothing may be appended; undefined where it may, as far as is known. */
  problem(): string | undefined;
  /** Why the log may refuse what is sent, as one that is full at a limit; undefined where no setting is to blame, as far as is known. */
  refusal(): string | undefined;
  /** Until the signal is aborted, and at once where the connection is back. Never rejects. */
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
      // What is not known now was known before, and a log that does not answer acknowledges nothing.
      .catch(() => undefined);
    // A missing one cannot acknowledge anything either.
    if (seen === undefined || seen.kind === "missing") return;
    const before = problem;
    const differences = seen.kind === "different" ? seen.differences : [];
    const { keeping = [], refusing = [] } = definition;
    problem = describe(differencesIn(differences, keeping));
    refusal = differencesIn(differences, refusing);
    if (problem === before) return;
    if (problem === undefined) logger.info("the log is kept as it must be again");
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
