/**
 * The view `events`: every event once, under (tenant, event_id). The broker recognises a repeated event for ten minutes
 * only; this rule holds for ever: the first one stays, the same one again changes nothing, and a different one under the
 * same event_id becomes a dead letter, `event_id_conflict`.
 */
import { splitEventType } from "../../../streams/subjects.ts";
import { type EventFacts, eventFacts } from "../../event/facts.ts";
import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { sameContent } from "../../log/same-content.ts";
import { type Row, type RowOf, rowInteger, rowText } from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import type { Evolution, Projection, StateKey, States, StoredRecord } from "../projection.ts";
import { EVENT_LEGAL_BASES, EVENT_TAGS, EVENTS } from "./tables.ts";

const evolve = (states: States, stored: StoredRecord): Evolution => {
  const facts = eventFacts(stored.event);
  if (facts === undefined) {
    const detail = "event_id, timestamp, asset_id or event_type is missing or malformed";
    return { kind: "rejected", code: "invalid_event", detail };
  }
  const { tenant, eventText } = stored.record;
  const first = states.get(EVENTS, { tenant, event_id: facts.eventId });
  if (first === undefined) return { kind: "rows", writes: newRows(stored, facts) };
  if (sameContent(rowText(first, "event"), eventText)) return { kind: "rows", writes: [] };
  const detail = `the event at sequence ${rowInteger(first, "sequence")} has the same event_id and other content`;
  return { kind: "rejected", code: "event_id_conflict", detail };
};

const stateKeys = ({ record, event }: StoredRecord): readonly StateKey[] => {
  if (typeof event.event_id !== "string") return [];
  const key: Row = { tenant: record.tenant, event_id: canonicalEventId(event.event_id) };
  return [{ table: EVENTS, key }];
};

const newRows = ({ sequence, record }: StoredRecord, facts: EventFacts): readonly Write[] => {
  const { tenant } = record;
  const row: RowOf<typeof EVENTS> = {
    tenant,
    event_id: facts.eventId,
    sequence,
    received_at: record.receivedAt,
    received: timeKey(record.receivedAt),
    occurred: facts.occurred,
    asset_id: facts.assetId,
    event_type: facts.eventType,
    event_group: splitEventType(facts.eventType).group,
    risk_tier: facts.riskTier,
    correlation_id: facts.correlationId,
    subject_hash: facts.subjectHash,
    trace_id: facts.traceId,
    request_id: record.requestId,
    event: record.eventText,
  };
  return [
    { kind: "insert", table: EVENTS, row },
    ...facts.legalBases.map((legalBasis) => legalBasisWrite({ tenant, legal_basis: legalBasis, sequence })),
    ...facts.tags.map(({ key, value }) => tagWrite({ tenant, key, value, sequence })),
  ];
};

const legalBasisWrite = (row: RowOf<typeof EVENT_LEGAL_BASES>): Write => ({
  kind: "insert",
  table: EVENT_LEGAL_BASES,
  row,
});

const tagWrite = (row: RowOf<typeof EVENT_TAGS>): Write => ({ kind: "insert", table: EVENT_TAGS, row });

export const eventsProjection: Projection = {
  name: "events",
  version: 1,
  tables: [EVENTS, EVENT_LEGAL_BASES, EVENT_TAGS],
  stateKeys,
  evolve,
};
