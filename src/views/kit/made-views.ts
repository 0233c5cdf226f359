/**
 * Decides which views are complete up to the end that the log had when this process started. A view that lacked half of it then, or so much that the
 * process is not ready, is being made, for the first time or again after an upgrade. Such a view must not be read: it would report events that are in
 * the log as missing, while a view that is only behind lacks just the newest events.
 */
import { VIEW_LAG_RECORDS_MAX, VIEW_MADE_RECORDS_MIN } from "../../limits.ts";
import { type LogReader, LogUnavailableError } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { rowInteger, rowText } from "../store/tables.ts";
import { ViewsUnavailableError, ViewsUnmadeError } from "../store/unavailable.ts";
import { type Expectation, VIEW_GOALS, type ViewStore, type Write } from "../store/view-store.ts";
import { positionsOf } from "./positions.ts";

export interface MadeViews {
  /**
   * Why views at these positions must not be read, by their names, for the operator. `last`: the last sequence of the log, read after the positions;
   * undefined while the log is away.
   */
  look(
    positions: ReadonlyMap<string, Sequence>,
    last: Sequence | undefined,
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Called at the start, before anything is advanced or read: later records, however fast they come, only put a view behind, and readers need not ask
   * a broker that may have fallen silent. A view that cannot be checked now is checked when it is needed. Resolves with the end of the log, even if
   * the views are away; undefined if it is not known.
   */
  lookFirst(names: readonly string[]): Promise<Sequence | undefined>;
  /** These views do not exist: they will be made from nothing. */
  forget(names: readonly string[]): void;
  /** Throws ViewsUnmadeError while one of them is being made. A view that was complete once is not checked again. */
  check(names: readonly string[]): Promise<void>;
}

export const createMadeViews = ({
  views,
  log,
}: {
  readonly views: Pick<ViewStore, "load" | "revise">;
  readonly log: Pick<LogReader, "lastSequence">;
}): MadeViews => {
  /** The position that each view must reach. */
  const ends = new Map<string, Sequence>();
  const made = new Set<string>();
  const goals = createViewGoals(views);
  /** A view that an earlier process was making is complete when it reaches the end that the log had then, however near it is now. */
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
    // The log has been away since before the first look: the view may be read as it is.
    if (made.has(name) || known === undefined) return undefined;
    // The log may have been restored from a copy meanwhile.
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
  /** Checks the views as they are now. `last`: the end of the log at that moment. */
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
      // A database that accepts no writes advances no view either, but must not prevent reads. The next look tries again.
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
