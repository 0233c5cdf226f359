/** The shared counters of the rate limits, on the stream RATES (NATS ADR-49). An increment is answered with the new value. */
import { Empty, headers } from "nats";
import { rateSubject } from "../../streams/subjects.ts";
import type { RateCounter } from "../access/rate-limit.ts";
import { RATE_COUNT_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";
import { describeError } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

export const createRateCounter = ({
  connection,
  logger,
}: {
  readonly connection: BrokerConnection;
  readonly logger: Logger;
}): RateCounter => ({
  add: async ({ holder, unit, window }, count) => {
    const increment = headers();
    increment.set("Nats-Incr", count < 0 ? String(count) : `+${count}`);
    const subject = rateSubject(holder, unit, window);
    try {
      const answer = await connection.untilLost(() =>
        connection.nats.request(subject, Empty, { headers: increment, timeout: RATE_COUNT_MS_MAX }),
      );
      const { val }: { val?: string } = answer.json();
      const value = Number(val);
      if (Number.isSafeInteger(value)) return value;
      logger.warn("a rate counter did not return its value");
    } catch (error) {
      logger.warn("a rate counter did not answer", { detail: describeError(error) });
    }
    return undefined;
  },
});
