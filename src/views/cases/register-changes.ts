/** The changes of the registers when cases change. */
import type { Fact } from "../../law/cases/fact.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { createKeyMap } from "../kit/key-map.ts";
import { type Row, rowInteger, type Table, type Value } from "../store/tables.ts";
import type { Write } from "../store/view-store.ts";
import { type CaseView, caseView } from "./case-view.ts";
import type { Register } from "./registers/register.ts";
import { REGISTERS } from "./registers/registers.ts";

/** Cases as their facts. */
type Cases = readonly (readonly Fact[])[];

export interface CaseChanges {
  readonly before: Cases;
  readonly now: Cases;
  /** Those that have expired. They have no rows any more, and still count as before. */
  readonly gone?: Cases;
}

export const registerChanges = (
  tenant: string,
  { before, now, gone = [] }: CaseChanges,
  rules: Rules,
): readonly Write[] => {
  const viewsOf = (cases: Cases) => cases.map((facts) => caseView(tenant, facts, rules));
  const [viewsBefore, viewsNow, viewsGone] = [viewsOf(before), viewsOf(now), viewsOf(gone)];
  return REGISTERS.flatMap((register) => {
    const { table, kind } = register;
    const [old, next] = [rowsOf(register, viewsBefore), rowsOf(register, viewsNow)];
    return kind === "rows"
      ? differences(table, old, next)
      : countChanges(table, old, [...next, ...rowsOf(register, viewsGone)]);
  });
};

const rowsOf = (register: Register, views: readonly CaseView[]): readonly Row[] => {
  const rows: Row[] = [];
  for (const view of views) for (const row of register.rowsOf(view)) rows.push(row);
  return rows;
};

interface Difference {
  readonly before: Row;
  now: Row | undefined;
}

const NONE: readonly Write[] = [];

const differences = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  // In most registers a case has no row, or one. Then nothing needs to be looked up.
  if (before.length === 0) return now.length === 0 ? NONE : now.map((row) => newRow(table, row));
  const [old] = before;
  const [row] = now;
  if (before.length === 1 && now.length === 1 && old && row && !differs(row, old, table.primaryKey)) {
    const change = changeOf(table, old, row);
    return change ? [change] : NONE;
  }
  return differencesOfMany(table, before, now);
};

const differencesOfMany = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const found = createKeyMap<Difference>(table, (row) => ({ before: row, now: undefined }));
  for (const row of before) found.reach(row);
  const writes: Write[] = [];
  for (const row of now) {
    const difference = found.get(row);
    if (difference) difference.now = row;
    else writes.push(newRow(table, row));
  }
  for (const { before: old, now: row } of found.all()) {
    if (!row) {
      const names = table.primaryKey.map((name) => [name, old[name] ?? null] as const);
      writes.push({ kind: "delete", table, key: Object.fromEntries(names) });
      continue;
    }
    const change = changeOf(table, old, row);
    if (change) writes.push(change);
  }
  return writes;
};

/** No other case has a row with this key. If one had, nothing should be refused because of it. */
const newRow = (table: Table, row: Row): Write => ({ kind: "upsert", table, row });

const changeOf = (table: Table, old: Row, row: Row): Write | undefined =>
  differs(row, old, Object.keys(row)) ? { kind: "upsert", table, row } : undefined;

const differs = (row: Row, other: Row, names: readonly string[]): boolean =>
  names.some((name) => row[name] !== other[name]);

/** Rows that are counts: what the case added before is taken away, and what it adds now is added. */
const countChanges = (table: Table, before: readonly Row[], now: readonly Row[]): readonly Write[] => {
  const names = Object.keys(table.columns).filter((name) => !table.primaryKey.includes(name));
  const changes = createKeyMap<CountChange>(table, (row) => ({ row, counts: names.map(() => 0) }));
  const count = (rows: readonly Row[], sign: 1 | -1): void => {
    for (const row of rows) {
      const { counts } = changes.reach(row);
      let index = 0;
      for (const name of names) {
        counts[index] = (counts[index] ?? 0) + sign * rowInteger(row, name);
        index++;
      }
    }
  };
  count(before, -1);
  count(now, 1);
  return changes
    .all()
    .filter(({ counts }) => counts.some((counted) => counted !== 0))
    .map(({ row, counts }) => {
      const change: Record<string, Value> = { ...row };
      for (const [index, name] of names.entries()) change[name] = counts[index] ?? 0;
      return { kind: "add", table, row: change };
    });
};

/** The sum for one key. */
interface CountChange {
  /** A row with that key. */
  readonly row: Row;
  /** In the order of the counting columns. */
  readonly counts: number[];
}
