/** A table described once: each column with the value that it has in the row of one thing. */
import type { Fact } from "../../law/cases/fact.ts";
import {
  type Column,
  INTEGER,
  NULLABLE_INTEGER,
  NULLABLE_TEXT,
  type Row,
  type Table,
  TEXT,
  type Value,
} from "../store/tables.ts";
import type { Latest } from "./latest.ts";

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
