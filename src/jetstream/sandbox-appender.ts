/** The way into the stream SANDBOX: in memory and without fsync, so there is nothing to gain from grouping. Bounded all the same. */
import { SANDBOX_IN_FLIGHT_MAX } from "../limits.ts";
import {
  type LogReader,
  LogUnavailableError,
  type OutgoingRecord,
  type RecordAppender,
} from "../log/event-log.ts";
import { messageIdAgain } from "../log/message-id.ts";
import type { Outcome, Sequence } from "../log/outcome.ts";
import { openAppendExchange } from "./append-exchange.ts";
import { appendSingle, NOT_CONNECTED } from "./append-single.ts";
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
        detail: "More sandbox events are in flight than can be taken.",
      };
    inFlight++;
    const outcome = await appendSingle(exchange, record, elapsedMs);
    inFlight--;
    if (outcome.kind !== "duplicate" || !(await isGone(reader, outcome.sequence))) return outcome;
    // By an id that follows from the one before, so that its repeats are still known.
    return appendOne({ ...record, messageId: messageIdAgain(record.messageId, outcome.sequence) });
  };
  return { append: (records) => Promise.all(records.map(appendOne)) };
};

/** The oldest go where memory is full, and the broker remembers their ids all the same. Who reads it next says why it could not be read. */
const isGone = async (reader: LogReader, sequence: Sequence): Promise<boolean> => {
  try {
    return (await reader.read(sequence)) === undefined;
  } catch (error) {
    if (error instanceof LogUnavailableError) return false;
    throw error;
  }
};
