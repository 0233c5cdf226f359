/**
 * The view `events`: every event once, under (tenant, event_id). The first one stays, the same one again changes nothing, and a different one with the same
 * event_id becomes a dead letter, `event_id_conflict`. Whatever comes with the event_id of an expired event is a repeat.
 */

import { classOf, classText, countedFrom } from "../../access/retention/age.ts";
import type { EventFacts } from "../../event/facts.ts";
import { timeKey } from "../../event/formats.ts";
import type { Sequence } from "../../log/outcome.ts";
import { sameContent } from "../../log/same-content.ts";
import type { Evolution, RecordProjection, Rejection, States, StoredRecord } from "../kit/projection.ts";
import { below, eventKey, eventsKeys, type Level } from "../kit/read-model.ts";
import { type Row, type RowOf, rowText } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { expireEventsAlike } from "./expiry.ts";
import { EVENT_WORDS, EVENTS, EVENTS_VIEW, isExpired, sequenceOf } from "./tables.ts";
import { createEventWords, eventLabels } from "./terms.ts";

const evolve = (states: States, records: readonly StoredRecord[]): Evolution => {
  const writes: Write[] = [];
  const rejected: Rejection[] = [];
  const tenants: Level<Level<First>> = new Map();
  const eventWords = createEventWords();
  for (const stored of records) {
    const { facts, sequence } = stored;
    if (facts === undefined) {
      const detail = "event_id, timestamp, asset_id or event_type is missing or malformed";
      rejected.push({ sequence, code: "invalid_event", detail });
      continue;
    }
    const { tenant, eventText } = stored.record;
    const firsts = below(tenants, tenant);
    const first = firsts.get(facts.eventId) ?? storedFirst(states, eventKey(tenant, facts));
    if (first === undefined) {
      firsts.set(facts.eventId, stored);
      for (const write of newRows(stored, facts, eventWords(facts))) writes.push(write);
    } else if (first.record && !sameContent(first.record.eventText, eventText)) {
      const detail = `the event at sequence ${first.sequence} has the same event_id and other content`;
      rejected.push({ sequence, code: "event_id_conflict", detail });
    }
  }
  return { writes, rejected };
};

interface First {
  readonly sequence: Sequence;
  readonly record: { readonly eventText: string } | undefined;
}

const storedFirst = (states: States, key: Row): First | undefined => {
  const row = states.get(EVENTS, key);
  if (!row) return undefined;
  const record = isExpired(row) ? undefined : { eventText: rowText(row, "event") };
  return { sequence: sequenceOf(row), record };
};

const newRows = (
  { sequence, record }: StoredRecord,
  facts: EventFacts,
  words: readonly string[],
): readonly Write[] => {
  const { tenant } = record;
  const received = timeKey(record.receivedAt);
  const row: RowOf<typeof EVENTS> = {
    tenant,
    event_id: facts.eventId,
    sequence,
    received_at: record.receivedAt,
    request_id: record.requestId,
    occurred: facts.occurred,
    retention_class: classText(classOf(facts.legalBases, facts.riskTier)),
    counted_from: countedFrom({ occurred: facts.occurred, received }),
    expired_at: "",
    event: record.eventText,
  };
  return [
    { kind: "insert", table: EVENTS, row },
    {
      kind: "index",
      index: EVENT_WORDS,
      tenant,
      sequence,
      words,
      labels: eventLabels(facts),
      times: [
        { name: "occurred", time: facts.occurred },
        { name: "received_at", time: received },
      ],
    },
  ];
};

export const eventsProjection: RecordProjection = {
  name: EVENTS_VIEW,
  version: 30,
  tables: [EVENTS],
  textIndexes: [EVENT_WORDS],
  expireAlike: (live, made) => expireEventsAlike(live, made, eventsProjection),
  stateKeys: eventsKeys,
  evolve,
};
