/** The way into the stream SANDBOX: in memory and without fsync, so there is nothing to gain from grouping. Bounded all the same. */
import { SANDBOX_IN_FLIGHT_MAX } from "../limits.ts";
import type { OutgoingRecord, RecordAppender } from "../log/event-log.ts";
import type { Outcome } from "../log/outcome.ts";
import { openAppendExchange } from "./append-exchange.ts";
import { appendSingle, NOT_CONNECTED } from "./append-single.ts";
import type { BrokerConnection } from "./connection.ts";

export const createSandboxAppender = (
  connection: BrokerConnection,
  elapsedMs: () => number,
): RecordAppender => {
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
    return outcome;
  };
  return { append: (records) => Promise.all(records.map(appendOne)) };
};
