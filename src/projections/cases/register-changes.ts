/** What changes in the registers when cases change. */
import type { Fact } from "../../cases/fact.ts";
import type { Rules } from "../../obligations/clocks.ts";
import {
  indexedBesideKey,
  keyText,
  type Row,
  rowInteger,
  type Table,
  type Value,
} from "../../views/tables.ts";
import type { Write } from "../../views/view-store.ts";
import { caseView } from "./case-view.ts";
import { REGISTERS } from "./registers/registers.ts";

/** Cases as their facts. */
type Cases = readonly (readonly Fact[])[];

export interface CaseChanges {
  readonly before: Cases;
  readonly now: Cases;
  /** Those that have expired: they have no rows any more, and are counted as before. */
  readonly gone?: Cases;
}

export const registerChanges = (
  tenant: string,
  { before, now, gone = [] }: CaseChanges,
  rules: Rules,
): readonly Write[] => {
  const viewsOf = (cases: Cases) => cases.map((facts) => caseView(tenant, facts, rules));
  const [viewsBefore, viewsNow, viewsGone] = [viewsOf(before), viewsOf(now), viewsOf(gone)];
  return REGISTERS.flatMap(({ table, kind, rowsOf: made }) =>
    kind === "rows"
      ? differences(table, viewsBefore.flatMap(made), viewsNow.flatMap(made))
      : countChanges(table, viewsBefore.flatMap(made), [...viewsNow, ...viewsGone].flatMap(made)),
  );
};

const byKey = (table: Table, rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [keyText(table, row), row]));

const differences = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  // Where a key stands twice, as it may beside a hub, the last row counts, here as in the store.
  if (before.length === 0) return now.map((row) => ({ kind: "upsert", table, row }));
  const [old, next] = [byKey(table, before), byKey(table, now)];
  const writes: Write[] = [];
  for (const [key, row] of next) {
    const known = old.get(key);
    if (!known) writes.push({ kind: "upsert", table, row });
    else if (differs(row, known, Object.keys(row))) {
      const isReordered = differs(row, known, indexedBesideKey(table));
      writes.push({ kind: "upsert", table, row, ...(!isReordered && { indexed: "same" }) });
    }
  }
  for (const [key, row] of old) {
    if (next.has(key)) continue;
    const names = table.primaryKey.map((name) => [name, row[name] ?? null] as const);
    writes.push({ kind: "delete", table, key: Object.fromEntries(names) });
  }
  return writes;
};

const differs = (row: Row, other: Row, names: readonly string[]): boolean =>
  names.some((name) => row[name] !== other[name]);

/** Rows that count: what a case gave before is taken away, what it gives now is added. */
const countChanges = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const counts = Object.keys(table.columns).filter((name) => !table.primaryKey.includes(name));
  const changes = new Map<string, Record<string, Value>>();
  const count = (rows: readonly Row[], sign: 1 | -1): void => {
    for (const row of rows) {
      const key = keyText(table, row);
      const known = changes.get(key);
      const change = known ?? { ...row };
      for (const name of counts)
        change[name] = (known ? rowInteger(change, name) : 0) + sign * rowInteger(row, name);
      changes.set(key, change);
    }
  };
  count(before, -1);
  count(now, 1);
  return [...changes.values()]
    .filter((row) => counts.some((name) => row[name] !== 0))
    .map((row) => ({ kind: "add", table, row }));
};
