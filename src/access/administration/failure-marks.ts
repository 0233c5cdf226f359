/**
 * Events that mark an action as failed. A failure that prevents the action usually prevents its mark too, so marks wait until the log takes
 * them. If the process is killed first, the event of the action has no mark.
 */
import { FAILURE_MARK_TRY_MS, FAILURE_MARKS_WAITING_MAX } from "../../limits.ts";
import type { Outcome } from "../../log/outcome.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { SystemRecord } from "./system-record.ts";

export interface FailureMarks {
  /** Appended at once if possible, otherwise later. */
  add(mark: SystemRecord): void;
  /** Retries the waiting marks until `signal` is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export const createFailureMarks = (dependencies: {
  readonly append: (records: readonly SystemRecord[]) => Promise<readonly Outcome[]>;
  readonly pause: (durationMs: number, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}): FailureMarks => {
  const { append, pause, logger } = dependencies;
  let waiting: readonly SystemRecord[] = [];
  let running: Promise<void> | undefined;

  const appendWaiting = async (): Promise<void> => {
    const tried = waiting;
    const outcomes = await append(tried);
    const stored = new Set(tried.filter((_, index) => isStored(outcomes[index])));
    waiting = waiting.filter((mark) => !stored.has(mark));
  };
  const flush = (): Promise<void> => {
    running ??= appendWaiting().finally(() => {
      running = undefined;
    });
    return running;
  };
  const giveUp = ({ by, event }: SystemRecord): void =>
    logger.error("a failed action is not marked in the log", {
      request_id: by.requestId,
      tenant: event.tenant,
      key_id: by.principal.keyId,
    });

  return {
    add: (mark) => {
      if (waiting.length >= FAILURE_MARKS_WAITING_MAX) return giveUp(mark);
      waiting = [...waiting, mark];
      void flush();
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await pause(FAILURE_MARK_TRY_MS, signal);
        if (waiting.length > 0) await flush();
      }
      await running;
      waiting.forEach(giveUp);
    },
  };
};

/** A duplicate is the same record whose acknowledgement was lost: nobody else has its id. */
export const isStored = (
  outcome: Outcome | undefined,
): outcome is Extract<Outcome, { readonly sequence: number }> =>
  outcome?.kind === "appended" || outcome?.kind === "duplicate";
