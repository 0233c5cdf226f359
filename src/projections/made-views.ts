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
import { VIEWS, type ViewStore } from "../views/view-store.ts";

export interface MadeViews {
  /** What keeps a view that stands so from being read, for the operator; undefined for nothing. `last`: of the log, asked after the position; undefined while it is away. */
  lookAt(name: string, position: Sequence, last: Sequence | undefined): string | undefined;
  /**
   * At the start, before anything is moved or read: of what the log takes later a view is only behind, however fast it comes, and who reads asks no broker that has fallen silent
   * since. What cannot be looked at now is when it is asked for.
   */
  lookFirst(names: readonly string[]): Promise<void>;
  /** They are not there: who makes them begins with nothing. */
  forget(names: readonly string[]): void;
  /** Throws ViewsUnmadeError while one of them is being made. Looks no more at those that once were made. */
  check(names: readonly string[]): Promise<void>;
}

export const createMadeViews = ({
  views,
  log,
}: {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "lastSequence">;
}): MadeViews => {
  /** Where each has to come. */
  const ends = new Map<string, Sequence>();
  const made = new Set<string>();
  const lookAt: MadeViews["lookAt"] = (name, position, last) => {
    if (made.has(name)) return undefined;
    if (last !== undefined && !ends.has(name)) ends.set(name, isNear(position, last) ? position : last);
    const known = ends.get(name);
    // The log is away since before the first look: what the view has can be read all the same.
    if (known === undefined) return undefined;
    // Of a log that was put back from a copy meanwhile.
    const end = Math.min(known, last ?? known);
    if (position < end)
      return `The view ${name} is at record ${position} of ${end}, and is read when it has the last of them.`;
    made.add(name);
    return undefined;
  };
  const check: MadeViews["check"] = async (names) => {
    const open = names.filter((name) => !made.has(name));
    if (open.length === 0) return;
    const rows = await views.load(
      VIEWS,
      open.map((name) => ({ name })),
    );
    const positions = new Map(rows.map((row) => [rowText(row, "name"), rowInteger(row, "position")]));
    const last = await lastOf(log);
    const [reason] = open
      .map((name) => lookAt(name, positions.get(name) ?? 0, last))
      .filter((each) => each !== undefined);
    if (reason !== undefined) throw new ViewsUnmadeError(reason);
  };
  const lookFirst: MadeViews["lookFirst"] = async (names) => {
    try {
      await check(names);
    } catch (error) {
      if (!(error instanceof ViewsUnavailableError)) throw error;
    }
  };
  const forget: MadeViews["forget"] = (names) => {
    for (const name of names) {
      made.delete(name);
      ends.delete(name);
    }
  };
  return { lookAt, lookFirst, forget, check };
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
