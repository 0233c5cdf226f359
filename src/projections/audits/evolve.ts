import { metadataText } from "../../event/facts.ts";
import { BIAS_AUDIT } from "../../obligations/bias-audit.ts";
import type { RowOf } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { AUDITS } from "./tables.ts";

const COMPLETED = "assessment.impact_assessment_completed";

const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] => {
  const writes: Write[] = [];
  for (const { tenant, facts } of events) {
    if (facts.eventType !== COMPLETED) continue;
    const { metadata } = facts;
    const type = metadataText(metadata, "assessment_type", "type") ?? null;
    if (type !== null && type !== BIAS_AUDIT.assessmentType) continue;
    const row: RowOf<typeof AUDITS> = {
      tenant,
      asset_id: facts.assetId,
      at: facts.occurred,
      event_id: facts.eventId,
      assessment_id: metadataText(metadata, "assessment_id") ?? facts.assetId,
      assessment_type: type,
      valid_until: metadataText(metadata, "valid_until") ?? null,
    };
    writes.push({ kind: "insert", table: AUDITS, row });
  }
  return writes;
};

export const auditsProjection = onFirstEvents({
  name: "audits",
  version: 1,
  tables: [AUDITS],
  stateKeys: () => [],
  evolve,
});
