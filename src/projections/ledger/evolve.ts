/** The view `ledger`: how many records came in which hour, and how many of them tell nothing new. */
import { hourOf } from "../../log/accepted-counts.ts";
import { type Row, type RowOf, rowInteger } from "../../views/tables.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import type { Evolution, Projection, StateKey, States, StoredRecord } from "../projection.ts";
import { LEDGER } from "./tables.ts";

const keyOf = ({ tenant, record }: StoredRecord) => ({ tenant, hour: hourOf(record.receivedAt) });

const stateKeys = (stored: StoredRecord): readonly StateKey[] => [
  { table: LEDGER, key: keyOf(stored) },
  ...(stored.facts ? [{ table: EVENTS, key: eventKey(stored.tenant, stored.facts.eventId) }] : []),
];

const eventKey = (tenant: string, eventId: string): Row => ({ tenant, event_id: eventId });

const evolve = (states: States, records: readonly StoredRecord[]): Evolution => {
  const rows = new Map<string, RowOf<typeof LEDGER>>();
  for (const stored of records) {
    const { sequence, tenant, facts } = stored;
    const key = keyOf(stored);
    const name = `${tenant} ${key.hour}`;
    const before = rows.get(name) ?? states.get(LEDGER, key);
    const standing = facts && states.get(EVENTS, eventKey(tenant, facts.eventId));
    const isRepeated = standing !== undefined && sequenceOf(standing) !== sequence;
    rows.set(name, {
      ...key,
      records: (before ? rowInteger(before, "records") : 0) + 1,
      repeated: (before ? rowInteger(before, "repeated") : 0) + Number(isRepeated),
      malformed: (before ? rowInteger(before, "malformed") : 0) + Number(facts === undefined),
      first_sequence: Math.min(sequence, before ? rowInteger(before, "first_sequence") : sequence),
      last_sequence: Math.max(sequence, before ? rowInteger(before, "last_sequence") : sequence),
    });
  }
  return { writes: [...rows.values()].map((row) => ({ kind: "upsert", table: LEDGER, row })) };
};

export const ledgerProjection: Projection = {
  name: "ledger",
  version: 1,
  tables: [LEDGER],
  stateKeys,
  evolve,
};
