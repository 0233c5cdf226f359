/**
 * Compares a live view with one that is made from the log now, row by row. It reads one state of the database, whoever writes meanwhile. Text indexes
 * are not compared: a rebuild makes them again.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogReader } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { EVENTS_VIEW } from "../events/tables.ts";
import { keyText, type Row, type Table } from "../store/tables.ts";
import { compareStored } from "../store/text.ts";
import { type Snapshot, VIEW_REVISIONS, type ViewStore } from "../store/view-store.ts";
import { createLaneReading } from "./lane.ts";
import { REPLACE_LAG_MAX, VERIFY_DIFFERENCES_MAX } from "./limits.ts";
import type { Projection } from "./projection.ts";
import { seenBeyond } from "./view-end.ts";

export interface VerifyDependencies {
  readonly log: LogReader;
  readonly live: ViewStore;
  /** Empty, and discarded afterwards. */
  readonly scratch: ViewStore;
  readonly clock: () => Date;
  readonly onProgress: (progress: { readonly position: Sequence; readonly end: Sequence }) => void;
}

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

export const verifyView = async (
  dependencies: VerifyDependencies,
  projection: Projection,
  signal: AbortSignal,
): Promise<Verified> => {
  const { live, scratch } = dependencies;
  await scratch.open(projection);
  const making: Making = { ...dependencies, projection, signal };
  await makeNearly(making);
  for (let tries = 0; tries < BEHIND_TRIES_MAX; tries++) {
    const verified = await live.snapshot(projection, async (there) => {
      if ((await scratch.position(projection.name)) > there.position) return undefined;
      await makeTo(making, there.position);
      await projection.expireAlike?.(there, scratch);
      return scratch.snapshot(projection, (here) => compare(projection, here, there));
    });
    if (verified) return verified;
    await delay(BEHIND_REST_MS, undefined, { signal });
  }
  throw new Error(`${projection.name} was rebuilt meanwhile, and does not catch up: is a projector running?`);
};

interface Making extends VerifyDependencies {
  readonly projection: Projection;
  readonly signal: AbortSignal;
}

/** Nearly all of the log is read before the database holds a state for us: PostgreSQL ends a transaction that is idle for 30 s. */
const makeNearly = async (making: Making): Promise<void> => {
  const { live, projection } = making;
  let seen: Sequence | undefined;
  for (;;) {
    const end = await live.position(projection.name);
    if (seen !== undefined && end - seen <= REPLACE_LAG_MAX) return;
    await makeTo(making, end);
    if (end === 0) return;
    seen = end;
  }
};

/** Reads the log into the scratch store up to a position. Throws the reason of an aborted signal, or why the log cannot provide that much. */
const makeTo = async (making: Making, end: Sequence): Promise<void> => {
  const { log, live, scratch, projection, onProgress, signal } = making;
  // Otherwise it would wait forever. Asked after the view: what the view has seen was in the log by then.
  const last = await log.lastSequence();
  if (end > last) throw new Error(`it has ${seenBeyond(end, last)}`);
  // If the leader is rebuilt meanwhile it may lack rows for a while, and rows that follow from them would be missing here.
  if (projection.asksForEvents) await standsAt(live, EVENTS_VIEW, end, signal);
  const read = createLaneReading({ ...making, views: besideLive(making), onProgress: () => {} });
  for (;;) {
    const position = await scratch.position(projection.name);
    onProgress({ position, end });
    signal.throwIfAborted();
    if (position >= end) return;
    const stopped = await read({ projections: [projection], position }, { to: end, msMax: 1000, signal });
    if (stopped.kind !== "reached") throw new Error(`the log could not be read: ${stopped.kind}`);
  }
};

/** Rows of other views are read from the live ones. */
const besideLive = ({ live, scratch, projection }: Making): ViewStore => {
  const own: ReadonlySet<Table> = new Set([...projection.tables, VIEW_REVISIONS]);
  return { ...scratch, load: (table, ...asked) => (own.has(table) ? scratch : live).load(table, ...asked) };
};

const standsAt = async (
  views: Pick<ViewStore, "position">,
  name: string,
  sequence: Sequence,
  signal: AbortSignal,
): Promise<void> => {
  for (let tries = 0; (await views.position(name)) < sequence; tries++) {
    if (tries >= BEHIND_TRIES_MAX)
      throw new Error(`${name}, whose rows it asks for, is being rebuilt: ask when it has caught up`);
    await delay(BEHIND_REST_MS, undefined, { signal });
  }
};

/** A view that was rebuilt meanwhile may be further back than what it is compared with, until its projector has caught up. */
const BEHIND_TRIES_MAX = 100;
const BEHIND_REST_MS = 100;

const compare = async (projection: Projection, made: Snapshot, live: Snapshot): Promise<Verified> => {
  const differences: Difference[] = [];
  let rows = 0;
  const fromLog = projection.tables.filter((table) => !projection.besideLog?.includes(table));
  for (const table of fromLog) {
    const expected = rowsIn(made, table);
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
  for await (const page of snapshot.rows(table)) {
    for (const row of page) if (!isNothing(table, row)) yield row;
  }
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
