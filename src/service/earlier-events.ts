/** Looks into the view `events` for what the log holds, as of the moment it is asked. */
import type { EarlierEvents } from "../intake/earlier-events.ts";
import { MIN_SEQUENCE_WAIT_MS_MAX } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { findEarlier } from "../projections/events/earlier.ts";
import { eventsProjection } from "../projections/events/evolve.ts";
import { isSameLog } from "../projections/view-end.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ViewStore } from "../views/view-store.ts";

export const createEarlierEvents = (dependencies: {
  readonly log: Pick<LogReader, "lastSequence" | "read">;
  readonly views: ViewStore;
  /** The appender counts all others. */
  readonly countOutcomes: Metrics["countOutcomes"];
}): EarlierEvents => {
  const { log, views, countOutcomes } = dependencies;
  return {
    find: async (tenant, eventIds) => {
      let upTo: Sequence;
      try {
        const position = await views.position(eventsProjection.name);
        upTo = await log.lastSequence();
        // What the view saw in another log, as before a copy was brought back, says nothing of this one.
        if (position > upTo || !(await isSameLog({ views, log }, [eventsProjection.name], position)))
          return { kind: "view_behind" };
      } catch (error) {
        if (error instanceof LogUnavailableError) return { kind: "unavailable", detail: error.message };
        throw error;
      }
      const timeoutMs = MIN_SEQUENCE_WAIT_MS_MAX;
      const sequences = await findEarlier({ views, tenant, eventIds, upTo, timeoutMs });
      if (sequences === undefined) return { kind: "view_behind" };
      countOutcomes(eventIds.filter((id) => sequences.has(id)).map(() => ({ kind: "duplicate" })));
      return { kind: "found", sequences };
    },
  };
};

/** For an intake whose requests cannot say that they were sent before. */
export const NO_EARLIER_EVENTS: EarlierEvents = {
  find: async () => ({ kind: "found", sequences: new Map() }),
};
