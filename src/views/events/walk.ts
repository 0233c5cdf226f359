/** All matching events of a tenant, in the order of the log, page by page: for streams and exports. */
import type { Sequence } from "../../log/outcome.ts";
import {
  VIEW_LOOK_MS_MAX,
  WALK_PAGE_CHARACTERS,
  WALK_ROWS_FIRST,
  WALK_ROWS_MAX,
  WALK_ROWS_PER_READ,
  WALK_SEQUENCES_MAX,
} from "../kit/limits.ts";
import { inOneRevision } from "../kit/wait-for-position.ts";
import type { ViewStore } from "../store/view-store.ts";
import {
  type EventConditions,
  matchesNone,
  type StoredEventRow,
  selectEvents,
  storedEvent,
} from "./queries.ts";
import { EVENTS_VIEW } from "./tables.ts";

type Views = Pick<ViewStore, "select" | "position" | "load">;

export interface EventWalk {
  /**
   * The next events up to `end`, which the view must have reached. An empty page is not the end: the next match may come after it. Throws
   * ViewRemadeError.
   */
  next(end: Sequence): Promise<readonly StoredEventRow[]>;
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
  readonly views: Views;
  readonly tenant: string;
  readonly conditions: EventConditions;
  readonly after: Sequence;
}): EventWalk => {
  const { views, tenant, conditions } = walk;
  const isEmpty = matchesNone(conditions);
  let position = walk.after;
  let rowsMax = WALK_ROWS_FIRST;
  return {
    position: () => position,
    pass: (end) => {
      position = Math.max(position, end);
    },
    next: async (end) => {
      if (end <= position || isEmpty) {
        position = Math.max(position, end);
        return [];
      }
      const upTo = Math.min(end, position + WALK_SEQUENCES_MAX);
      const found = await rowsInStretch(views, tenant, { conditions, after: position, upTo, rowsMax });
      if (found === undefined) throw new ViewRemadeError("the view of events is being rebuilt");
      const { rows, isWhole } = found;
      position = (isWhole ? undefined : rows.at(-1)?.sequence) ?? upTo;
      rowsMax = rowsAfter(rows, rowsMax);
      return rows;
    },
  };
};

/** An event may be a thousand times as large as another: by what the page before held no more is read than the next one takes. */
const rowsAfter = (rows: readonly StoredEventRow[], rowsMax: number): number => {
  if (rows.length === 0) return rowsMax;
  const characters = rows.reduce((sum, { eventText }) => sum + eventText.length, 0);
  const fitting = Math.floor((rows.length * WALK_PAGE_CHARACTERS) / Math.max(1, characters));
  return Math.max(1, Math.min(fitting, 2 * rowsMax, WALK_ROWS_MAX));
};

/** A stretch of the log. The view must have reached `upTo`. */
export interface Stretch {
  readonly after: Sequence;
  readonly upTo: Sequence;
}

/**
 * In the order of the log, no more than `rowsMax`, and no more than WALK_PAGE_CHARACTERS unless one event alone has more: behind many small events large
 * ones may stand. `isWhole`: nothing of the stretch is left. Undefined where the view has not reached its end, as one that is rebuilt.
 */
const rowsInStretch = (
  views: Views,
  tenant: string,
  asked: Stretch & { readonly conditions: EventConditions; readonly rowsMax: number },
): Promise<{ readonly rows: readonly StoredEventRow[]; readonly isWhole: boolean } | undefined> => {
  const { conditions, upTo, rowsMax } = asked;
  const hasReached = async (): Promise<boolean> => (await views.position(EVENTS_VIEW)) >= upTo;
  const read = async () => {
    const rows: StoredEventRow[] = [];
    let { after } = asked;
    let characters = 0;
    while (rows.length < rowsMax) {
      const partMax = Math.min(rowsMax - rows.length, WALK_ROWS_PER_READ);
      const filter = { ...conditions, order: "asc" } as const;
      const part = await selectEvents(views, tenant, filter, { after, upTo, rowsMax: partMax });
      for (const row of part.map(storedEvent)) {
        characters += row.eventText.length;
        if (rows.length > 0 && characters > WALK_PAGE_CHARACTERS) return { rows, isWhole: false };
        rows.push(row);
        after = row.sequence;
      }
      if (part.length < partMax) return { rows, isWhole: true };
    }
    return { rows, isWhole: false };
  };
  return inOneRevision({ views, projections: [EVENTS_VIEW], hasReached }, read);
};

export interface QuietStretches {
  /** Whether a stretch holds nothing of a tenant: one query for all who follow its events. False if it is not known. */
  isQuiet(tenant: string, stretch: Stretch): Promise<boolean>;
}

export const createQuietStretches = (views: Views): QuietStretches => {
  /** Queries in progress. A result is not kept, because a replayed dead letter puts an event where there was none. */
  const asking = new Map<string, Stretch & { readonly answer: Promise<boolean> }>();
  const look = async (tenant: string, stretch: Stretch): Promise<boolean> => {
    const conditions = { timeField: "timestamp" } as const;
    const found = await rowsInStretch(views, tenant, { ...stretch, conditions, rowsMax: 1 });
    return found?.rows.length === 0;
  };
  return {
    isQuiet: (tenant, { after, upTo }) => {
      const other = asking.get(tenant);
      if (other && other.after <= after && upTo <= other.upTo) return other.answer;
      const question = { after, upTo, answer: inTime(look(tenant, { after, upTo })) };
      asking.set(tenant, question);
      void question.answer.then(() => {
        if (asking.get(tenant) === question) asking.delete(tenant);
      });
      return question.answer;
    },
  };
};

/** Also false if the query fails or is late: one of several connections to a database may have broken, and then each follower looks for itself. */
const inTime = (answer: Promise<boolean>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), VIEW_LOOK_MS_MAX);
  answer.then(resolve, () => resolve(false)).finally(() => clearTimeout(timer));
  return promise;
};
