/** Finds events that the log already holds, with the view `events` as of the moment of the request. */
import type { EarlierEvents } from "../api/intake/intake.ts";
import { MIN_SEQUENCE_WAIT_MS_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { findEarlier } from "../views/events/earlier.ts";
import { EVENTS_VIEW } from "../views/events/tables.ts";
import { endOfItsLog } from "../views/kit/view-end.ts";
import type { ViewStore } from "../views/store/view-store.ts";

export const createEarlierEvents = (dependencies: {
  readonly log: Pick<LogReader, "lastSequence" | "read">;
  readonly views: ViewStore;
  /** For the duplicates that are found here; the appender counts all other outcomes. */
  readonly countOutcomes: Metrics["countOutcomes"];
}): EarlierEvents => {
  const { log, views, countOutcomes } = dependencies;
  return {
    find: async (tenant, identities) => {
      let upTo: Sequence | undefined;
      try {
        upTo = await endOfItsLog({ views, log }, EVENTS_VIEW);
      } catch (error) {
        if (error instanceof LogUnavailableError) return { kind: "unavailable", detail: error.message };
        throw error;
      }
      if (upTo === undefined) return { kind: "view_behind" };
      const timeoutMs = MIN_SEQUENCE_WAIT_MS_MAX;
      const sequences = await findEarlier({ views, tenant, eventIds: identities, upTo, timeoutMs });
      if (sequences === undefined) return { kind: "view_behind" };
      countOutcomes(identities.filter((id) => sequences.has(id)).map(() => ({ kind: "duplicate" })));
      return { kind: "found", sequences };
    },
  };
};

/** For the sandbox's intake, which has no `resent`. */
export const NO_EARLIER_EVENTS: EarlierEvents = {
  find: async () => ({ kind: "found", sequences: new Map() }),
};
