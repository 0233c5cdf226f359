/** The promise of every projection: its rows depend on the set of events and their times, not on the order or the groups in which they arrived. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { DECISION_MADE } from "../../src/law/cases/fact.ts";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { OBLIGATIONS } from "../../src/views/cases/registers/obligations.ts";
import { REGISTERS } from "../../src/views/cases/registers/registers.ts";
import { LABELING } from "../../src/views/outcomes/evolve.ts";
import { PROJECTIONS as ALL } from "../../src/views/registry.ts";
import type { Row, Table } from "../../src/views/store/tables.ts";
import { anyHistory, anyPersonEvent } from "./any-history.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf } from "./records.ts";

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
  const tables = TABLES.map((table) => ({
    table: table.name,
    // A sum that is back at zero means the same as no row.
    rows: view.rows(table).filter((row) => !isNothing(table, row)),
  }));
  return { tables, words: view.words(), labels: view.labels() };
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

test("a notice without a name waits as long as it is the first to a person and no decision was made after it", async () => {
  let waited = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyPersonEvent, { maxLength: 8 }), async (some) => {
      const events = some.map((event, index) => ({ ...event, event_id: `evt_${index}`, index }));
      type Event = (typeof events)[number];
      const isNameless = ({ event_type, subject_hash, correlation_id, metadata }: Event): boolean =>
        event_type !== DECISION_MADE &&
        subject_hash !== undefined &&
        (correlation_id ?? metadata.decision_id) === undefined;
      /** Whether the notice waits for nothing because of the other event. */
      const isOver = (notice: Event, other: Event): boolean => {
        if (other.asset_id !== notice.asset_id || other.subject_hash !== notice.subject_hash) return false;
        if (other.event_type === DECISION_MADE) return other.timestamp >= notice.timestamp;
        if (!isNameless(other) || other.timestamp > notice.timestamp) return false;
        return other.timestamp < notice.timestamp || other.event_id < notice.event_id;
      };
      const waiting = events.filter(
        (notice) =>
          isNameless(notice) &&
          notice.legal_bases?.[0] === "nyc_ll144" &&
          !events.some((other) => isOver(notice, other)),
      );
      waited += waiting.length;
      const view = createInMemoryView(...PROJECTIONS);
      const messages = events.map((event) => messageOf(event.index + 1, { event }));
      for (const group of inGroups(messages, 3)) await view.take(group);
      const rows = view.rows(OBLIGATIONS).filter(({ status }) => status === "waiting");
      const isShown = ({ event_id }: Event): boolean =>
        rows.some(({ started_by }) => started_by === event_id);
      expect(events.filter(isNameless).filter(isShown)).toEqual(waiting);
    }),
    { numRuns: 300 },
  );
  expect(waited).toBeGreaterThan(20);
});
