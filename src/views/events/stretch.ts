/** A stretch of the log, and what the view of events contains of it. */
import type { Sequence } from "../../log/outcome.ts";
import { inOneRevision } from "../kit/in-one-revision.ts";
import { WALK_PAGE_CHARACTERS, WALK_ROWS_PER_READ } from "../kit/limits.ts";
import type { ViewStore } from "../store/view-store.ts";
import { type EventConditions, type StoredEvent, selectEvents, storedEvent } from "./queries.ts";
import { EVENTS_VIEW } from "./tables.ts";

export interface Stretch {
  readonly after: Sequence;
  /** The view must have reached it. */
  readonly upTo: Sequence;
}

export interface StretchRead {
  readonly rows: readonly StoredEvent[];
  /** All of the stretch: nothing of it is left. */
  readonly isWhole: boolean;
}

/**
 * In the order of the log, no more than `rowsMax`, and no more than WALK_PAGE_CHARACTERS unless one event alone has more: behind many small events large ones
 * may stand. Undefined where the view has not reached the end of the stretch, as one that is rebuilt.
 */
export const rowsInStretch = (
  views: Pick<ViewStore, "select" | "position" | "load">,
  tenant: string,
  asked: Stretch & { readonly conditions: EventConditions; readonly rowsMax: number },
): Promise<StretchRead | undefined> => {
  const { conditions, upTo, rowsMax } = asked;
  const hasReached = async (): Promise<boolean> => (await views.position(EVENTS_VIEW)) >= upTo;
  const read = async (): Promise<StretchRead> => {
    const rows: StoredEvent[] = [];
    let { after } = asked;
    let characters = 0;
    while (rows.length < rowsMax) {
      const partMax = Math.min(rowsMax - rows.length, WALK_ROWS_PER_READ);
      const filter = { ...conditions, order: "asc" } as const;
      const found = await selectEvents(views, tenant, filter, { after, upTo, rowsMax: partMax });
      const part = found.map(storedEvent);
      for (const row of part) {
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
