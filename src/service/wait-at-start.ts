/** A start waits for broker and database, because operators start all of them together in any order. */
import { setTimeout as delay } from "node:timers/promises";
import { AWAY_RETRY_MS, START_WAIT_MS_MAX } from "../limits.ts";
import type { Logger } from "../telemetry/logger.ts";

interface Refusal {
  /** Thrown when waiting is over. */
  readonly error: Error;
  readonly detail: string;
  /** Waiting cannot help. */
  readonly isFinal: boolean;
}

/** Tries until it succeeds. Throws at once if waiting cannot help, otherwise after START_WAIT_MS_MAX. */
export const waitAtStart = async <Found>({
  message,
  logger,
  attempt,
  refusalOf,
}: {
  /** Logged with each new reason. */
  readonly message: string;
  readonly logger: Logger;
  readonly attempt: () => Promise<Found>;
  /** Rethrows errors that are no refusal. */
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
      // Logged only when the reason changes: there are two tries a second for a minute.
      if (detail !== told) logger.warn(message, { detail });
      told = detail;
      await delay(AWAY_RETRY_MS);
    }
  }
};
