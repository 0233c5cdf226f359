/**
 * Appends records one message at a time and answers each after the broker's acknowledgement, which with `sync_interval: always`
 * comes after its fsync. What it may hold at once is bounded: past the bound it says no at once.
 */
import { headers, type JetStreamClient, type PubAck } from "nats";
import { APPEND_ACK_MS_MAX, APPEND_BYTES_IN_FLIGHT_MAX, APPEND_RECORDS_IN_FLIGHT_MAX } from "../limits.ts";
import type { OutgoingRecord, RecordAppender } from "../log/event-log.ts";
import type { Outcome } from "../log/outcome.ts";
import type { Logger } from "../telemetry/logger.ts";
import { API_ERROR, apiErrorCode, describeError, isDefiniteRefusal } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

export const createAppender = (dependencies: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
  readonly onOutcome: (outcome: Outcome) => void;
}): RecordAppender => {
  const { connection, logger, onOutcome } = dependencies;
  const jetstream = connection.nats.jetstream({ timeout: APPEND_ACK_MS_MAX });
  let recordsInFlight = 0;
  let bytesInFlight = 0;

  const refuseAll = (
    records: readonly OutgoingRecord[],
    reason: "overloaded" | "unavailable",
    detail: string,
  ) => records.map((): Outcome => ({ kind: "refused", reason, detail }));

  const appendBounded = async (records: readonly OutgoingRecord[]): Promise<readonly Outcome[]> => {
    const bytes = records.reduce((sum, record) => sum + record.payload.byteLength, 0);
    if (!connection.isConnected())
      return refuseAll(records, "unavailable", "The event log is not connected.");
    const isFull =
      recordsInFlight + records.length > APPEND_RECORDS_IN_FLIGHT_MAX ||
      bytesInFlight + bytes > APPEND_BYTES_IN_FLIGHT_MAX;
    if (isFull) return refuseAll(records, "overloaded", "More events are in flight than can be taken.");
    recordsInFlight += records.length;
    bytesInFlight += bytes;
    try {
      return await Promise.all(records.map((record) => appendOne({ connection, jetstream, logger, record })));
    } finally {
      recordsInFlight -= records.length;
      bytesInFlight -= bytes;
    }
  };

  return {
    append: async (records) => {
      const outcomes = await appendBounded(records);
      for (const outcome of outcomes) onOutcome(outcome);
      return outcomes;
    },
  };
};

const IN_PROCESS_WAIT_MS = 20;

const appendOne = async ({
  connection,
  jetstream,
  logger,
  record,
}: {
  connection: BrokerConnection;
  jetstream: JetStreamClient;
  logger: Logger;
  record: OutgoingRecord;
}): Promise<Outcome> => {
  const deadline = performance.now() + APPEND_ACK_MS_MAX;
  for (;;) {
    const attempt = await publish({ connection, jetstream }, record);
    if (attempt.kind === "failed") {
      logger.warn("an append failed", { detail: describeError(attempt.error) });
      const detail = "The event log did not acknowledge the event.";
      return isDefiniteRefusal(attempt.error)
        ? { kind: "refused", reason: "unavailable", detail }
        : { kind: "unknown", detail };
    }
    if (attempt.kind === "acknowledged") return outcomeOf(attempt.ack);
    if (performance.now() > deadline) {
      return { kind: "unknown", detail: "The same event is still being stored by another request." };
    }
    await new Promise((resolve) => setTimeout(resolve, IN_PROCESS_WAIT_MS));
  }
};

type Attempt =
  | { readonly kind: "acknowledged"; readonly ack: PubAck }
  /** R3: the id is on its way in another message, which may still fail. Neither stored nor refused yet. */
  | { readonly kind: "in_process" }
  | { readonly kind: "failed"; readonly error: unknown };

const publish = async (
  { connection, jetstream }: { connection: BrokerConnection; jetstream: JetStreamClient },
  { subject, messageId, payload }: OutgoingRecord,
): Promise<Attempt> => {
  // New headers for every attempt: nats.js writes the id into the object it is given (measured).
  const ownHeaders = headers();
  ownHeaders.set("Nats-Msg-Id", messageId);
  try {
    const ack = await connection.untilLost(() =>
      jetstream.publish(subject, payload, { headers: ownHeaders }),
    );
    return ack.seq > 0 ? { kind: "acknowledged", ack } : { kind: "in_process" };
  } catch (error) {
    if (apiErrorCode(error) === API_ERROR.duplicateInProcess) return { kind: "in_process" };
    return { kind: "failed", error };
  }
};

const outcomeOf = (ack: PubAck): Outcome => ({
  kind: ack.duplicate ? "duplicate" : "appended",
  sequence: ack.seq,
});
