/** The rows a group of records works on: as loaded, with what the group has written so far laid over them. */
import { strict as assert } from "node:assert";
import { checkKey, checkRow, keyText, type Row, type Table } from "../views/tables.ts";
import type { ViewStore, Write } from "../views/view-store.ts";
import type { StateKey, States } from "./projection.ts";

export interface Overlay extends States {
  /** All of them or, where one could not be stored, none: then it throws. */
  apply(writes: readonly Write[]): void;
}

/** One call of `load` per table, however many records ask. */
export const loadOverlay = async (
  stateKeys: readonly StateKey[],
  load: ViewStore["load"],
): Promise<Overlay> => {
  const rows = new Map<string, Row | undefined>();
  const wanted = new Map<Table, Row[]>();
  for (const { table, key } of stateKeys) {
    const text = keyText(table, key);
    if (rows.has(text)) continue;
    rows.set(text, undefined);
    const keys = wanted.get(table) ?? [];
    keys.push(key);
    wanted.set(table, keys);
  }
  for (const [table, keys] of wanted) {
    for (const row of await load(table, keys)) rows.set(keyText(table, row), row);
  }
  return {
    get: (table, key) => {
      const text = keyText(table, key);
      assert(rows.has(text), "a projection reads only rows that its stateKeys named or that this group wrote");
      return rows.get(text);
    },
    apply: (writes) => {
      for (const write of writes) checkWrite(write, rows);
      for (const write of writes) rows.set(writeKey(write), write.kind === "delete" ? undefined : write.row);
    },
  };
};

const writeKey = (write: Write): string =>
  keyText(write.table, write.kind === "delete" ? write.key : write.row);

const checkWrite = (write: Write, rows: ReadonlyMap<string, Row | undefined>): void => {
  if (write.kind === "delete") {
    checkKey(write.table, write.key);
    return;
  }
  checkRow(write.table, write.row);
  const isNew = rows.get(writeKey(write)) === undefined;
  assert(write.kind === "upsert" || isNew, "an inserted row is new");
};
