/**
 * The times at which the sandbox's clients were admitted, on the stream SANDBOX_CLIENTS: one message per client, which the next one
 * replaces.
 */
import { sandboxClientSubject } from "../../streams/subjects.ts";
import type { ClientTimes } from "../access/client-rate-limit.ts";
import { RATE_COUNT_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import { apiErrorCode, describeError, isWrongLastSequence } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";
import { readFromLeader } from "./leader-read.ts";

export const createClientTimes = ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): ClientTimes => {
  const jetstream = connection.nats.jetstream({ timeout: RATE_COUNT_MS_MAX, checkAPI: false });
  const notAnswered = (error: unknown): void =>
    logger.warn("the times of a sandbox client were not answered", { detail: describeError(error) });
  return {
    read: async (holder) => {
      const query = { last_by_subj: sandboxClientSubject(holder) };
      try {
        const message = await connection.untilLost(() =>
          readFromLeader(connection, "SANDBOX_CLIENTS", query, RATE_COUNT_MS_MAX),
        );
        return message ? { times: decode(message.data), revision: message.seq } : NOTHING_KEPT;
      } catch (error) {
        notAnswered(error);
        return undefined;
      }
    },
    write: async (holder, { times, revision }) => {
      const expect = { lastSubjectSequence: revision };
      try {
        const { seq } = await connection.untilLost(() =>
          jetstream.publish(sandboxClientSubject(holder), encode(times), { expect }),
        );
        return { kind: "written", revision: seq };
      } catch (error) {
        if (isWrongLastSequence(apiErrorCode(error))) return { kind: "conflict" };
        notAnswered(error);
        return { kind: "unavailable" };
      }
    },
  };
};

const NOTHING_KEPT = { times: [], revision: 0 };

const TIME_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** 8 bytes each, little-endian: machines of one installation may differ in byte order. */
const encode = (times: readonly number[]): Uint8Array => {
  const bytes = new DataView(new ArrayBuffer(times.length * TIME_BYTES));
  times.forEach((time, index) => {
    bytes.setFloat64(index * TIME_BYTES, time, true);
  });
  return new Uint8Array(bytes.buffer);
};

const decode = (data: string | undefined): readonly number[] => {
  const bytes = Buffer.from(data ?? "", "base64");
  return Array.from({ length: Math.floor(bytes.length / TIME_BYTES) }, (_, index) =>
    bytes.readDoubleLE(index * TIME_BYTES),
  );
};
