/** What an announcer goes by of the view of cases, whose duties it tells of. */
import type { Sequence } from "../../log/outcome.ts";
import { type Row, rowInteger } from "../../views/tables.ts";
import { type Expectation, VIEW_REVISIONS, VIEWS, type ViewStore } from "../../views/view-store.ts";
import { CASES_VIEW } from "../cases/tables.ts";

/** The view of cases, as long as it is not made again. */
export interface Cases {
  /** Of what made it: its program and the limits. */
  readonly version: number;
  readonly end: Sequence;
  readonly revision: Expectation;
}

const CASES_KEY = { name: CASES_VIEW };

export const lookAtCases = async (views: ViewStore): Promise<Cases> => {
  // Before the others: whoever makes cases again later shows in it.
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
