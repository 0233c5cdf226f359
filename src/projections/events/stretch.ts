/** A stretch of the log, and what the view of events holds of it. */
import type { Sequence } from "../../log/outcome.ts";
import type { Row } from "../../views/tables.ts";
import type { ViewStore } from "../../views/view-store.ts";
import { inOneRevision } from "../in-one-revision.ts";
import { type EventConditions, searchQuery } from "./queries.ts";
import { EVENTS_VIEW } from "./tables.ts";

export interface Stretch {
  readonly after: Sequence;
  /** The view must have reached it. */
  readonly upTo: Sequence;
}

/** In the order of the log. Undefined where the view has not reached the end of the stretch, as one that is made again. */
export const rowsInStretch = (
  views: Pick<ViewStore, "select" | "position" | "load">,
  tenant: string,
  asked: Stretch & { readonly conditions: EventConditions; readonly rowsMax: number },
): Promise<readonly Row[] | undefined> => {
  const { conditions, after, upTo, rowsMax } = asked;
  const query = searchQuery(tenant, { ...conditions, order: "asc" }, { after, upTo, rowsMax });
  const hasReached = async (): Promise<boolean> => (await views.position(EVENTS_VIEW)) >= upTo;
  return inOneRevision({ views, projections: [EVENTS_VIEW], hasReached }, () => views.select(query));
};
