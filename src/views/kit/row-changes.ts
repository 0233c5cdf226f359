import { keyText, type Row, type Table } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";

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
