import { metadataText } from "../../event/facts.ts";
import { isBiasAudit } from "../../law/obligations/bias-audit.ts";
import { assessmentId } from "../assessments/tables.ts";
import type { FirstEvent } from "../kit/projection.ts";
import { onFirstEvents } from "../kit/read-model.ts";
import type { RowOf } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { ASSESSMENT_EVENTS, AUDITED } from "./tables.ts";

const ASSESSMENT = "assessment.impact_assessment_";
const STARTED = `${ASSESSMENT}started`;
const COMPLETED = `${ASSESSMENT}completed`;

const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] => {
  const writes: Write[] = [];
  for (const { tenant, facts } of events) {
    if (!facts.eventType.startsWith(ASSESSMENT)) continue;
    const { metadata, occurred: at, eventId: event_id, assetId: asset_id } = facts;
    const [isStarted, isCompleted] = [STARTED, COMPLETED].map((type) => facts.eventType === type);
    const row: RowOf<typeof ASSESSMENT_EVENTS> = {
      tenant,
      assessment_id: assessmentId(facts),
      at,
      event_id,
      asset_id,
      is_started: isStarted ? 1 : 0,
      is_completed: isCompleted ? 1 : 0,
      assessment_type: metadataText(metadata, "assessment_type", "type") ?? null,
      valid_until: metadataText(metadata, "valid_until") ?? null,
    };
    const { assessment_id, assessment_type: type } = row;
    if (isStarted || isCompleted || type !== null || row.valid_until !== null)
      writes.push({ kind: "insert", table: ASSESSMENT_EVENTS, row });
    if (type === null ? isCompleted : isBiasAudit(type))
      writes.push({ kind: "upsert", table: AUDITED, row: { tenant, asset_id, assessment_id } });
  }
  return writes;
};

export const auditsProjection = onFirstEvents({
  name: "audits",
  version: 9,
  tables: [AUDITED, ASSESSMENT_EVENTS],
  stateKeys: () => [],
  evolve,
});
