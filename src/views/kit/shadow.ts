/** A projection that writes beside its live tables: the same rule, into tables with other names, and with a position of its own. */
import type { Row, Table } from "../store/tables.ts";
import type { TextIndex } from "../store/text-index.ts";
import { isTextWrite, type ViewDefinition, type ViewStore, type Write } from "../store/view-store.ts";
import type { Projection, Rule, StateKey, States } from "./projection.ts";

/** `generation`: a few letters that no earlier shadow had, so that no index has the name of another. */
export const shadowDefinition = (
  { name, version, tables, textIndexes = [] }: ViewDefinition,
  generation: string,
): ViewDefinition => ({
  name: `${name}__${generation}`,
  version,
  tables: tables.map((table) => ({ ...table, name: `${table.name}__${generation}` })),
  textIndexes: textIndexes.map((index) => ({ ...index, name: `${index.name}__${generation}` })),
});

export const isShadowOf = (viewName: string, projection: string): boolean =>
  viewName.startsWith(`${projection}__`);

export const shadowOf = (projection: Projection, shadow: ViewDefinition): Projection =>
  projection.takes === "entries"
    ? { ...shadowRule(projection, shadow), takes: "entries" }
    : shadowRule(projection, shadow);

/** A store in which the tables of the view are those of its shadow. */
export const storeOfShadow = (
  views: Pick<ViewStore, "load" | "revise">,
  view: ViewDefinition,
  shadow: ViewDefinition,
): Pick<ViewStore, "load" | "revise"> => {
  const { moved, movedKeys, movedWrite } = movesInto(view, shadow);
  return {
    load: (table, ...asked) => views.load(moved(table), ...asked),
    revise: ({ expected, writes }) =>
      views.revise({ views: [shadow], expected: movedKeys(expected), writes: writes.map(movedWrite) }),
  };
};

const movesInto = (view: ViewDefinition, shadow: ViewDefinition) => {
  const beside = new Map<Table, Table>();
  for (const [index, table] of view.tables.entries()) {
    const other = shadow.tables[index];
    if (other) beside.set(table, other);
  }
  const indexesBeside = new Map<TextIndex, TextIndex>();
  for (const [place, index] of (view.textIndexes ?? []).entries()) {
    const other = shadow.textIndexes?.[place];
    if (other) indexesBeside.set(index, other);
  }
  const moved = (table: Table): Table => beside.get(table) ?? table;
  const movedKeys = <Key extends StateKey>(keys: readonly Key[]): readonly Key[] =>
    keys.map((key) => ({ ...key, table: moved(key.table) }));
  const movedWrite = (write: Write): Write =>
    isTextWrite(write)
      ? { ...write, index: indexesBeside.get(write.index) ?? write.index }
      : { ...write, table: moved(write.table) };
  return { moved, movedKeys, movedWrite };
};

const shadowRule = <Taken>(projection: Rule<Taken>, shadow: ViewDefinition): Rule<Taken> => {
  const { moved, movedKeys, movedWrite } = movesInto(projection, shadow);
  const known = new WeakMap<States, States>();
  /** The same result for the same argument: a projection may remember what it asked for. */
  const movedStates = (states: States): States => {
    const made = known.get(states) ?? {
      get: (table: Table, key: Row) => states.get(moved(table), key),
      isNamed: (table: Table, key: Row) => states.isNamed(moved(table), key),
      known: (table: Table, shared: Row) => states.known(moved(table), shared),
    };
    known.set(states, made);
    return made;
  };
  const { furtherKeys } = projection;
  return {
    ...shadow,
    ...(projection.asksForEvents && { asksForEvents: true }),
    stateKeys: (taken) => movedKeys(projection.stateKeys(taken)),
    ...(furtherKeys && {
      furtherKeys: (states, taken) => movedKeys(furtherKeys(movedStates(states), taken)),
    }),
    evolve: (states, taken) => {
      const { writes, rejected = [] } = projection.evolve(movedStates(states), taken);
      return { writes: writes.map(movedWrite), rejected };
    },
  };
};
