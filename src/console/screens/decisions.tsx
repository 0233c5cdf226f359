import type { DecisionEntry } from "../answers.ts";
import { DECISION_COLUMNS, DECISION_FILTERS } from "../parts/decision-columns.tsx";
import { ListScreen, type ListSpec } from "../parts/list.tsx";

const SPEC: ListSpec<DecisionEntry> = {
  path: "v1/decisions",
  title: "decisions",
  filters: DECISION_FILTERS,
  columns: DECISION_COLUMNS,
  rowId: ({ decision_id }) => decision_id,
  filledBy: ["decision.automated_decision_made", "transparency.notice_shown"],
};

export const DecisionsScreen = () => <ListScreen spec={SPEC} />;
