/** Work that runs beside the requests until the service stops, and waiting for others. */
import { setTimeout as delay } from "node:timers/promises";
import { AWAY_RETRY_MS, START_WAIT_MS_MAX } from "../limits.ts";
import type { BrokerConnection } from "../nats/connection.ts";
import { RefusedError } from "../runtime/refused-error.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createRepeatFilter } from "../telemetry/repeat-filter.ts";

/** `run` ends when its signal is aborted, and never rejects. */
export const inBackground = (run: (signal: AbortSignal) => Promise<void>): AsyncDisposable => {
  const stopping = new AbortController();
  const running = run(stopping.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** Ends at once when the signal is aborted. Never rejects. */
export const pause = (durationMs: number, signal: AbortSignal): Promise<void> =>
  delay(durationMs, undefined, { signal }).catch(() => undefined);

/** Looks repeatedly until the service stops. A look that fails is reported once for each reason, and the next one comes as usual. */
export const loop = (worker: {
  readonly look: (signal: AbortSignal) => Promise<unknown>;
  /** Absent if a look never fails, or others report it. */
  readonly onFailed?: (error: unknown) => void;
  readonly restMs: number | (() => number);
  /** Also looks at once when it is back: the broker may be another one. */
  readonly connection?: Pick<BrokerConnection, "onChange">;
}): AsyncDisposable => {
  const { look, onFailed, restMs, connection } = worker;
  const isNews = createRepeatFilter(() => performance.now());
  return inBackground(async (signal) => {
    let wake = new AbortController();
    using _listening = connection?.onChange((state) => {
      if (state === "restored") wake.abort();
    });
    while (!signal.aborted) {
      try {
        await look(signal);
      } catch (error) {
        if (isNews(String(error))) onFailed?.(error);
      }
      await pause(typeof restMs === "number" ? restMs : restMs(), AbortSignal.any([signal, wake.signal]));
      if (wake.signal.aborted) wake = new AbortController();
    }
  });
};

/** The result, or undefined if it is late or fails: a part that is away must not delay others. */
export const inTime = async <Seen>(asked: Promise<Seen>, timeoutMs: number): Promise<Seen | undefined> => {
  const isOver = new AbortController();
  try {
    return await Promise.race([asked, pause(timeoutMs, isOver.signal).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    isOver.abort();
  }
};

/** One answer for all who ask meanwhile. */
export const shared = <Answer>(ask: () => Promise<Answer>): (() => Promise<Answer>) => {
  let asked: Promise<Answer> | undefined;
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
};

/**
 * Tries until it succeeds, because operators start service, broker and database together in any order. Throws at once if waiting cannot help,
 * otherwise after START_WAIT_MS_MAX.
 */
export const waitAtStart = async <Found>(
  /** Logged with each new reason. */
  message: string,
  logger: Logger,
  attempt: () => Promise<Found>,
): Promise<Found> => {
  const deadline = performance.now() + START_WAIT_MS_MAX;
  let told: string | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RefusedError) || error.isFinal || performance.now() > deadline) throw error;
      if (error.message !== told) logger.warn(message, { detail: error.message });
      told = error.message;
      await delay(AWAY_RETRY_MS);
    }
  }
};
