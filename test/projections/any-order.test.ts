/** The promise of every projection: its rows depend on the set of events and their times, not on the order or the groups in which they arrived. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { REGISTERS } from "../../src/projections/cases/registers/registers.ts";
import { LABELING } from "../../src/projections/outcomes/tables.ts";
import { PROJECTIONS as ALL } from "../../src/projections/registry.ts";
import type { Row, Table } from "../../src/views/tables.ts";
import { anyHistory } from "./any-history.ts";
import { createInMemoryView } from "./in-memory-view.ts";

/** All views but those that record only arrival: the one that counts records, and the tree that proves their order. */
const PROJECTIONS = ALL.filter(({ name }) => name !== "ledger" && name !== "tree");
const TABLES = PROJECTIONS.flatMap(({ tables, besideLog = [] }) =>
  tables.filter((table) => !besideLog.includes(table)),
);

/** Every column of these tables, except the key, is a sum. */
const COUNTING = new Set<Table>([
  LABELING,
  ...REGISTERS.flatMap(({ kind, table }) => (kind === "counts" ? [table] : [])),
]);

const isNothing = (table: Table, row: Row): boolean =>
  COUNTING.has(table) &&
  Object.entries(row).every(([name, value]) => table.primaryKey.includes(name) || value === 0);

const viewOf = async (groups: readonly (readonly StoredMessage[])[]) => {
  const view = createInMemoryView(...PROJECTIONS);
  for (const group of groups) expect(await view.take(group)).toEqual([]);
  return TABLES.map((table) => ({
    table: table.name,
    // A sum that is back at zero means the same as no row.
    rows: view.rows(table).filter((row) => !isNothing(table, row)),
  }));
};

const inGroups = (messages: readonly StoredMessage[], size: number): readonly (readonly StoredMessage[])[] =>
  Array.from({ length: Math.ceil(messages.length / size) }, (_, index) =>
    messages.slice(index * size, (index + 1) * size),
  );

test("every view is the same for any order of arrival, and for groups of any size", async () => {
  const shuffles = anyHistory.chain((messages) =>
    fc.record({
      messages: fc.constant(messages),
      shuffled: fc.shuffledSubarray(messages, { minLength: messages.length }),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(shuffles, async ({ messages, shuffled, size }) => {
      expect(await viewOf(inGroups(shuffled, size))).toEqual(await viewOf([messages]));
    }),
    { numRuns: 300 },
  );
});

test("repeated events change no view", async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (messages) => {
      const again = messages.map((message) => ({ ...message, sequence: message.sequence + 1000 }));
      expect(await viewOf([messages, again])).toEqual(await viewOf([messages]));
    }),
  );
});
