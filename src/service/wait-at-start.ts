/** A start waits for what others run and have not started yet, as who starts all of it together has no order to give. */
import { setTimeout as delay } from "node:timers/promises";
import { AWAY_RETRY_MS, START_WAIT_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";

interface Refusal {
  /** Thrown where nothing is waited for any more. */
  readonly error: Error;
  readonly detail: string;
  /** Waiting cannot help. */
  readonly isFinal: boolean;
}

/** Tries until it succeeds; throws at once where waiting cannot help, otherwise after START_WAIT_MS_MAX. */
export const waitAtStart = async <Found>({
  message,
  logger,
  attempt,
  refusalOf,
}: {
  /** Said with each new reason. */
  readonly message: string;
  readonly logger: Logger;
  readonly attempt: () => Promise<Found>;
  /** Throws what is no refusal. */
  readonly refusalOf: (error: unknown) => Refusal;
}): Promise<Found> => {
  const deadline = performance.now() + START_WAIT_MS_MAX;
  let told: string | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      const { error, detail, isFinal } = refusalOf(thrown);
      if (isFinal || performance.now() > deadline) throw error;
      // Tried twice a second, for a minute.
      if (detail !== told) logger.warn(message, { detail });
      told = detail;
      await delay(AWAY_RETRY_MS);
    }
  }
};
