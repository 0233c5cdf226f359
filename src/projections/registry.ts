import { activityProjection } from "./activity/evolve.ts";
import { assessmentsProjection } from "./assessments/evolve.ts";
import { assetsProjection } from "./assets/evolve.ts";
import { casesProjection } from "./cases/evolve.ts";
import { STANDARD_RULES } from "./cases/rules.ts";
import { eventsProjection } from "./events/evolve.ts";
import { modelsProjection } from "./models/evolve.ts";
import type { Projection } from "./projection.ts";
import { sourcesProjection } from "./sources/evolve.ts";

/** Every projection that a projector runs; `events` leads, see runner.ts. A new one is one folder and one line here. */
export const PROJECTIONS: readonly [Projection, ...Projection[]] = [
  eventsProjection,
  assetsProjection,
  activityProjection,
  casesProjection(STANDARD_RULES, 0),
  modelsProjection,
  assessmentsProjection,
  sourcesProjection,
];
