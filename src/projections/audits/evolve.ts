import { metadataName, metadataText } from "../../event/facts.ts";
import { BIAS_AUDIT } from "../../obligations/bias-audit.ts";
import type { RowOf } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { type FirstEvent, onFirstEvents } from "../first-events.ts";
import { ASSESSMENT_TYPES, AUDITS } from "./tables.ts";

const ASSESSMENT = "assessment.impact_assessment_";
const COMPLETED = `${ASSESSMENT}completed`;

const evolve = (_states: unknown, events: readonly FirstEvent[]): readonly Write[] => {
  const writes: Write[] = [];
  for (const { tenant, facts } of events) {
    if (!facts.eventType.startsWith(ASSESSMENT)) continue;
    const { metadata, occurred: at, eventId: event_id } = facts;
    const assessment_id = metadataName(metadata, "assessment_id") ?? facts.assetId;
    const type = metadataText(metadata, "assessment_type", "type") ?? null;
    if (type !== null) {
      const said: RowOf<typeof ASSESSMENT_TYPES> = {
        tenant,
        assessment_id,
        at,
        event_id,
        assessment_type: type,
      };
      writes.push({ kind: "insert", table: ASSESSMENT_TYPES, row: said });
    }
    if (facts.eventType !== COMPLETED || (type !== null && type !== BIAS_AUDIT.assessmentType)) continue;
    const row: RowOf<typeof AUDITS> = {
      tenant,
      asset_id: facts.assetId,
      at,
      event_id,
      assessment_id,
      assessment_type: type,
      valid_until: metadataText(metadata, "valid_until") ?? null,
    };
    writes.push({ kind: "insert", table: AUDITS, row });
  }
  return writes;
};

export const auditsProjection = onFirstEvents({
  name: "audits",
  version: 3,
  tables: [AUDITS, ASSESSMENT_TYPES],
  stateKeys: () => [],
  evolve,
});
