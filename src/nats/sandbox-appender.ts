/** Appends to the stream SANDBOX. That is in memory and without fsync, so grouping gains nothing. Bounded all the same. */
import { SANDBOX_IN_FLIGHT_MAX } from "../limits.ts";
import {
  type LogReader,
  LogUnavailableError,
  messageIdAgain,
  type OutgoingRecord,
  type RecordAppender,
} from "../log/event-log.ts";
import type { Outcome, Sequence } from "../log/outcome.ts";
import { appendSingle, NOT_CONNECTED, openAppendExchange } from "./append-exchange.ts";
import type { BrokerConnection } from "./connection.ts";

export const createSandboxAppender = ({
  connection,
  reader,
  elapsedMs,
}: {
  readonly connection: BrokerConnection;
  readonly reader: LogReader;
  readonly elapsedMs: () => number;
}): RecordAppender => {
  const exchange = openAppendExchange(connection, elapsedMs);
  let inFlight = 0;
  const appendOne = async (record: OutgoingRecord): Promise<Outcome> => {
    if (!connection.isConnected()) return NOT_CONNECTED;
    if (inFlight >= SANDBOX_IN_FLIGHT_MAX)
      return {
        kind: "refused",
        reason: "overloaded",
        detail: "More sandbox events are in flight than can be accepted.",
      };
    inFlight++;
    const outcome = await appendSingle(exchange, record, elapsedMs);
    inFlight--;
    if (outcome.kind !== "duplicate" || !(await isGone(reader, outcome.sequence))) return outcome;
    // With an id derived from the last one, so that its repeats are still recognised.
    return appendOne({ ...record, messageId: messageIdAgain(record.messageId, outcome.sequence) });
  };
  return { append: (records) => Promise.all(records.map(appendOne)) };
};

/**
 * When memory is full the oldest messages go, but the broker still remembers their ids. If the read fails here, the next one reports why.
 */
const isGone = async (reader: LogReader, sequence: Sequence): Promise<boolean> => {
  try {
    return (await reader.read(sequence)) === undefined;
  } catch (error) {
    if (error instanceof LogUnavailableError) return false;
    throw error;
  }
};
