/**
 * Which views may be read. A missing view is built from nothing under another name and swapped in when it is complete (runner.ts): until then
 * the live one is at position 0, and reading it would report events as absent. A view that is only behind lacks just the newest events.
 */
import { VIEW_MADE_RECORDS_MIN } from "../../limits.ts";
import { type LogReader, LogUnavailableError } from "../../log/event-log.ts";
import type { Sequence } from "../../log/outcome.ts";
import { rowInteger } from "../store/tables.ts";
import { isAway, ViewsUnavailableError, ViewsUnmadeError } from "../store/unavailable.ts";
import { tablesIn, VIEWS, type ViewDefinition, type ViewStore } from "../store/view-store.ts";
import { successorOf } from "./beside.ts";
import { positionsOf } from "./view-end.ts";

export interface OpenedView {
  /** `older`: of another version, and its rows are read until those of this version have caught up. */
  readonly code: Awaited<ReturnType<ViewStore["open"]>> | "older";
  /** Of the rows that are there now. */
  readonly version: number;
}

/** Opens a view at a start. The tables of another version stay if this program can read them. */
export const openView = async (
  views: Pick<ViewStore, "load" | "names" | "open">,
  view: ViewDefinition,
): Promise<OpenedView> => {
  // A new PostgreSQL database has no tables at all.
  const isThere = (await views.names()).includes(view.name);
  const [row] = isThere ? await views.load(VIEWS, [{ name: view.name }]) : [];
  const version = row ? rowInteger(row, "version") : view.version;
  return row && version !== view.version && (await canRead(views, view, tablesIn(row)))
    ? { code: "older", version }
    : { code: await views.open(view), version: view.version };
};

const canRead = async (
  views: Pick<ViewStore, "load">,
  { tables, textIndexes = [] }: ViewDefinition,
  there: readonly string[],
): Promise<boolean> => {
  if (![...tables, ...textIndexes].every(({ name }) => there.includes(name))) return false;
  try {
    // A column that is missing is an error, whatever is asked for.
    for (const table of tables) {
      const key = table.primaryKey.map((name) => [name, table.columns[name]?.type === "integer" ? 0 : ""]);
      await views.load(table, [Object.fromEntries(key)]);
    }
    return true;
  } catch (error) {
    if (isAway(error)) throw error;
    return false;
  }
};

/** Whether a view lacks the log as a whole. */
export const lacksLog = (position: Sequence, end: Sequence): boolean =>
  position === 0 && end > VIEW_MADE_RECORDS_MIN;

export type ViewReadiness = ReturnType<typeof createViewReadiness>;

export const createViewReadiness = ({
  views,
  log,
  projections,
  older = new Map(),
}: {
  readonly views: Pick<ViewStore, "load">;
  readonly log: Pick<LogReader, "lastSequence">;
  readonly projections: readonly ViewDefinition[];
  /** The versions of views whose rows are of another version, and are read until those of this version have caught up. */
  readonly older?: ReadonlyMap<string, number>;
}) => {
  const names = projections.map(({ name }) => name);
  /** Views that could be read once: they are not checked again. */
  const made = new Set<string>();

  const look = async (
    positions: ReadonlyMap<string, Sequence>,
    last: Sequence | undefined,
  ): Promise<ReadonlyMap<string, string>> => {
    const reasons = new Map<string, string>();
    // While the log is away, a view may be read as it is.
    if (last === undefined) return reasons;
    for (const view of projections) {
      const position = positions.get(view.name);
      if (position === undefined || made.has(view.name)) continue;
      if (lacksLog(position, last)) {
        const { name } = successorOf(view);
        const built = (await positionsOf(views, [name])).get(name);
        const progress = `is at record ${built} of ${last}, and is read once it reaches the last`;
        reasons.set(view.name, `The view ${view.name} ${progress}.`);
      } else made.add(view.name);
    }
    return reasons;
  };
  const lookNow = async (asked: readonly string[]) => {
    const positions = await positionsOf(views, asked);
    const last = await lastOf(log);
    const [reason] = (await look(positions, last)).values();
    return { reason, last };
  };

  return {
    older,
    /**
     * Why views at these positions must not be read, by their names, for the operator. `last`: the last sequence of the log, read after the positions;
     * undefined while the log is away.
     */
    look,
    /** Called at the start, before anything is read: records that come later only put a view behind. Resolves with the end of the log, if it is known. */
    lookFirst: async (): Promise<Sequence | undefined> => {
      try {
        return (await lookNow(names)).last;
      } catch (error) {
        if (!(error instanceof ViewsUnavailableError)) throw error;
        return lastOf(log);
      }
    },
    /** These views do not exist: they will be made from nothing. */
    forget: (gone: readonly string[]): void => {
      for (const name of gone) made.delete(name);
    },
    /** Throws ViewsUnmadeError while one of them must not be read. */
    check: async (asked: readonly string[]): Promise<void> => {
      const open = asked.filter((name) => !made.has(name));
      const reason = open.length === 0 ? undefined : (await lookNow(open)).reason;
      if (reason !== undefined) throw new ViewsUnmadeError(reason);
    },
  };
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
