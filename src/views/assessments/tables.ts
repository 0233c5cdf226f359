import { Type } from "@sinclair/typebox";
import { type EventFacts, keptText, metadataName } from "../../event/facts.ts";
import { canonicalEventId } from "../../event/formats.ts";
import { CLAUSE_NAMES, metadataJson, metadataTexts } from "../../event/metadata-lists.ts";
import { auditedDates, isBiasAudit } from "../../law/obligations/bias-audit.ts";
import { METADATA_JSON_CHARACTERS_MAX, METADATA_LIST_ITEMS_MAX } from "../../limits.ts";
import { type Latest, latestText } from "../kit/latest.ts";
import type { List } from "../kit/list.ts";
import type { FirstEvent } from "../kit/projection.ts";
import { columnsOf, tableOf } from "../kit/read-model.ts";
import { type Row, rowText } from "../store/tables.ts";

const STARTED = "assessment.impact_assessment_started";
const UPDATED = "assessment.impact_assessment_updated";
export const COMPLETED = "assessment.impact_assessment_completed";

export const COMPLETED_UNTIL = "completed_until";
export const COMPLETED_BEFORE = "completed_before";

/** As stated for the last completion; for a bias audit without a stated end, the last date of the law's year (NYC Administrative Code § 20-871(a)). */
const validUntil = (said: Latest): string | undefined => {
  const completedAt = said[COMPLETED]?.[0];
  if (said.valid_until !== undefined) {
    const [until, at, saidBy] = said.valid_until;
    const end = { until, at, isByCompletion: saidBy === said[COMPLETED_UNTIL]?.[2] };
    if (completedAt === undefined || isSaidOfCompletion(end, completedAt, said[COMPLETED_BEFORE]?.[0]))
      return until;
  }
  const isAudit = completedAt !== undefined && isBiasAudit(said.assessment_type?.[0]);
  return isAudit ? auditedDates(completedAt, undefined).last : undefined;
};

/** The end of validity of an assessment that was stated last. The assessment has one name and may be completed again and again. */
export interface SaidEnd {
  readonly until: string;
  readonly at: string;
  readonly isByCompletion: boolean;
}

const DATE_CHARACTERS = "2026-11-20".length;

/**
 * An end that was stated before the completion belongs to an earlier completion if it was stated with that completion or after it, or if it is before
 * this one.
 */
export const isSaidOfCompletion = (
  { until, at, isByCompletion }: SaidEnd,
  completedAt: string,
  completedBefore: string | undefined,
): boolean =>
  at >= completedAt ||
  (!isByCompletion &&
    (completedBefore === undefined || at > completedBefore) &&
    until >= completedAt.slice(0, DATE_CHARACTERS));

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

/** DOMAIN 3.5 asks for the seven items of Decree 28(1) without naming them, so they have the names that events use. */
const CHECKLIST = Type.Array(
  Type.Object({
    item: Type.String({ description: "As the event names it." }),
    state: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
      description:
        "What was said of it last; null where it was only named, or without a storable value: a list, or a number that no double holds, such as 1e400.",
    }),
  }),
  {
    maxItems: METADATA_LIST_ITEMS_MAX,
    description:
      "The content items of the assessment (for Korea the seven of Decree 28(1) of the AI Basic Act), by name, from `metadata.checklist`, `items` or `content_items` of its events: an object by item, or an array. Prooftrail adds none.",
  },
);

const checklistOf = (row: Row): readonly unknown[] => {
  const said: Latest = JSON.parse(rowText(row, "said"));
  return Object.entries(said)
    .filter(([name]) => name.startsWith(CHECKLIST_ITEM))
    .map(([name, [state]]) => ({ item: name.slice(CHECKLIST_ITEM.length), state: JSON.parse(state) }));
};

export const assessmentList: List = {
  view: "assessments",
  table: ASSESSMENTS,
  orderBy: ["at", "assessment_id"],
  time: "the time of the first event about it",
  filters: ["asset_id", "state"],
  values: { state: ASSESSMENT_STATES },
  hidden: ["at", "said"],
  about: {
    valid_until:
      "As the events state for the last completion; for a bias audit without it, the date a year after it was completed, in New York (NYC Administrative Code § 20-871(a)). In coverage an audit ends with the earlier of the two.",
  },
  derived: { checklist: { schema: CHECKLIST, of: checklistOf } },
};

export const riskChangeList: List = {
  view: "assessments",
  table: RISK_CHANGES,
  orderBy: ["at", "event_id"],
  time: "when it changed",
  filters: ["asset_id"],
  times: ["at"],
  about: { at: "The time of the event that says so." },
  json: {
    input: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()], {
      description: `What was classified: \`metadata.input\` (or \`normalized_input\`, as the classification answers) of the event. Null where it says nothing, or more than ${METADATA_JSON_CHARACTERS_MAX} characters of JSON.`,
    }),
    clauses: Type.Array(Type.String(), {
      maxItems: METADATA_LIST_ITEMS_MAX,
      description:
        "Articles that the event names: `metadata.clauses` (or the `ref` of each of `cited_clauses`).",
    }),
  },
};
