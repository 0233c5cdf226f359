/**
 * Views that are built beside the live ones: the same rules, with other names of tables and a position of their own, until they take the place of the
 * live ones in one transaction. The names are translated where rows are read and written, so projections do not notice.
 */
import type { Row, Table } from "../store/tables.ts";
import {
  DEAD_LETTERS,
  isTextWrite,
  VIEW_ENDS,
  VIEW_REVISIONS,
  VIEWS,
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
  const names = namesOf(pairs);
  const liveNames = new Map([...names].map(([live, beside]) => [beside, live]));
  const tables = pairedBy(pairs, ({ tables }) => tables);
  const indexes = pairedBy(pairs, ({ textIndexes = [] }) => textIndexes);
  const tableOf = (table: Table): Table => tables.get(table) ?? table;
  const keysOf = <Key extends { readonly table: Table; readonly key: Row; readonly row?: Row | undefined }>(
    keys: readonly Key[],
  ): readonly Key[] =>
    keys.map((each) => ({
      ...each,
      table: tableOf(each.table),
      key: renamed(each.table, each.key, names),
      ...(each.row && { row: renamed(each.table, each.row, names) }),
    }));
  const writeOf = (write: Write): Write => {
    if (isTextWrite(write)) return { ...write, index: indexes.get(write.index) ?? write.index };
    const { table } = write;
    return write.kind === "delete"
      ? { ...write, table: tableOf(table), key: renamed(table, write.key, names) }
      : { ...write, table: tableOf(table), row: renamed(table, write.row, names) };
  };
  const definitionOf = (view: ViewDefinition): ViewDefinition => definitions.get(view.name) ?? view;
  return {
    position: (name) => views.position(names.get(name) ?? name),
    load: async (table, keys, ...which) => {
      const asked = isOwn(table) ? keys.map((key) => renamed(table, key, names)) : keys;
      const rows = await views.load(tableOf(table), asked, ...which);
      return isOwn(table) ? rows.map((row) => renamed(table, row, liveNames)) : rows;
    },
    commit: (commit) =>
      views.commit({
        ...commit,
        views: commit.views.map(definitionOf),
        writes: commit.writes.map(writeOf),
        expected: keysOf(commit.expected ?? []),
        deadLetters: commit.deadLetters.map((letter) => ({
          ...letter,
          projection: names.get(letter.projection) ?? letter.projection,
        })),
      }),
    revise: (revision) =>
      views.revise({
        views: revision.views.map(definitionOf),
        writes: revision.writes.map(writeOf),
        expected: keysOf(revision.expected),
      }),
  };
};

const namesOf = (pairs: readonly Beside[]): ReadonlyMap<string, string> =>
  new Map(pairs.map(({ live, beside }) => [live.name, beside.name]));

/** The store's own tables, in which views stand by their names. */
const isOwn = (table: Table): boolean => table === VIEWS || table === VIEW_REVISIONS || table === VIEW_ENDS;

const renamed = (table: Table, row: Row, names: ReadonlyMap<string, string>): Row => {
  const column = table === DEAD_LETTERS ? "projection" : "name";
  const name = isOwn(table) || table === DEAD_LETTERS ? names.get(String(row[column])) : undefined;
  return name === undefined ? row : { ...row, [column]: name };
};

const pairedBy = <Named>(
  pairs: readonly Beside[],
  of: (view: ViewDefinition) => readonly Named[],
): ReadonlyMap<Named, Named> =>
  new Map(
    pairs.flatMap(({ live, beside }) => {
      const others = of(beside);
      return of(live).flatMap((each, index): (readonly [Named, Named])[] => {
        const other = others[index];
        return other === undefined ? [] : [[each, other]];
      });
    }),
  );
