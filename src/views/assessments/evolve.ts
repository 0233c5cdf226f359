import { keptText } from "../../event/facts.ts";
import { CLAUSE_NAMES, metadataChecklist, metadataJson, metadataTexts } from "../../event/metadata-lists.ts";
import { auditedDates, isBiasAudit } from "../../law/obligations/bias-audit.ts";
import { METADATA_LIST_ITEMS_MAX } from "../../limits.ts";
import { type FirstEvent, onFirstEvents } from "../kit/first-events.ts";
import { earlierOf, type Latest, latestText, type Said, withSaid } from "../kit/latest.ts";
import type { States } from "../kit/projection.ts";
import { type Row, type RowOf, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { assessmentId } from "./assessment-id.ts";
import { isSaidOfCompletion } from "./said-end.ts";
import { ASSESSMENTS, type AssessmentState, CHECKLIST_ITEM, RISK_CHANGES } from "./tables.ts";

const STARTED = "assessment.impact_assessment_started";
const UPDATED = "assessment.impact_assessment_updated";
const COMPLETED = "assessment.impact_assessment_completed";
const RISK_CHANGED = "assessment.risk_classification_changed";

/** The end of validity that was stated last with a completion. */
const COMPLETED_UNTIL = "completed_until";
/** When it was completed before the last time. */
const COMPLETED_BEFORE = "completed_before";

const isAssessment = ({ facts }: FirstEvent): boolean =>
  facts.eventType.startsWith("assessment.impact_assessment_");

const keyOf = ({ tenant, facts }: FirstEvent) => ({
  tenant,
  assessment_id: assessmentId(facts),
});

const evolve = (states: States, events: readonly FirstEvent[]): readonly Write[] => {
  const rows = new Map<string, RowOf<typeof ASSESSMENTS>>();
  for (const event of events.filter(isAssessment)) {
    const key = keyOf(event);
    const name = JSON.stringify(Object.values(key));
    rows.set(name, grown(key, rows.get(name) ?? states.get(ASSESSMENTS, key), event));
  }
  return [
    ...[...rows.values()].map((row): Write => ({ kind: "upsert", table: ASSESSMENTS, row })),
    ...events
      .filter(({ facts }) => facts.eventType === RISK_CHANGED)
      .map((event): Write => ({ kind: "insert", table: RISK_CHANGES, row: riskChange(event) })),
  ];
};

/** Names of statements about an assessment, and the keys of `metadata` in which they are. */
const DESCRIBED = {
  assessment_type: ["assessment_type", "type"],
  version: ["assessment_version", "version"],
  valid_until: ["valid_until"],
} as const;

const grown = (
  key: ReturnType<typeof keyOf>,
  before: Row | undefined,
  { facts, told: { fact } }: FirstEvent,
): RowOf<typeof ASSESSMENTS> => {
  const { occurred, eventId, eventType, metadata, assetId } = facts;
  const say = (latest: Latest, name: string, value: string | undefined): Latest => {
    const said: Said = [value ?? "", occurred, eventId];
    return value === undefined ? latest : withSaid(latest, name, said);
  };
  let said: Latest = before ? JSON.parse(rowText(before, "said")) : {};
  for (const [name, keys] of Object.entries(DESCRIBED)) said = say(said, name, keptText(metadata, ...keys));
  for (const { item, state } of metadataChecklist(metadata, "checklist", "items", "content_items"))
    said = say(said, CHECKLIST_ITEM + item, JSON.stringify(state));
  if (eventType === COMPLETED) {
    said = say(said, COMPLETED_UNTIL, keptText(metadata, ...DESCRIBED.valid_until));
    const last = said[COMPLETED]?.[0];
    const before = last === undefined || last === occurred ? undefined : earlierOf(last, occurred);
    if (before !== undefined) said = withSaid(said, COMPLETED_BEFORE, [before, before, ""]);
  }
  said = withSaid(said, eventType, [occurred, occurred, eventId, fact.recorded]);
  said = withinChecklist(say(said, "asset_id", assetId));
  const at = before ? rowText(before, "at") : occurred;
  const of = (name: string): string | null => said[name]?.[0] ?? null;
  const recordedOf = (name: string): string | null => said[name]?.[3] ?? null;
  const [startedAt, completedAt] = [of(STARTED), of(COMPLETED)];
  return {
    ...key,
    asset_id: of("asset_id") ?? assetId,
    assessment_type: of("assessment_type"),
    version: of("version"),
    at: earlierOf(occurred, at),
    state: (completedAt !== null && (startedAt === null || completedAt >= startedAt)
      ? "completed"
      : startedAt !== null
        ? "started"
        : "orphan") satisfies AssessmentState,
    started_at: startedAt,
    started_recorded_at: recordedOf(STARTED),
    updated_at: of(UPDATED),
    updated_recorded_at: recordedOf(UPDATED),
    completed_at: completedAt,
    completed_recorded_at: recordedOf(COMPLETED),
    valid_until: validUntil(said, completedAt),
    said: latestText(said),
  };
};

/** The first items by name are kept, so that the limit does not depend on the order of arrival. */
const withinChecklist = (said: Latest): Latest => {
  const items = Object.keys(said).filter((name) => name.startsWith(CHECKLIST_ITEM));
  if (items.length <= METADATA_LIST_ITEMS_MAX) return said;
  const surplus = new Set(items.sort().slice(METADATA_LIST_ITEMS_MAX));
  return Object.fromEntries(Object.entries(said).filter(([name]) => !surplus.has(name)));
};

/** As stated for the last completion; for a bias audit without a stated end, the last date of the law's year. */
const validUntil = (said: Latest, completedAt: string | null): string | null => {
  if (said.valid_until !== undefined) {
    const [until, at, saidBy] = said.valid_until;
    const isByCompletion = saidBy === said[COMPLETED_UNTIL]?.[2];
    if (
      completedAt === null ||
      isSaidOfCompletion({ until, at, isByCompletion }, completedAt, said[COMPLETED_BEFORE]?.[0])
    )
      return until;
  }
  const isAudit = completedAt !== null && isBiasAudit(said.assessment_type?.[0]);
  return isAudit ? auditedDates(completedAt, undefined).last : null;
};

const riskChange = ({ tenant, facts, told: { fact } }: FirstEvent): RowOf<typeof RISK_CHANGES> => {
  const { metadata } = facts;
  const said = (...names: readonly string[]): string | null => keptText(metadata, ...names) ?? null;
  return {
    tenant,
    event_id: facts.eventId,
    asset_id: facts.assetId,
    at: facts.occurred,
    recorded_at: fact.recorded,
    from_tier: said("from", "from_tier", "old_tier", "previous_tier"),
    to_tier: said("to", "to_tier", "new_tier", "risk_tier") ?? facts.riskTier,
    reason: said("reason"),
    ruleset_version: said("ruleset_version"),
    actor: said("actor", "changed_by"),
    input: metadataJson(metadata, "input", "normalized_input", "inputs") ?? null,
    clauses: JSON.stringify(metadataTexts(metadata, ...CLAUSE_NAMES)),
  };
};

export const assessmentsProjection = onFirstEvents({
  name: "assessments",
  version: 12,
  tables: [ASSESSMENTS, RISK_CHANGES],
  stateKeys: (events) =>
    events.filter(isAssessment).map((event) => ({ table: ASSESSMENTS, key: keyOf(event) })),
  evolve,
});
