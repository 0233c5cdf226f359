/** `min_sequence`: a read that waits until the view has seen a sequence, so that a writer reads its own write. */
import { MIN_SEQUENCE_WAIT_MS_MAX } from "../limits.ts";
import { eventsProjection } from "../projections/events/evolve.ts";
import { waitForPosition } from "../projections/wait-for-position.ts";
import type { ViewStore } from "../views/view-store.ts";
import { parameter } from "./event-filter.ts";
import type { Query } from "./query.ts";

const BOUNDS = { min: 0, max: Number.MAX_SAFE_INTEGER };

export const readMinSequence = (query: Query): number | undefined => query.integer("min_sequence", BOUNDS);

export const hasReached = async (views: ViewStore, sequence: number | undefined): Promise<boolean> =>
  sequence === undefined ||
  (await waitForPosition({
    views,
    projection: eventsProjection.name,
    sequence,
    timeoutMs: MIN_SEQUENCE_WAIT_MS_MAX,
  }));

export const MIN_SEQUENCE = parameter(
  "min_sequence",
  `Wait until the view has seen this sequence, up to ${MIN_SEQUENCE_WAIT_MS_MAX / 1000} s: so a writer reads its own write.`,
  { type: "integer", minimum: 0 },
);
