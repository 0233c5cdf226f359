/** Measures how long every attempt to write a stream has failed. */
import { LOG_STALL_AGE_MS_MAX } from "../limits.ts";
import type { BrokerConnection } from "./connection.ts";

interface Stall {
  /** From the first failure in a row to the last. */
  readonly lastedMs: number;
  /** Time since the last failure. Without another attempt the stream may work again. */
  readonly agoMs: number;
}

export interface StallReport {
  readonly stall: () => Stall | undefined;
}

interface StallClock extends StallReport {
  failed(): void;
  /** Something was stored, or the connection changed: the series of failures has ended. */
  cleared(): void;
}

/** `elapsedMs`: a clock that never goes back. Failures further apart than LOG_STALL_AGE_MS_MAX are two series. */
export const createStallClock = (elapsedMs: () => number): StallClock => {
  let row: { readonly first: number; readonly last: number } | undefined;
  return {
    failed: () => {
      const now = elapsedMs();
      row = { first: row && now - row.last < LOG_STALL_AGE_MS_MAX ? row.first : now, last: now };
    },
    cleared: () => {
      row = undefined;
    },
    stall: () => row && { lastedMs: row.last - row.first, agoMs: elapsedMs() - row.last },
  };
};

/** For a stream that is written over this connection. Failures while it is lost say nothing about the stream. */
export const createConnectedStallClock = (connection: BrokerConnection): StallClock => {
  const clock = createStallClock(() => performance.now());
  connection.onChange(clock.cleared);
  return {
    ...clock,
    failed: () => {
      if (connection.isConnected()) clock.failed();
    },
  };
};
