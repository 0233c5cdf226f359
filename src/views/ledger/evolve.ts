/** The view `ledger`: how many records came in which hour, and how many of them repeat an event. */
import { hourOf } from "../../log/accepted-counts.ts";
import type { Sequence } from "../../log/outcome.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import { eventKey } from "../kit/first-events.ts";
import type { Evolution, RecordProjection, StateKey, States, StoredRecord } from "../kit/projection.ts";
import { type Row, type RowInMaking, type RowOf, rowInteger } from "../store/tables.ts";
import { LEDGER, LEDGER_VIEW } from "./tables.ts";

type HourKey = Pick<RowOf<typeof LEDGER>, "tenant" | "hour">;
type Counting = RowInMaking<typeof LEDGER>;

const keyOf = ({ tenant, record }: StoredRecord): HourKey => ({ tenant, hour: hourOf(record.receivedAt) });

/** Records of one hour are mostly consecutive. */
const isOf = ({ tenant, hour }: HourKey, stored: StoredRecord): boolean =>
  tenant === stored.tenant && hour === hourOf(stored.record.receivedAt);

const stateKeys = (records: readonly StoredRecord[]): readonly StateKey[] => {
  const keys: StateKey[] = [];
  let key: HourKey | undefined;
  for (const stored of records) {
    if (key !== undefined && isOf(key, stored)) continue;
    key = keyOf(stored);
    keys.push({ table: LEDGER, key });
  }
  return keys;
};

const evolve = (states: States, records: readonly StoredRecord[]): Evolution => {
  const rows = new Map<string, Counting>();
  let row: Counting | undefined;
  for (const stored of records) {
    if (row === undefined || !isOf(row, stored)) {
      const key = keyOf(stored);
      const name = `${key.tenant} ${key.hour}`;
      row = rows.get(name) ?? counting(key, states.get(LEDGER, key), stored.sequence);
      rows.set(name, row);
    }
    const { sequence, tenant, facts } = stored;
    const first = facts && states.get(EVENTS, eventKey(tenant, facts));
    row.records++;
    if (facts === undefined) row.malformed++;
    else if (first && sequenceOf(first) !== sequence) row.repeated++;
    row.first_sequence = Math.min(sequence, row.first_sequence);
    row.last_sequence = Math.max(sequence, row.last_sequence);
  }
  return { writes: [...rows.values()].map((each) => ({ kind: "upsert", table: LEDGER, row: each })) };
};

const counting = (key: HourKey, before: Row | undefined, sequence: Sequence): Counting => ({
  ...key,
  records: before ? rowInteger(before, "records") : 0,
  repeated: before ? rowInteger(before, "repeated") : 0,
  malformed: before ? rowInteger(before, "malformed") : 0,
  first_sequence: before ? rowInteger(before, "first_sequence") : sequence,
  last_sequence: before ? rowInteger(before, "last_sequence") : sequence,
});

export const ledgerProjection: RecordProjection = {
  name: LEDGER_VIEW,
  version: 1,
  tables: [LEDGER],
  asksForEvents: true,
  stateKeys,
  evolve,
};
