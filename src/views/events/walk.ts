/** All matching events of a tenant, in the order of the log, page by page: for streams and exports. */
import type { Sequence } from "../../log/outcome.ts";
import { WALK_PAGE_CHARACTERS, WALK_ROWS_FIRST, WALK_ROWS_MAX, WALK_SEQUENCES_MAX } from "../kit/limits.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type EventConditions, matchesNone, type StoredEvent } from "./queries.ts";
import { rowsInStretch, type StretchRead } from "./stretch.ts";

export interface EventWalk {
  /**
   * The next events up to `end`, which the view must have reached. An empty page is not the end: the next match may come after it. Throws
   * ViewRemadeError.
   */
  next(end: Sequence): Promise<readonly StoredEvent[]>;
  /** Continues after `end`: the caller knows that nothing of the tenant is before it. */
  pass(end: Sequence): void;
  /** Every match up to here was returned. */
  position(): Sequence;
}

/** The view was rebuilt from nothing while it was read: what was read may have gaps. */
export class ViewRemadeError extends Error {
  override readonly name = "ViewRemadeError";
}

export const walkEvents = (walk: {
  readonly views: Pick<ViewStore, "select" | "position" | "load">;
  readonly tenant: string;
  readonly conditions: EventConditions;
  readonly after: Sequence;
}): EventWalk => {
  const { views, tenant, conditions } = walk;
  const isEmpty = matchesNone(conditions);
  let position = walk.after;
  let rowsMax = WALK_ROWS_FIRST;
  const readUpTo = async (upTo: Sequence): Promise<StretchRead> => {
    const found = await rowsInStretch(views, tenant, { conditions, after: position, upTo, rowsMax });
    if (found === undefined) throw new ViewRemadeError("the view of events is being rebuilt");
    return found;
  };
  return {
    position: () => position,
    pass: (end) => {
      position = Math.max(position, end);
    },
    next: async (end) => {
      if (end <= position) return [];
      const upTo = isEmpty ? end : Math.min(end, position + WALK_SEQUENCES_MAX);
      const { rows, isWhole } = isEmpty ? NOTHING : await readUpTo(upTo);
      const last = isWhole ? undefined : rows.at(-1);
      position = last?.sequence ?? upTo;
      rowsMax = rowsAfter(rows, rowsMax);
      return rows;
    },
  };
};

const NOTHING: StretchRead = { rows: [], isWhole: true };

/** An event may be a thousand times as large as another: by what the page before held no more is read than the next one takes. */
const rowsAfter = (rows: readonly StoredEvent[], rowsMax: number): number => {
  if (rows.length === 0) return rowsMax;
  const characters = rows.reduce((sum, { eventText }) => sum + eventText.length, 0);
  const fitting = Math.floor((rows.length * WALK_PAGE_CHARACTERS) / Math.max(1, characters));
  return Math.max(1, Math.min(fitting, 2 * rowsMax, WALK_ROWS_MAX));
};
