import type { Rules } from "../law/obligations/obligation.ts";
import { STANDARD_RULES } from "../law/obligations/overrides.ts";
import { activityProjection } from "./activity/evolve.ts";
import { assessmentsProjection } from "./assessments/evolve.ts";
import { assetsProjection } from "./assets/evolve.ts";
import { auditsProjection } from "./audits/evolve.ts";
import { casesProjection } from "./cases/evolve.ts";
import { eventsProjection } from "./events/evolve.ts";
import type { Projection } from "./kit/projection.ts";
import { ledgerProjection } from "./ledger/evolve.ts";
import { modelsProjection } from "./models/evolve.ts";
import { outcomesProjection } from "./outcomes/evolve.ts";
import { sourcesProjection } from "./sources/evolve.ts";
import { treeProjection } from "./tree/evolve.ts";

/** Every projection that a projector runs; `events` leads, see runner.ts. A new projection is one folder and one line here. */
export const projectionsWith = (
  rules: Rules,
  rulesVersion: number,
): readonly [Projection, ...Projection[]] => [
  eventsProjection,
  assetsProjection,
  activityProjection,
  casesProjection(rules, rulesVersion),
  modelsProjection,
  assessmentsProjection,
  auditsProjection,
  outcomesProjection,
  sourcesProjection,
  ledgerProjection,
  treeProjection,
];

/** With the deadlines as they are in the table. */
export const PROJECTIONS = projectionsWith(STANDARD_RULES, 0);
