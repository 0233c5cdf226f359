/**
 * What read models are made of: which records they count, the shape of one whose events are each about one thing, and a table described once.
 *
 * Most projections count each event once. The broker recognizes a repeated event for ten minutes only; the view `events` knows all events forever,
 * and runs before all others. So its rows decide whether a record is the first of its event.
 */
import type { EventFacts } from "../../event/facts.ts";
import type { Fact } from "../../law/cases/fact.ts";
import { EVENTS, sequenceOf } from "../events/tables.ts";
import {
  type Column,
  INTEGER,
  keyText,
  NULLABLE_INTEGER,
  NULLABLE_TEXT,
  type Row,
  type Table,
  TEXT,
  type Value,
} from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import type { Latest } from "./latest.ts";
import type { FirstEvent, FirstEventProjection, Rule, StateKey, States, StoredRecord } from "./projection.ts";

interface FirstEventsRule extends Omit<Rule<FirstEvent>, "evolve" | "asksForEvents"> {
  evolve(states: States, events: readonly FirstEvent[]): readonly Write[];
}

export const onFirstEvents = ({ evolve, ...rule }: FirstEventsRule): FirstEventProjection => ({
  ...rule,
  takes: "first_events",
  asksForEvents: true,
  evolve: (states, events) => ({ writes: evolve(states, events) }),
});

/** The rows of EVENTS that say whether records are first ones. */
export const eventsKeys = (records: readonly StoredRecord[]): readonly StateKey[] =>
  records.filter(hasFacts).map(({ tenant, facts }) => ({ table: EVENTS, key: eventKey(tenant, facts) }));

/** A record without facts is a dead letter of the view `events`, and one dead letter is enough. */
export const hasFacts = (record: StoredRecord): record is FirstEvent => record.facts !== undefined;

export const isFirst = (states: States, { tenant, facts, sequence }: FirstEvent): boolean => {
  const row = states.get(EVENTS, eventKey(tenant, facts));
  return row !== undefined && sequenceOf(row) === sequence;
};

export const eventKey = (tenant: string, { eventId }: Pick<EventFacts, "eventId">): Row => ({
  tenant,
  event_id: eventId,
});

/** Maps with several values as the key, one level of maps for each. One text as the key would have to be made and hashed for every event. */
export type Level<Below> = Map<string, Below>;

/** The level below a value, created if there is none. */
export const below = <Below>(level: Level<Level<Below>>, value: string): Level<Below> => {
  const known = level.get(value);
  if (known) return known;
  const made: Level<Below> = new Map();
  level.set(value, made);
  return made;
};

/** The shape of a read model of things: an event is about one thing or none, which is read once for a batch, grows with each of its events, and is written once. */
interface ThingsRule<Thing> extends Omit<Rule<FirstEvent>, "stateKeys" | "evolve" | "asksForEvents"> {
  /** Which thing of its tenant an event is about. */
  idOf(event: FirstEvent): string | undefined;
  /** The rows from which the thing is read. */
  keysOf(event: FirstEvent): readonly StateKey[];
  /** As all earlier batches left it; `event` is its first in this one. */
  read(states: States, event: FirstEvent): Thing;
  /** Changes it in place. */
  grow(thing: Thing, event: FirstEvent, states: States): void;
  writesOf(thing: Thing, tenant: string, id: string): readonly Write[];
}

export const ofThings = <Thing>(described: ThingsRule<Thing>): FirstEventProjection => {
  const { idOf, keysOf, read, grow, writesOf, ...rule } = described;
  return onFirstEvents({
    ...rule,
    stateKeys: (events) => events.filter((event) => idOf(event) !== undefined).flatMap(keysOf),
    evolve: (states, events) => {
      const tenants: Level<Level<Thing>> = new Map();
      for (const event of events) {
        const id = idOf(event);
        if (id === undefined) continue;
        const things = below(tenants, event.tenant);
        const thing = things.get(id) ?? read(states, event);
        things.set(id, thing);
        grow(thing, event, states);
      }
      return [...tenants].flatMap(([tenant, things]) =>
        [...things].flatMap(([id, thing]) => writesOf(thing, tenant, id)),
      );
    },
  });
};

/** What turns the rows of something as it was into its rows as it is. */
export const rowChanges = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  if (before.length === 0) return now.map((row) => ({ kind: "upsert", table, row }));
  const old = new Map(before.map((row) => [keyText(table, row), row]));
  const writes: Write[] = [];
  for (const row of now) {
    const key = keyText(table, row);
    const known = old.get(key);
    old.delete(key);
    if (known && Object.keys(row).every((name) => row[name] === known[name])) continue;
    // Nothing else has a row with this key. If it had, nothing should be refused because of it.
    writes.push({ kind: "upsert", table, row });
  }
  for (const row of old.values()) {
    const key = Object.fromEntries(table.primaryKey.map((name) => [name, row[name] ?? null]));
    writes.push({ kind: "delete", table, key });
  }
  return writes;
};

/** A column with the value that it has in the row of one thing. */
interface ColumnFrom<Thing> {
  readonly column: Column;
  of(thing: Thing): Value | undefined;
}

type ColumnsFrom<Thing> = Readonly<Record<string, ColumnFrom<Thing>>>;

export const columnsOf = <Thing>() => {
  const optional = (of: (thing: Thing) => string | null | undefined): ColumnFrom<Thing> => ({
    column: NULLABLE_TEXT,
    of,
  });
  return {
    optional,
    text: (of: (thing: Thing) => string): ColumnFrom<Thing> => ({ column: TEXT, of }),
    integer: (of: (thing: Thing) => number): ColumnFrom<Thing> => ({ column: INTEGER, of }),
    optionalInteger: (of: (thing: Thing) => number | null | undefined): ColumnFrom<Thing> => ({
      column: NULLABLE_INTEGER,
      of,
    }),
    /** When an event happened, and when the log received it. */
    times: (name: string, factIn: (thing: Thing) => Fact | undefined): ColumnsFrom<Thing> => ({
      [`${name}_at`]: optional((thing) => factIn(thing)?.at),
      [`${name}_recorded_at`]: optional((thing) => factIn(thing)?.recorded),
    }),
    saidTimes: (name: string, said: string, latestIn: (thing: Thing) => Latest): ColumnsFrom<Thing> => ({
      [`${name}_at`]: optional((thing) => latestIn(thing)[said]?.[0]),
      [`${name}_recorded_at`]: optional((thing) => latestIn(thing)[said]?.[3]),
    }),
  };
};

export const tableOf = <Thing>({
  columns,
  ...described
}: Omit<Table, "columns"> & {
  readonly columns: ColumnsFrom<Thing>;
}): { readonly table: Table; readonly rowOf: (tenant: string, thing: Thing) => Row } => {
  const entries = Object.entries(columns);
  const types = Object.fromEntries(entries.map(([name, { column }]) => [name, column]));
  return {
    table: { ...described, columns: { tenant: TEXT, ...types } },
    rowOf: (tenant, thing) => {
      const row: Record<string, Value> = { tenant };
      for (const [name, { of }] of entries) row[name] = of(thing) ?? null;
      return row;
    },
  };
};
