import { VIEW_REVISIONS, type ViewStore } from "../store/view-store.ts";

/**
 * The result of `ask` for views that have reached the requested position; undefined if they have not. A view that was rebuilt may replace the old
 * one from some records further back, between the check of its position and the read of its rows, and may have caught up by the next check: then it
 * is asked again.
 */
export const inOneRevision = async <Answer>(
  reading: {
    readonly views: Pick<ViewStore, "load">;
    readonly projections: readonly string[];
    readonly hasReached: () => Promise<boolean>;
  },
  ask: () => Promise<Answer>,
  /** Called with a result that is not used. */
  drop: (unused: Answer) => void = () => {},
): Promise<Answer | undefined> => {
  const { views, projections, hasReached } = reading;
  const keys = projections.map((name) => ({ name }));
  const revisions = async (): Promise<ReadonlySet<string>> =>
    new Set((await views.load(VIEW_REVISIONS, keys)).map((row) => JSON.stringify(row)));
  let before = await revisions();
  for (;;) {
    if (!(await hasReached())) return undefined;
    const answer = await ask();
    const now = await revisions();
    if (now.symmetricDifference(before).size === 0) return answer;
    drop(answer);
    before = now;
  }
};
