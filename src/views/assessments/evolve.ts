import { keptText } from "../../event/facts.ts";
import { metadataChecklist } from "../../event/metadata-lists.ts";
import { METADATA_LIST_ITEMS_MAX } from "../../limits.ts";
import { earlierOf, type Latest, withSaid } from "../kit/latest.ts";
import type { FirstEvent, FirstEventProjection } from "../kit/projection.ts";
import { ofThings } from "../kit/read-model.ts";
import { type Row, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import {
  ASSESSMENTS,
  assessmentId,
  assessmentRow,
  CHECKLIST_ITEM,
  COMPLETED,
  COMPLETED_BEFORE,
  COMPLETED_UNTIL,
  RISK_CHANGES,
  riskChangeRow,
} from "./tables.ts";

const RISK_CHANGED = "assessment.risk_classification_changed";

const keyOf = ({ tenant, facts }: FirstEvent) => ({ tenant, assessment_id: assessmentId(facts) });

const DESCRIBED = {
  assessment_type: ["assessment_type", "type"],
  version: ["assessment_version", "version"],
  valid_until: ["valid_until"],
} as const;

const grown = (before: Row | undefined, { tenant, facts, recorded }: FirstEvent): Row => {
  const { occurred, eventId, eventType, metadata, assetId } = facts;
  let said: Latest = before ? JSON.parse(rowText(before, "said")) : {};
  const say = (name: string, value: string | undefined): void => {
    if (value !== undefined) said = withSaid(said, name, [value, occurred, eventId]);
  };
  for (const [name, keys] of Object.entries(DESCRIBED)) say(name, keptText(metadata, ...keys));
  for (const { item, state } of metadataChecklist(metadata, "checklist", "items", "content_items"))
    say(CHECKLIST_ITEM + item, JSON.stringify(state));
  if (eventType === COMPLETED) {
    say(COMPLETED_UNTIL, keptText(metadata, ...DESCRIBED.valid_until));
    const last = said[COMPLETED]?.[0];
    const earlier = last === undefined || last === occurred ? undefined : earlierOf(last, occurred);
    if (earlier !== undefined) said = withSaid(said, COMPLETED_BEFORE, [earlier, earlier, ""]);
  }
  said = withSaid(said, eventType, [occurred, occurred, eventId, recorded]);
  say("asset_id", assetId);
  const at = before ? earlierOf(occurred, rowText(before, "at")) : occurred;
  return assessmentRow(tenant, { id: assessmentId(facts), at, said: withinChecklist(said) });
};

/** The first items by name are kept, so that the limit does not depend on the order of arrival. */
const withinChecklist = (said: Latest): Latest => {
  const items = Object.keys(said).filter((name) => name.startsWith(CHECKLIST_ITEM));
  if (items.length <= METADATA_LIST_ITEMS_MAX) return said;
  const surplus = new Set(items.sort().slice(METADATA_LIST_ITEMS_MAX));
  return Object.fromEntries(Object.entries(said).filter(([name]) => !surplus.has(name)));
};

const assessments = ofThings<{ row: Row | undefined }>({
  name: "assessments",
  version: 12,
  tables: [ASSESSMENTS, RISK_CHANGES],
  idOf: ({ facts }) =>
    facts.eventType.startsWith("assessment.impact_assessment_") ? assessmentId(facts) : undefined,
  keysOf: (event) => [{ table: ASSESSMENTS, key: keyOf(event) }],
  read: (states, event) => ({ row: states.get(ASSESSMENTS, keyOf(event)) }),
  grow: (assessment, event) => {
    assessment.row = grown(assessment.row, event);
  },
  writesOf: ({ row }) => (row ? [{ kind: "upsert", table: ASSESSMENTS, row }] : []),
});

const riskChanges = (events: readonly FirstEvent[]): readonly Write[] =>
  events
    .filter(({ facts }) => facts.eventType === RISK_CHANGED)
    .map((event) => ({ kind: "insert", table: RISK_CHANGES, row: riskChangeRow(event.tenant, event) }));

export const assessmentsProjection: FirstEventProjection = {
  ...assessments,
  evolve: (states, events) => ({
    writes: [...assessments.evolve(states, events).writes, ...riskChanges(events)],
  }),
};
