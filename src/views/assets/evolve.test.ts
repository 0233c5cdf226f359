import { expect, test } from "bun:test";
import { eventFacts } from "../../event/facts.ts";
import { factOf } from "../../law/cases/fact.ts";
import { EVENTS } from "../events/tables.ts";
import type { States, StoredRecord } from "../kit/projection.ts";
import type { Row } from "../store/tables.ts";
import { assetsProjection } from "./evolve.ts";
import { ASSETS } from "./tables.ts";

const recordOf = (sequence: number): StoredRecord => {
  const event = {
    event_id: `evt_${sequence}`,
    timestamp: "2026-11-20T09:59:59Z",
    asset_id: "credit_model",
    event_type: "model.model_deployed",
    asset_version: `${sequence}.0`,
  };
  const facts = eventFacts(event);
  if (facts === undefined) throw new Error("the event has no facts");
  const record = { tenant: "acme", receivedAt: "", requestId: "", eventText: JSON.stringify(event) };
  const told = { fact: factOf(facts, sequence, event.timestamp), names: [] };
  return { sequence, tenant: "acme", record, eventId: event.event_id, facts, told };
};

/** The row that follows from the record if the asset has this row. */
const rowAfter = (sequence: number, asset: Row | undefined): Row => {
  const states: States = {
    isNamed: () => true,
    known: () => [],
    get: (table) => (table === EVENTS ? { sequence } : asset),
  };
  const { writes } = assetsProjection.evolve(states, [recordOf(sequence)]);
  const [row] = writes.flatMap((write) => ("row" in write && write.table === ASSETS ? [write.row] : []));
  if (row === undefined) throw new Error("no row of the asset was written");
  return row;
};

test("a retry starts from the stored row, not from the result of the earlier try", () => {
  const first = rowAfter(1, undefined);
  expect(rowAfter(9, first)).toMatchObject({ events: 2, version: "9.0" });
  const second = rowAfter(2, first);
  expect(second).toMatchObject({ events: 2, version: "2.0" });
  expect(rowAfter(3, second)).toEqual(rowAfter(3, { ...second }));
});
