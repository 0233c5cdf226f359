/** The view `ledger`: how many records came in which hour, and how many of them repeat an event. */
import { hourOf } from "../../log/accepted-counts.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import type { Evolution, RecordProjection, StateKey, States, StoredRecord } from "../kit/projection.ts";
import { eventKey } from "../kit/read-model.ts";
import { rowInteger } from "../store/tables.ts";
import { LEDGER, LEDGER_VIEW } from "./tables.ts";

/** One list of records for each tenant and hour. */
const hoursOf = (records: readonly StoredRecord[]) =>
  [
    ...Map.groupBy(records, ({ tenant, record }) => `${tenant} ${hourOf(record.receivedAt)}`).values(),
  ].flatMap((inHour) => {
    const [first] = inHour;
    return first
      ? [{ key: { tenant: first.tenant, hour: hourOf(first.record.receivedAt) }, first, inHour }]
      : [];
  });

const stateKeys = (records: readonly StoredRecord[]): readonly StateKey[] =>
  hoursOf(records).map(({ key }) => ({ table: LEDGER, key }));

const evolve = (states: States, records: readonly StoredRecord[]): Evolution => ({
  writes: hoursOf(records).map(({ key, first, inHour }) => {
    const before = states.get(LEDGER, key);
    const count = (column: "records" | "repeated" | "malformed") => (before ? rowInteger(before, column) : 0);
    const row = {
      ...key,
      records: count("records") + inHour.length,
      repeated: count("repeated"),
      malformed: count("malformed"),
      first_sequence: before ? rowInteger(before, "first_sequence") : first.sequence,
      last_sequence: before ? rowInteger(before, "last_sequence") : first.sequence,
    };
    for (const { sequence, tenant, facts } of inHour) {
      const event = facts && states.get(EVENTS, eventKey(tenant, facts));
      if (facts === undefined) row.malformed++;
      else if (event && sequenceOf(event) !== sequence) row.repeated++;
      row.first_sequence = Math.min(sequence, row.first_sequence);
      row.last_sequence = Math.max(sequence, row.last_sequence);
    }
    return { kind: "upsert", table: LEDGER, row };
  }),
});

export const ledgerProjection: RecordProjection = {
  name: LEDGER_VIEW,
  version: 1,
  tables: [LEDGER],
  asksForEvents: true,
  stateKeys,
  evolve,
};
