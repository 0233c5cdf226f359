import { type EventFacts, keptText, metadataName } from "../../event/facts.ts";
import { canonicalEventId } from "../../event/formats.ts";
import { CLAUSE_NAMES, metadataJson, metadataTexts } from "../../event/metadata-lists.ts";
import { columnsOf, tableOf } from "../kit/columns.ts";
import type { FirstEvent } from "../kit/first-events.ts";
import { type Latest, latestText } from "../kit/latest.ts";
import { COMPLETED, STARTED, UPDATED, validUntil } from "./said-end.ts";

/** A name that is a UUID is compared like an event_id. An event that names no assessment is about the only one of its asset. */
export const assessmentId = ({ metadata, assetId }: EventFacts): string => {
  const named = metadataName(metadata, "assessment_id");
  return named === undefined ? assetId : canonicalEventId(named);
};

export const ASSESSMENT_STATES = ["started", "completed", "orphan"] as const;
export type AssessmentState = (typeof ASSESSMENT_STATES)[number];

interface Assessment {
  readonly id: string;
  readonly at: string;
  /** What was said last (latest.ts); items of the checklist by their names behind the prefix. */
  readonly said: Latest;
}

const { optional, saidTimes, text } = columnsOf<Assessment>();
const said = (name: string) => optional(({ said: latest }) => latest[name]?.[0]);
const latestIn = ({ said: latest }: Assessment): Latest => latest;

/** `orphan` if only updates are in the log. */
const stateOf = ({ said: latest }: Assessment): AssessmentState => {
  const [startedAt, completedAt] = [latest[STARTED]?.[0], latest[COMPLETED]?.[0]];
  if (completedAt !== undefined && (startedAt === undefined || completedAt >= startedAt)) return "completed";
  return startedAt === undefined ? "orphan" : "started";
};

export const { table: ASSESSMENTS, rowOf: assessmentRow } = tableOf<Assessment>({
  name: "assessments",
  columns: {
    assessment_id: text(({ id }) => id),
    asset_id: text(({ said: latest }) => latest.asset_id?.[0] ?? ""),
    assessment_type: said("assessment_type"),
    version: said("version"),
    at: text(({ at }) => at),
    state: text(stateOf),
    ...saidTimes("started", STARTED, latestIn),
    ...saidTimes("updated", UPDATED, latestIn),
    ...saidTimes("completed", COMPLETED, latestIn),
    valid_until: optional(({ said: latest }) => validUntil(latest)),
    said: text(({ said: latest }) => latestText(latest)),
  },
  primaryKey: ["tenant", "assessment_id"],
  indexes: [
    ["tenant", "at", "assessment_id"],
    ["tenant", "state", "at", "assessment_id"],
    ["tenant", "asset_id", "at", "assessment_id"],
  ],
});

/** The prefix of checklist items among the statements. No event type and no other name begins with it. */
export const CHECKLIST_ITEM = "item:";

const change = columnsOf<FirstEvent>();
const keptFrom = (...names: readonly string[]) =>
  change.optional(({ facts }) => keptText(facts.metadata, ...names));

export const { table: RISK_CHANGES, rowOf: riskChangeRow } = tableOf<FirstEvent>({
  name: "risk_changes",
  columns: {
    event_id: change.text(({ facts }) => facts.eventId),
    asset_id: change.text(({ facts }) => facts.assetId),
    at: change.text(({ facts }) => facts.occurred),
    recorded_at: change.text(({ recorded }) => recorded),
    from_tier: keptFrom("from", "from_tier", "old_tier", "previous_tier"),
    to_tier: change.optional(
      ({ facts }) => keptText(facts.metadata, "to", "to_tier", "new_tier", "risk_tier") ?? facts.riskTier,
    ),
    reason: keptFrom("reason"),
    ruleset_version: keptFrom("ruleset_version"),
    actor: keptFrom("actor", "changed_by"),
    input: change.optional(({ facts }) =>
      metadataJson(facts.metadata, "input", "normalized_input", "inputs"),
    ),
    clauses: change.text(({ facts }) => JSON.stringify(metadataTexts(facts.metadata, ...CLAUSE_NAMES))),
  },
  primaryKey: ["tenant", "event_id"],
  indexes: [
    ["tenant", "at", "event_id"],
    ["tenant", "asset_id", "at", "event_id"],
  ],
});
