/**
 * Which views are made as far as the log had come when this process started. One that lacks half of it then, or as much as makes the process not ready, is being
 * made, for the first time or anew after an upgrade: what it does not have yet would be told of as if it were nowhere, which of a view that is only behind is true
 * of what came just now.
 */
import { VIEW_LAG_RECORDS_MAX, VIEW_MADE_RECORDS_MIN } from "../limits.ts";
import { type LogReader, LogUnavailableError } from "../log/event-log.ts";
import type { Sequence } from "../log/outcome.ts";
import { rowInteger, rowText } from "../views/tables.ts";
import { ViewsUnavailableError, ViewsUnmadeError } from "../views/unavailable.ts";
import { type Expectation, VIEW_GOALS, type ViewStore, type Write } from "../views/view-store.ts";
import { positionsOf } from "./positions.ts";

export interface MadeViews {
  /** What keeps views that stand so from being read, by their names, for the operator. `last`: of the log, asked after the positions; undefined while it is away. */
  look(
    positions: ReadonlyMap<string, Sequence>,
    last: Sequence | undefined,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * At the start, before anything is moved or read: of what the log takes later a view is only behind, however fast it comes, and who reads asks no broker that has fallen silent
   * since. What cannot be looked at now is when it is asked for. Resolves with where the log ended, also where the views are away; undefined where nobody could say.
   */
  lookFirst(names: readonly string[]): Promise<Sequence | undefined>;
  /** They are not there: who makes them begins with nothing. */
  forget(names: readonly string[]): void;
  /** Throws ViewsUnmadeError while one of them is being made. Looks no more at those that once were made. */
  check(names: readonly string[]): Promise<void>;
}

export const createMadeViews = ({
  views,
  log,
}: {
  readonly views: Pick<ViewStore, "load" | "revise">;
  readonly log: Pick<LogReader, "lastSequence">;
}): MadeViews => {
  /** Where each has to come. */
  const ends = new Map<string, Sequence>();
  const made = new Set<string>();
  const goals = createViewGoals(views);
  /** A view that an earlier process was making is made when it comes to where the log ended then, however near it is by now. */
  const beginAt = async (positions: ReadonlyMap<string, Sequence>, last: Sequence): Promise<void> => {
    const names = [...positions.keys()].filter((name) => !made.has(name) && !ends.has(name));
    const earlier = await goals.of(names);
    for (const name of names) {
      const position = positions.get(name) ?? 0;
      const own = isNear(position, last) ? position : last;
      ends.set(name, Math.min(last, Math.max(own, earlier.get(name) ?? 0)));
    }
  };
  const reasonOf = (name: string, position: Sequence, last: Sequence | undefined): string | undefined => {
    const known = ends.get(name);
    // The log is away since before the first look: what the view has can be read all the same.
    if (made.has(name) || known === undefined) return undefined;
    // Of a log that was put back from a copy meanwhile.
    const end = Math.min(known, last ?? known);
    if (position < end)
      return `The view ${name} is at record ${position} of ${end}, and is read when it has the last of them.`;
    made.add(name);
    return undefined;
  };
  const look: MadeViews["look"] = async (positions, last) => {
    if (last !== undefined) await beginAt(positions, last);
    const reasons = new Map<string, string>();
    for (const [name, position] of positions) {
      const reason = reasonOf(name, position, last);
      if (reason !== undefined) reasons.set(name, reason);
    }
    const end = (name: string): Sequence =>
      Math.min(Math.max(ends.get(name) ?? 0, goals.known(name)), last ?? Number.POSITIVE_INFINITY);
    goals.keep(
      new Map([...positions].map(([name, position]) => [name, position < end(name) ? end(name) : undefined])),
    );
    return reasons;
  };
  /** As they stand now. `last`: where the log ended then. */
  const lookNow = async (names: readonly string[]) => {
    const positions = await positionsOf(views, names);
    const last = await lastOf(log);
    const [reason] = (await look(positions, last)).values();
    return { reason, last };
  };
  const check: MadeViews["check"] = async (names) => {
    const open = names.filter((name) => !made.has(name));
    if (open.length === 0) return;
    const { reason } = await lookNow(open);
    if (reason !== undefined) throw new ViewsUnmadeError(reason);
  };
  const lookFirst: MadeViews["lookFirst"] = async (names) => {
    try {
      const { last } = await lookNow(names);
      await goals.written();
      return last;
    } catch (error) {
      if (!(error instanceof ViewsUnavailableError)) throw error;
      return lastOf(log);
    }
  };
  const forget: MadeViews["forget"] = (names) => {
    for (const name of names) {
      made.delete(name);
      ends.delete(name);
    }
    goals.forget(names);
  };
  return { look, lookFirst, forget, check };
};

/**
 * What the database holds of where views have to come, so that a process that is killed leaves it to the next one. Of several processes' goals the furthest stands there,
 * until the view has come to it.
 */
const createViewGoals = (views: Pick<ViewStore, "load" | "revise">) => {
  const kept = new Map<string, Sequence>();
  const of = async (names: readonly string[]): Promise<ReadonlyMap<string, Sequence>> => {
    const keys = names.map((name) => ({ name }));
    const rows = keys.length === 0 ? [] : await views.load(VIEW_GOALS, keys);
    for (const row of rows) kept.set(rowText(row, "name"), rowInteger(row, "position"));
    return kept;
  };
  /** 0 for none. */
  const known = (name: string): Sequence => kept.get(name) ?? 0;
  let writing: Promise<void> | undefined;
  const write = async (changed: readonly (readonly [string, Sequence | undefined])[]): Promise<void> => {
    const expected = changed.map(([name]): Expectation => {
      const position = kept.get(name);
      return {
        table: VIEW_GOALS,
        key: { name },
        row: position === undefined ? undefined : { name, position },
      };
    });
    const writes = changed.map(
      ([name, position]): Write =>
        position === undefined
          ? { kind: "delete", table: VIEW_GOALS, key: { name } }
          : { kind: "upsert", table: VIEW_GOALS, row: { name, position } },
    );
    try {
      const { kind } = await views.revise({ views: [], expected, writes });
      if (kind === "outdated") {
        // Another process has written its own meanwhile. The next look goes by that.
        const names = changed.map(([name]) => name);
        forget(names);
        await of(names);
        return;
      }
    } catch {
      // A database that takes no writes moves no view either, and must not keep who may read from it. The next look tries again.
      return;
    }
    for (const [name, position] of changed)
      if (position === undefined) kept.delete(name);
      else kept.set(name, position);
  };
  /**
   * Undefined for a view that has none any more. One write at a time, and nobody who reads waits for it: where somebody else holds the database, it takes
   * VIEW_BUSY_MS_MAX. What changes meanwhile the next look writes.
   */
  const keep = (wanted: ReadonlyMap<string, Sequence | undefined>): void => {
    const changed = [...wanted].filter(([name, position]) => kept.get(name) !== position);
    if (changed.length === 0) return;
    writing ??= write(changed).finally(() => {
      writing = undefined;
    });
  };
  const written = async (): Promise<void> => writing;
  const forget = (names: readonly string[]): void => {
    for (const name of names) kept.delete(name);
  };
  return { of, known, keep, written, forget };
};

const isNear = (position: Sequence, last: Sequence): boolean => {
  const lag = last - position;
  return lag <= VIEW_MADE_RECORDS_MIN || (lag <= VIEW_LAG_RECORDS_MAX && lag <= last / 2);
};

/** Undefined while the log is away. */
const lastOf = async (log: Pick<LogReader, "lastSequence">): Promise<Sequence | undefined> => {
  try {
    return await log.lastSequence();
  } catch (error) {
    if (error instanceof LogUnavailableError) return undefined;
    throw error;
  }
};
