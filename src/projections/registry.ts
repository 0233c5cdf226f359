import { eventsProjection } from "./events/evolve.ts";
import type { Projection } from "./projection.ts";

/** Every projection that a projector runs; `events` leads, see runner.ts. A new one is one folder and one line here. */
export const PROJECTIONS: readonly [Projection, ...Projection[]] = [eventsProjection];
