/** The view `ledger`: how many records came in which hour, and how many of them tell nothing new. */
import { hourOf } from "../../log/accepted-counts.ts";
import type { Sequence } from "../../log/outcome.ts";
import { type Row, type RowInMaking, rowInteger } from "../../views/tables.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import type { Evolution, Projection, StateKey, States, StoredRecord } from "../projection.ts";
import { LEDGER } from "./tables.ts";

const keyOf = ({ tenant, record }: StoredRecord) => ({ tenant, hour: hourOf(record.receivedAt) });

const nameOf = ({ tenant, hour }: ReturnType<typeof keyOf>): string => `${tenant} ${hour}`;

const stateKeys = (records: readonly StoredRecord[]): readonly StateKey[] => {
  const keys = records.map(keyOf).map((key) => [nameOf(key), key] as const);
  return Array.from(new Map(keys).values(), (key) => ({ table: LEDGER, key }));
};

const eventKey = (tenant: string, eventId: string): Row => ({ tenant, event_id: eventId });

const evolve = (states: States, records: readonly StoredRecord[]): Evolution => {
  const rows = new Map<string, Counting>();
  for (const stored of records) {
    const { sequence, tenant, facts } = stored;
    const key = keyOf(stored);
    const name = nameOf(key);
    const row = rows.get(name) ?? counting(key, states.get(LEDGER, key), sequence);
    rows.set(name, row);
    const standing = facts && states.get(EVENTS, eventKey(tenant, facts.eventId));
    row.records++;
    if (facts === undefined) row.malformed++;
    else if (standing !== undefined && sequenceOf(standing) !== sequence) row.repeated++;
    row.first_sequence = Math.min(sequence, row.first_sequence);
    row.last_sequence = Math.max(sequence, row.last_sequence);
  }
  return { writes: [...rows.values()].map((row) => ({ kind: "upsert", table: LEDGER, row })) };
};

type Counting = RowInMaking<typeof LEDGER>;

const counting = (key: ReturnType<typeof keyOf>, before: Row | undefined, sequence: Sequence): Counting => ({
  ...key,
  records: before ? rowInteger(before, "records") : 0,
  repeated: before ? rowInteger(before, "repeated") : 0,
  malformed: before ? rowInteger(before, "malformed") : 0,
  first_sequence: before ? rowInteger(before, "first_sequence") : sequence,
  last_sequence: before ? rowInteger(before, "last_sequence") : sequence,
});

export const ledgerProjection: Projection = {
  name: "ledger",
  version: 1,
  tables: [LEDGER],
  asksForEvents: true,
  stateKeys,
  evolve,
};
