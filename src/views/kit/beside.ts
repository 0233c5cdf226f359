/**
 * Views that are built beside the live ones: the same rules, with other names of tables and a position of their own, until they take the place of the
 * live ones in one transaction. The names are translated where rows are read and written, so projections do not notice.
 */

import { type Row, rowText, type Table } from "../store/tables.ts";
import {
  DEAD_LETTERS,
  type Expectation,
  isTextWrite,
  OWN_TABLES,
  type ViewDefinition,
  type ViewStore,
  type Write,
} from "../store/view-store.ts";

/** `suffix`: letters and digits that no index of the live view has in its name, because indexes keep their names. */
export const besideOf = (
  { name, version, tables, textIndexes = [] }: ViewDefinition,
  suffix: string,
): ViewDefinition => ({
  name: `${name}__${suffix}`,
  version,
  tables: tables.map((table) => ({ ...table, name: `${table.name}__${suffix}` })),
  textIndexes: textIndexes.map((index) => ({ ...index, name: `${index.name}__${suffix}` })),
});

/** The view that a start builds. Its name is the same for every process, so that one continues what another began. */
export const successorOf = (view: ViewDefinition): ViewDefinition =>
  besideOf(view, `v${view.version.toString(36)}`);

/** What an earlier version of the program was building when it ended. */
export const isEarlierSuccessor = (name: string, { name: live, version }: ViewDefinition): boolean =>
  name.startsWith(`${live}__v`) && Number.parseInt(name.slice(live.length + 3), 36) < version;

/** A copy for one rebuild or one verification. */
export const copyOf = (view: ViewDefinition): ViewDefinition =>
  besideOf(view, `g${Math.floor(Math.random() * 36 ** 5).toString(36)}`);

export const isCopy = (name: string, { name: live }: ViewDefinition): boolean =>
  name.startsWith(`${live}__g`);

export type StoreBeside = Pick<ViewStore, "load" | "commit" | "revise" | "position">;

export interface Beside {
  readonly live: ViewDefinition;
  readonly beside: ViewDefinition;
}

/** The store in which these views are those beside them; all other views are the live ones. */
export const storeBeside = (views: StoreBeside, pairs: readonly Beside[]): StoreBeside => {
  const definitions = new Map(pairs.map(({ live, beside }) => [live.name, beside]));
  const liveNames = new Map(pairs.map(({ live, beside }) => [beside.name, live.name]));
  const tables = new Map(pairs.flatMap(({ live, beside }) => paired(live.tables, beside.tables)));
  const indexes = new Map(pairs.flatMap(({ live, beside }) => paired(live.textIndexes, beside.textIndexes)));
  const definitionOf = (view: ViewDefinition): ViewDefinition => definitions.get(view.name) ?? view;
  const nameOf = (name: string): string => definitions.get(name)?.name ?? name;
  const tableOf = (table: Table): Table => tables.get(table) ?? table;
  const rowOf = (table: Table, row: Row): Row => renamed(table, row, nameOf);
  const writeOf = (write: Write): Write => {
    if (isTextWrite(write)) return { ...write, index: indexes.get(write.index) ?? write.index };
    const table = tableOf(write.table);
    return write.kind === "delete"
      ? { ...write, table, key: rowOf(write.table, write.key) }
      : { ...write, table, row: rowOf(write.table, write.row) };
  };
  const expectationOf = ({ table, key, row }: Expectation): Expectation => ({
    table: tableOf(table),
    key: rowOf(table, key),
    row: row && rowOf(table, row),
  });
  return {
    position: (name) => views.position(nameOf(name)),
    load: async (table, keys, ...which) => {
      const asked = keys.map((key) => rowOf(table, key));
      const rows = await views.load(tableOf(table), asked, ...which);
      return rows.map((row) => renamed(table, row, (name) => liveNames.get(name) ?? name));
    },
    commit: (commit) =>
      views.commit({
        ...commit,
        views: commit.views.map(definitionOf),
        writes: commit.writes.map(writeOf),
        expected: commit.expected?.map(expectationOf) ?? [],
        deadLetters: commit.deadLetters.map((letter) => ({
          ...letter,
          projection: nameOf(letter.projection),
        })),
      }),
    revise: (revision) =>
      views.revise({
        views: revision.views.map(definitionOf),
        writes: revision.writes.map(writeOf),
        expected: revision.expected.map(expectationOf),
      }),
  };
};

const paired = <Named>(live: readonly Named[] = [], beside: readonly Named[] = []) =>
  live.map((each, index): readonly [Named, Named] => [each, beside[index] ?? each]);

/** In the store's own tables views stand by their names. */
const renamed = (table: Table, row: Row, nameOf: (name: string) => string): Row => {
  const column = table === DEAD_LETTERS ? "projection" : "name";
  if (!OWN_TABLES.includes(table)) return row;
  return { ...row, [column]: nameOf(rowText(row, column)) };
};
