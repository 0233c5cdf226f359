/** The state of the view of cases on which an announcer relies. */
import type { Sequence } from "../../log/outcome.ts";
import { CASES_VIEW } from "../cases/tables.ts";
import { type Row, rowInteger } from "../store/tables.ts";
import { type Expectation, VIEW_REVISIONS, VIEWS, type ViewStore } from "../store/view-store.ts";

/** The revision of the view, which stays the same until the view is rebuilt. */
export interface Cases {
  /** The version of the program and the deadlines that made it. */
  readonly version: number;
  readonly end: Sequence;
  readonly revision: Expectation;
}

const CASES_KEY = { name: CASES_VIEW };

export const lookAtCases = async (views: ViewStore): Promise<Cases> => {
  // Read before the others: if cases are rebuilt later, the revision shows it.
  const row = await revisionOfCases(views);
  const [view] = await views.load(VIEWS, [CASES_KEY]);
  return {
    version: view ? rowInteger(view, "version") : 0,
    end: await views.position(CASES_KEY.name),
    revision: { table: VIEW_REVISIONS, key: CASES_KEY, row },
  };
};

export const revisionOfCases = async (views: Pick<ViewStore, "load">): Promise<Row | undefined> =>
  (await views.load(VIEW_REVISIONS, [CASES_KEY]))[0];
