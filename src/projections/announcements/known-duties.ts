/** Duties as the view of cases has them, what is known of how they were told of, and the rows in which that is kept. */
import { OBLIGATION_STATES } from "../../obligations/state.ts";
import { nextBoundary, type Told } from "../../obligations/transitions.ts";
import { isSameRow } from "../../views/stored-rows.ts";
import { type Row, rowInteger, rowText, type Table } from "../../views/tables.ts";
import type { ViewStore, Write } from "../../views/view-store.ts";
import { type DutyId, ownedKey } from "../cases/duty-changes.ts";
import { OBLIGATIONS, stateOfRow } from "../cases/registers/obligations.ts";
import { BEGUN, BOUNDARIES, TELLINGS, TOLD } from "./tables.ts";
import type { Telling } from "./telling.ts";

export interface Duty {
  readonly id: DutyId;
  /** Of OBLIGATIONS. */
  readonly row: Row;
}

/** Key of a duty in maps and sets. */
export const identity = ({ tenant, obligationId }: DutyId): string => JSON.stringify([tenant, obligationId]);
/** In the tables of what was told of each duty. */
export const keyOf = ({ tenant, obligationId }: DutyId) => ({ tenant, obligation_id: obligationId });
const idOf = (row: Row): DutyId => ({
  tenant: rowText(row, "tenant"),
  obligationId: rowText(row, "obligation_id"),
});
const byIdentity = (rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [identity(idOf(row)), row]));
/** Most looks find nothing, and need not ask. */
const loadRows = async (
  views: Pick<ViewStore, "load">,
  table: Table,
  ids: readonly DutyId[],
): Promise<readonly Row[]> => (ids.length === 0 ? [] : views.load(table, ids.map(keyOf)));

/** Those that are there still. */
export const findDuties = async (
  views: Pick<ViewStore, "load">,
  ids: readonly DutyId[],
): Promise<readonly Duty[]> =>
  (await loadRows(views, OBLIGATIONS, ids)).map((row) => ({ id: idOf(row), row }));

/** How those of them that were told of were told last, by `identity`. `isBegun`: what is told now was cut short. */
export const findTold = async (
  views: Pick<ViewStore, "load">,
  ids: readonly DutyId[],
): Promise<ReadonlyMap<string, Told & { readonly isBegun: boolean }>> => {
  const begun = byIdentity(await loadRows(views, BEGUN, ids));
  const told = byIdentity(await loadRows(views, TOLD, ids));
  return new Map([...told].map(([name, row]) => [name, { ...toldIn(row), isBegun: begun.has(name) }]));
};

/** What is known of duties that were told of; undefined where another announcer has recorded what was begun of them while it was read. */
export const loadKnown = async (views: Pick<ViewStore, "load">, ids: readonly DutyId[]) => {
  const rowsOf = async (table: Table) => byIdentity(await loadRows(views, table, ids));
  const begun = await rowsOf(BEGUN);
  // Before what was told: another announcer may record in between, and then there is nothing more to tell; the other way round it would go out under another id.
  const counted = await rowsOf(TELLINGS);
  const told = await rowsOf(TOLD);
  // What is begun no more would be told once more, behind what is recorded of it now.
  const begunStill = begun.size === 0 ? begun : await rowsOf(BEGUN);
  for (const [name, row] of begun) if (!isSameRow(row, begunStill.get(name))) return undefined;
  return (id: DutyId) => {
    const name = identity(id);
    const [begunRow, countedRow, toldRow] = [begun.get(name), counted.get(name), told.get(name)];
    return {
      before: toldRow && toldIn(toldRow),
      begun: begunRow && { ...toldIn(begunRow), number: rowInteger(begunRow, "number") },
      /** What was begun stands as it was read. */
      asRead: { table: BEGUN, key: keyOf(id), row: begunRow },
      tellings: countedRow ? rowInteger(countedRow, "tellings") : 0,
    };
  };
};

export const beginningOf = (id: DutyId, { state, dueAt }: Told, { number }: Telling): Write => ({
  kind: "upsert",
  table: BEGUN,
  row: { ...keyOf(id), state, due_at: dueAt, number },
});

const toldIn = (row: Row): Told => {
  const state = OBLIGATION_STATES.find((each) => each === row.state);
  return { state: state ?? "open", dueAt: rowText(row, "due_at") };
};

/** Nothing where it is late or met already. */
export const boundaryOf = ({ id, row }: Duty, now: string): readonly Write[] => {
  const at = nextBoundary({ state: stateOfRow(row, now), dueAt: rowText(row, "due_at") });
  return at === undefined ? [] : [{ kind: "upsert", table: BOUNDARIES, row: { ...ownedKey(id), at } }];
};

export const recordOf = (id: DutyId, told: Told, tellings: number): readonly Write[] => {
  const at = nextBoundary(told);
  const key = ownedKey(id);
  return [
    { kind: "upsert", table: TOLD, row: { ...keyOf(id), state: told.state, due_at: told.dueAt } },
    { kind: "upsert", table: TELLINGS, row: { ...keyOf(id), tellings } },
    at === undefined
      ? { kind: "delete", table: BOUNDARIES, key }
      : { kind: "upsert", table: BOUNDARIES, row: { ...key, at } },
  ];
};
