import { eventsProjection } from "./events/evolve.ts";
import type { Projection } from "./projection.ts";

/** Every projection that a projector runs. A new one is one folder and one line here. */
export const PROJECTIONS: readonly Projection[] = [eventsProjection];
