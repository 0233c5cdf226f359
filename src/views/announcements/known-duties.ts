/** Duties in the view of cases, what is known of their announcements, and the rows in which that is kept. */
import { OBLIGATION_STATES } from "../../law/obligations/state.ts";
import type { Told } from "../../law/obligations/transitions.ts";
import { type DutyId, ownedKey } from "../cases/duty-changes.ts";
import { nextChangeOf, OBLIGATIONS } from "../cases/registers/obligations.ts";
import { isSameRow } from "../store/stored-rows.ts";
import { type Row, rowInteger, rowText, type Table } from "../store/tables.ts";
import type { ViewStore, Write } from "../store/view-store.ts";
import { BEGUN, BOUNDARIES, TELLINGS, TOLD } from "./tables.ts";
import type { Telling } from "./telling.ts";

export interface Duty {
  readonly id: DutyId;
  /** A row of OBLIGATIONS. */
  readonly row: Row;
}

/** The key of a duty in maps and sets. */
export const identity = ({ tenant, obligationId }: DutyId): string => JSON.stringify([tenant, obligationId]);
/** The key of a duty in the tables of announcements. */
export const keyOf = ({ tenant, obligationId }: DutyId) => ({ tenant, obligation_id: obligationId });
const idOf = (row: Row): DutyId => ({
  tenant: rowText(row, "tenant"),
  obligationId: rowText(row, "obligation_id"),
});
const byIdentity = (rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [identity(idOf(row)), row]));
/** Most looks find nothing, and need no query. */
const loadRows = async (
  views: Pick<ViewStore, "load">,
  table: Table,
  ids: readonly DutyId[],
): Promise<readonly Row[]> => (ids.length === 0 ? [] : views.load(table, ids.map(keyOf)));

/** The duties that still exist. */
export const findDuties = async (
  views: Pick<ViewStore, "load">,
  ids: readonly DutyId[],
): Promise<readonly Duty[]> =>
  (await loadRows(views, OBLIGATIONS, ids)).map((row) => ({ id: idOf(row), row }));

/** The last announcement of each duty that was announced, by `identity`. `isBegun`: a further announcement was interrupted. */
export const findTold = async (
  views: Pick<ViewStore, "load">,
  ids: readonly DutyId[],
): Promise<ReadonlyMap<string, Told & { readonly isBegun: boolean }>> => {
  const begun = byIdentity(await loadRows(views, BEGUN, ids));
  const told = byIdentity(await loadRows(views, TOLD, ids));
  return new Map([...told].map(([name, row]) => [name, { ...toldIn(row), isBegun: begun.has(name) }]));
};

/** What is known of announced duties; undefined if another announcer has recorded one of the begun announcements while this was read. */
export const loadKnown = async (views: Pick<ViewStore, "load">, ids: readonly DutyId[]) => {
  const rowsOf = async (table: Table) => byIdentity(await loadRows(views, table, ids));
  const begun = await rowsOf(BEGUN);
  // Read before what was announced: if another announcer records in between, there is nothing more to announce. In the other order the announcement
  // would go out once more with another id.
  const counted = await rowsOf(TELLINGS);
  const told = await rowsOf(TOLD);
  // An announcement that is no longer begun would be made once more, after the one recorded now.
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

/** Nothing if time alone changes nothing any more. */
export const boundaryOf = ({ id, row }: Duty, now: string): readonly Write[] => {
  const at = nextChangeOf(row, now);
  return at === undefined ? [] : [{ kind: "upsert", table: BOUNDARIES, row: { ...ownedKey(id), at } }];
};

export const recordOf = (
  { id, row }: Duty,
  { told, tellings, now }: { readonly told: Told; readonly tellings: number; readonly now: string },
): readonly Write[] => {
  const at = nextChangeOf(row, now);
  const key = ownedKey(id);
  return [
    { kind: "upsert", table: TOLD, row: { ...keyOf(id), state: told.state, due_at: told.dueAt } },
    { kind: "upsert", table: TELLINGS, row: { ...keyOf(id), tellings } },
    at === undefined
      ? { kind: "delete", table: BOUNDARIES, key }
      : { kind: "upsert", table: BOUNDARIES, row: { ...key, at } },
  ];
};
