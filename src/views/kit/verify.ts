/**
 * Compares a live view with a copy that is built from the log now, row by row. It reads one state of the live view, whoever writes meanwhile. Text
 * indexes are not compared: a rebuild recreates them.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Sequence } from "../../log/outcome.ts";
import { compareStored, keyText, type Row, type Table } from "../store/tables.ts";
import type { Snapshot, ViewDefinition } from "../store/view-store.ts";
import {
  LEADER_BEHIND_TRIES_MAX,
  REBUILD_REST_MS,
  REPLACE_LAG_MAX,
  VERIFY_DIFFERENCES_MAX,
} from "./limits.ts";
import type { Projection } from "./projection.ts";
import { NotBuiltError, type RebuildDependencies, withCopy } from "./rebuild.ts";
import { seenBeyond } from "./view-end.ts";

export interface Difference {
  readonly table: string;
  /** The row's key, without any other content. */
  readonly key: string;
  readonly kind: "missing" | "unexpected" | "different";
}

export interface Verified {
  readonly position: Sequence;
  readonly rows: number;
  /** The first differences. */
  readonly differences: readonly Difference[];
}

/** Throws NotBuiltError, with the reason, if there is nothing to compare with. */
export const verifyView = (
  dependencies: RebuildDependencies,
  projection: Projection,
  signal: AbortSignal,
): Promise<Verified> =>
  withCopy(dependencies, projection, signal, async ({ definition, store, readTo }) => {
    const { log, views } = dependencies;
    const readToView = async (end: Sequence): Promise<Sequence> => {
      // Asked after the view: what the view has seen was in the log by then.
      const last = await log.lastSequence();
      if (end > last) throw new NotBuiltError(`it has ${seenBeyond(end, last)}`);
      return readTo(end);
    };
    // Nearly all of the log is read before the database holds a state for us: PostgreSQL ends a transaction that is idle for 30 s.
    for (let position = -1; ; ) {
      const end = await views.position(projection.name);
      if (position >= 0 && end - position <= REPLACE_LAG_MAX) break;
      position = await readToView(end);
    }
    for (let tries = 0; tries < LEADER_BEHIND_TRIES_MAX; tries++) {
      const verified = await views.snapshot(projection, async (live) => {
        if ((await store.position(projection.name)) > live.position) return undefined;
        await readToView(live.position);
        await projection.expireAlike?.(live, store);
        return views.snapshot(definition, (made) => compare(projection, definition, made, live));
      });
      if (verified) return verified;
      // A view that was rebuilt meanwhile may be further back than the copy, until its projector has caught up.
      await delay(REBUILD_REST_MS, undefined, { signal });
    }
    throw new NotBuiltError(
      `${projection.name} was rebuilt meanwhile, and does not catch up: is a projector running?`,
    );
  });

const compare = async (
  projection: Projection,
  copy: ViewDefinition,
  made: Snapshot,
  live: Snapshot,
): Promise<Verified> => {
  const differences: Difference[] = [];
  let rows = 0;
  for (const [index, table] of projection.tables.entries()) {
    const copied = copy.tables[index];
    if (copied === undefined || projection.besideLog?.includes(table)) continue;
    const expected = rowsIn(made, copied);
    const found = rowsIn(live, table);
    let [one, other] = [await expected.next(), await found.next()];
    while (!(one.done && other.done) && differences.length < VERIFY_DIFFERENCES_MAX) {
      const order = one.done ? 1 : other.done ? -1 : compareKeys(table, one.value, other.value);
      rows++;
      if (order === 0 && !one.done && !other.done) {
        if (!isSame(one.value, other.value)) differences.push(difference(table, one.value, "different"));
        [one, other] = [await expected.next(), await found.next()];
      } else if (order < 0 && !one.done) {
        differences.push(difference(table, one.value, "missing"));
        one = await expected.next();
      } else if (!other.done) {
        differences.push(difference(table, other.value, "unexpected"));
        other = await found.next();
      }
    }
  }
  return { position: live.position, rows, differences };
};

async function* rowsIn(snapshot: Snapshot, table: Table): AsyncGenerator<Row> {
  for await (const page of snapshot.rows(table))
    for (const row of page) if (!isNothing(table, row)) yield row;
}

/** A row of counts that are all 0 is equivalent to no row. */
const isNothing = (table: Table, row: Row): boolean => {
  const others = Object.entries(row).filter(([name]) => !table.primaryKey.includes(name));
  return others.length > 0 && others.every(([, value]) => value === 0);
};

const isSame = (one: Row, other: Row): boolean => Object.keys(one).every((name) => one[name] === other[name]);

/** The order of keys in both databases. */
const compareKeys = (table: Table, one: Row, other: Row): number => {
  for (const name of table.primaryKey) {
    const [a, b] = [one[name] ?? null, other[name] ?? null];
    if (a === b) continue;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return compareStored(String(a), String(b));
  }
  return 0;
};

const difference = (table: Table, row: Row, kind: Difference["kind"]): Difference => ({
  table: table.name,
  key: keyText(table, row),
  kind,
});
