/** How long a stream has stored nothing, as far as it was tried. */
import { LOG_STALL_AGE_MS_MAX } from "../limits.ts";
import type { BrokerConnection } from "./connection.ts";

export interface Stall {
  /** From the first failure in a row to the last. */
  readonly lastedMs: number;
  /** Since the last one: what was not tried again may work by now. */
  readonly agoMs: number;
}

/** Told by whatever writes a stream. */
export interface StallReport {
  /** Undefined for a stream that stores, as far as it was tried. */
  readonly stall: () => Stall | undefined;
}

export interface StallClock extends StallReport {
  failed(): void;
  /** Something was stored, or the connection changed: the row of failures has ended. */
  cleared(): void;
}

/** `elapsedMs`: a clock that never goes back. Failures further apart than LOG_STALL_AGE_MS_MAX are two rows. */
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

/** Of a stream written over this connection. What fails while it is lost says nothing about the stream. */
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
