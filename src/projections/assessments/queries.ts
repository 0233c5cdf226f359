import type { List } from "../list.ts";
import { ASSESSMENT_STATES, ASSESSMENTS, RISK_CHANGES } from "./tables.ts";

export const assessmentList: List = {
  view: "assessments",
  table: ASSESSMENTS,
  orderBy: ["at", "assessment_id"],
  filters: ["asset_id", "state"],
  values: { state: ASSESSMENT_STATES },
  hidden: ["said"],
};

export const riskChangeList: List = {
  view: "assessments",
  table: RISK_CHANGES,
  orderBy: ["at", "event_id"],
  filters: ["asset_id"],
};
